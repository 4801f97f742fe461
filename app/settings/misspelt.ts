/** Shorter names are too many and too much alike. */
const LEAST_LENGTH = 8
const MOST_LETTERS = 2
const MOST_MISSING = 3

/**
 * The setting that a variable of this name, which is no setting, was meant for: the one from which the fewest letters differ, or
 * one whose last letters are missing.
 */
export const meantBy = (name: string, settings: readonly string[]): string | undefined => {
  if (name.length < LEAST_LENGTH || !name.includes('_')) return undefined
  // Only for speed: the distance is never less than the difference in length, and a pod may have hundreds of variables.
  const near = settings.filter(setting => Math.abs(name.length - setting.length) <= MOST_LETTERS)
  const differingBy = (letters: number) => near.find(setting => differingLetters(name, setting) === letters)
  return differingBy(1) ?? differingBy(MOST_LETTERS) ?? settings.find(setting => isBeginOf(name, setting))
}

const isBeginOf = (name: string, setting: string): boolean =>
  setting.startsWith(name) && setting.length - name.length <= MOST_MISSING

/** How many letters have to be changed, added or taken away to make one word of the other (Levenshtein's distance). */
const differingLetters = (one: string, other: string): number => {
  let row = Array.from({ length: other.length + 1 }, (_, length) => length)
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1]
    for (const [at, its] of [...other].entries()) {
      const changed = Number(row[at]) + (letter === its ? 0 : 1)
      next.push(Math.min(changed, Number(row[at + 1]) + 1, Number(next[at]) + 1))
    }
    row = next
  }
  return Number(row.at(-1))
}
