import type { Run } from './connection/driver.js'

/** In milliseconds. A process reads the sample again after this time. */
const LIFETIME = 60_000

/** In code points. A shorter piece has no trigram. */
const SHORTEST = 3

/** A hundred names as they are compared, evenly spread, of which PostgreSQL took note when it last analysed the table. None before. */
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
  let sample: readonly string[] = []
  let end = Number.NEGATIVE_INFINITY
  return async (run: Run, part: string): Promise<string | undefined> => {
    if (now() >= end) {
      // A search does without where a role may not read it.
      sample = (await run(SAMPLE, []).catch(() => [])).map(([name]) => String(name))
      end = now() + LIFETIME
    }
    return rarePiece(part, sample)
  }
}

const rarePiece = (part: string, names: readonly string[]): string | undefined => {
  const isFrequent = (text: string): boolean => names.filter(name => name.includes(text)).length > names.length / 2
  // Half of a surrogate pair would be no text.
  const characters = [...part]
  let longest: readonly string[] = []
  let begin = 0
  for (let at = SHORTEST; at <= characters.length; at++) {
    const start = at - SHORTEST
    if (isFrequent(characters.slice(start, at).join(''))) begin = start + 1
    else if (at - begin > longest.length) longest = characters.slice(begin, at)
  }
  return longest.length === 0 || longest.length === characters.length ? undefined : longest.join('')
}
