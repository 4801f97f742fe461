/**
 * Brings the text into Unicode's form NFC: of RFC 8265's rules this service keeps this one alone. Normalizing takes time
 * that grows with the square of a run of marks. So a text whose marks alone make more than `max` code points is returned
 * as it is, and the caller refuses it for its length.
 */
export const toNfc = (text: string, max: number): string =>
  text.length <= max || (text.length <= MOST_UNITS * max && mayFit(text, max)) ? text.normalize('NFC') : text

/** NFC makes one character of at most four others, and each of these has at most two code units. */
const MOST_UNITS = 8
/** NFC joins so many marks at most with the character before them. Every further mark stays a character. */
const MOST_COMPOSED = 3

const mayFit = (text: string, max: number): boolean => {
  let run = 0
  let staying = 0
  for (const character of text) {
    run = isNonStarter(character) ? run + 1 : 0
    if (run > MOST_COMPOSED) staying += 1
    if (staying > max) return false
  }
  return true
}

/** The mark of the highest combining class, 240: a mark of any other class but 0 is put before it. */
const LAST = '\u0345'
/** What has been found out about marks. There are some 2,500. */
const nonStarters = new Map<string, boolean>()

/**
 * Whether Unicode gives the character a combining class, by which normalization orders it. JavaScript does not tell the
 * class.
 */
const isNonStarter = (character: string): boolean => {
  if (!/\p{M}/u.test(character)) return false
  const known = nonStarters.get(character)
  if (known !== undefined) return known
  const found = character === LAST || !(LAST + character).normalize('NFD').startsWith(LAST)
  nonStarters.set(character, found)
  return found
}
