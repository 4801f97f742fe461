const MOST_VALUES = 1000
const MOST_LEVELS = 32

const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * Whether the JSON has more values or levels than any body of this service needs. Call it before the JSON is parsed: a
 * list of 800,000 values takes two seconds to walk. For a text that is not JSON the result means nothing; the parser
 * refuses it.
 */
export const isBeyondBounds = (json: Buffer): boolean => {
  let values = 1
  let level = 0
  // True after the start of a list or an object, until its first element.
  let opened = false
  for (let at = 0; at < json.length; at++) {
    switch (json[at]) {
      case 0x09: // tab
      case 0x0a: // line feed
      case 0x0d: // carriage return
      case 0x20: // space
        continue
      case 0x5d: // ]
      case 0x7d: // }
        level -= 1
        opened = false
        continue
      case 0x2c: // ,
        values += 1
        break
      default:
        if (opened) values += 1
    }
    const byte = json[at]
    opened = byte === 0x5b || byte === 0x7b // [ {
    if (opened) level += 1
    else if (byte === QUOTE) at = endOfString(json, at + 1)
    if (values > MOST_VALUES || level > MOST_LEVELS) return true
  }
  return false
}

/** The index of the quotation mark that ends the string beginning at `from`; at least the length when there is none. */
const endOfString = (json: Buffer, from: number): number => {
  let at = from
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1
  return at
}
