import { type SQL, sql } from 'drizzle-orm'
import type { Run, Value } from './driver.js'
import { gather } from './gather.js'
import { type Prepared, prepared } from './statements.js'

/** The one value that a look-up is asked with: as the driver takes it, for Drizzle does not encode a placeholder that is compared. */
export const key = sql.placeholder('key')

/** Many keys as a table `asked`: what a gathered look-up joins by {@link askedKey}, with the {@link position} of each. */
export const asked = (type: 'bigint' | 'bytea' | 'text'): SQL =>
  sql`unnest(${key}::${sql.raw(type)}[]) with ordinality as asked (key, position)`
export const askedKey = sql`asked.key`
export const position = sql<number>`asked.position::int4`

/** A statement with the value of {@link key}, and its rows. */
export type Query<Row> = (key: Value) => Promise<readonly Row[]>

/** Rows as Drizzle reads them, and `map` makes of that. */
export const query = <Read, Row>(statement: Prepared<Read[]>, map: (row: Read) => Row): Query<Row> => {
  const rows = prepared(statement)
  return async key => (await rows({ key })).map(map)
}

/**
 * Rows that `read` makes of the values in the order of the columns: for the look-ups of every request, of which Drizzle's
 * own way of running and reading takes a fifth.
 */
export const plainQuery = <Row>(
  run: Run,
  statement: { toSQL(): { sql: string } },
  read: (values: readonly unknown[]) => Row
): Query<Row> => {
  const { sql } = statement.toSQL()
  return async key => (await run(sql, [key])).map(read)
}

/** A look-up that finds one row or none. */
export const lookup =
  <Row>(rows: Query<Row>): ((key: Value) => Promise<Row | undefined>) =>
  async key =>
    (await rows(key))[0]

interface GatheredLookup<Key, Row> {
  readonly one: Query<Row>
  /** What {@link one} would have found, and the {@link position} of its key. */
  readonly many: Query<readonly [position: number, row: Row]>
  readonly encode: (key: Key) => Value
  /** PostgreSQL's literal of a list. */
  readonly encodeList: (keys: readonly Key[]) => string
}

/** A look-up of which those asked for at once travel together. */
export const gatheredLookup = <Key, Row>({
  one,
  many,
  encode,
  encodeList
}: GatheredLookup<Key, Row>): ((key: Key) => Promise<Row | undefined>) => {
  const findOne = lookup(one)
  return gather<Key, Row | undefined>({
    one: key => findOne(encode(key)),
    async many(keys) {
      const found = new Array<Row | undefined>(keys.length).fill(undefined)
      // postgres.js sends a kilobyte at once and less than that a turn later: a twentieth of the rate at 16 connections.
      for (const [position, row] of await many(encodeList(keys).padEnd(1024))) found[position - 1] = row
      return found
    }
  })
}
