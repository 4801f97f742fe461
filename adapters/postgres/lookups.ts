import { type SQL, sql } from 'drizzle-orm'
import { gather } from './gather.js'
import { type Prepared, prepared } from './statements.js'

/** The one value that a look-up is asked with: as the driver takes it, for Drizzle does not encode a placeholder that is compared. */
export const key = sql.placeholder('key')

/** A look-up by {@link key} that finds one row or none. */
export const lookup = <Row>(
  statement: Prepared<Row[]>
): ((key: string | number | Uint8Array) => Promise<Row | undefined>) => {
  const rows = prepared(statement)
  return async key => (await rows({ key }))[0]
}

/** Many keys as a table `asked`: what a gathered look-up selects {@link position} from and joins by {@link askedKey}. */
export const asked = (type: 'bigint' | 'bytea' | 'text'): SQL =>
  sql`unnest(${sql.placeholder('keys')}::${sql.raw(type)}[]) with ordinality as asked (key, position)`
export const askedKey = sql`asked.key`
export const position = sql<number>`asked.position::int4`

interface GatheredLookup<Key, Row, Placed> {
  readonly one: Prepared<Row[]>
  readonly many: Prepared<Placed[]>
  /** What {@link one} would have found, and the {@link position} of its key. */
  readonly place: (row: Placed) => readonly [position: number, row: Row]
  readonly encode: (key: Key) => string | number | Uint8Array
  /** PostgreSQL's literal of a list. */
  readonly encodeList: (keys: readonly Key[]) => string
}

/** A look-up of which those asked for at once travel together. */
export const gatheredLookup = <Key, Row, Placed>({
  one,
  many,
  place,
  encode,
  encodeList
}: GatheredLookup<Key, Row, Placed>): ((key: Key) => Promise<Row | undefined>) => {
  const findOne = lookup(one)
  const findMany = prepared(many)
  return gather<Key, Row | undefined>({
    // Below this many, statements that follow each other on the pipelined connection are faster than one for all.
    one: key => findOne(encode(key)),
    async many(keys) {
      // postgres.js sends a kilobyte at once and less than that a turn later: a twentieth of the rate at 16 connections.
      const rows = new Map((await findMany({ keys: encodeList(keys).padEnd(1024) })).map(place))
      return keys.map((_, index) => rows.get(index + 1))
    }
  })
}
