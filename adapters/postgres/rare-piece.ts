import type { Run } from './connection/driver.js'
import { TRIGRAM } from './name-index.js'

/** In milliseconds. A process reads the sample again after this time. */
const LIFETIME = 60_000

/** About a hundred names in lower case, evenly spread: PostgreSQL's histogram of its last `analyze`. None before the first. */
const SAMPLE = `
  select unnest(histogram_bounds::text::text[])
  from pg_stats
  where attname = 'name_lower' and (schemaname, tablename) = (
    select nspname, relname from pg_class join pg_namespace n on n.oid = relnamespace where pg_class.oid = to_regclass('hero')
  )`

/**
 * Finds the longest piece of a part of a name in which no three characters are in more than half of the names. For a
 * trigram that every name has PostgreSQL reads the whole of its list in the index, which takes most of a search and
 * leaves out no name. Undefined when there is no such piece, or when it is the whole part. `run` is for a statement, whose
 * failure must harm no other.
 */
export const createRarePieces = (now = () => performance.now()) => {
  let frequent: ReadonlySet<string> = new Set()
  let end = Number.NEGATIVE_INFINITY
  return async (run: Run, part: string): Promise<string | undefined> => {
    if (now() >= end) {
      // Before the answer, so that searches that come meanwhile do not ask as well.
      end = now() + LIFETIME
      // A search does without where a role may not read it.
      frequent = frequentIn((await run(SAMPLE, []).catch(() => [])).map(([name]) => String(name)))
    }
    return rarePiece(part, frequent)
  }
}

/** Every three characters of the text that follow each other. Half of a surrogate pair would be no text. */
const trigramsOf = (characters: readonly string[]): string[] =>
  characters.slice(TRIGRAM - 1).map((_, at) => characters.slice(at, at + TRIGRAM).join(''))

const frequentIn = (names: readonly string[]): ReadonlySet<string> => {
  const counts = new Map<string, number>()
  for (const name of names) {
    for (const trigram of new Set(trigramsOf([...name]))) counts.set(trigram, (counts.get(trigram) ?? 0) + 1)
  }
  return new Set([...counts].filter(([, count]) => count > names.length / 2).map(([trigram]) => trigram))
}

const rarePiece = (part: string, frequent: ReadonlySet<string>): string | undefined => {
  const characters = [...part]
  let longest = { begin: 0, end: 0 }
  let begin = 0
  for (const [at, trigram] of trigramsOf(characters).entries()) {
    const end = at + TRIGRAM
    if (frequent.has(trigram)) begin = at + 1
    else if (end - begin > longest.end - longest.begin) longest = { begin, end }
  }
  const piece = characters.slice(longest.begin, longest.end)
  return piece.length === 0 || piece.length === characters.length ? undefined : piece.join('')
}
