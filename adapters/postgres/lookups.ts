import { type SQL, sql } from 'drizzle-orm'
import type { Value } from './driver.js'
import { gather } from './gather.js'
import type { Join } from './joined.js'
import type { Find } from './joined-statement.js'
import { type Prepared, prepared } from './statements.js'
import { padded } from './values.js'

/** What a look-up is asked with: as the driver takes it, for Drizzle does not encode a placeholder that is compared. */
export const key = sql.placeholder('key')

/** A look-up that finds one row or none by {@link key}. */
export const lookup = <Read, Row>(
  statement: Prepared<Read[]>,
  map: (read: Read) => Row
): ((key: Value) => Promise<Row | undefined>) => {
  const rows = prepared(statement)
  return async key => (await rows({ key })).map(map)[0]
}

/** Many keys as a table `asked`: what a gathered look-up joins by {@link askedKey}, with the {@link position} of each. */
export const asked = (type: 'bytea' | 'text'): SQL =>
  sql`unnest(${key}::${sql.raw(type)}[]) with ordinality as asked (key, position)`
export const askedKey = sql`asked.key`
export const position = sql<number>`asked.position::int4`

/** PostgreSQL's literal of a list of keys. */
type ListOf<Key> = (keys: readonly Key[]) => string

/** A look-up of which those asked for at once travel together. The statement finds what it does with the {@link position} of the key. */
export const gatheredLookup = <Key, Read extends { readonly position: number }, Row>(
  statement: Prepared<Read[]>,
  listOf: ListOf<Key>,
  map: (read: Read) => Row
): ((key: Key) => Promise<Row | undefined>) => {
  const rows = prepared(statement)
  return gather(async keys => {
    const found = new Array<Row | undefined>(keys.length).fill(undefined)
    for (const row of await rows({ key: padded(listOf(keys)) })) found[row.position - 1] = map(row)
    return found
  })
}

/**
 * A gathered look-up that joins others which depart with it: for what every request asks. `read` makes a row of the values in the
 * order of the columns, as Drizzle's own way of running and reading takes a fifth of a request.
 */
export const joinedLookup = <Key, Row>(
  join: Join,
  select: { toSQL(): { readonly sql: string } },
  find: Omit<Find, 'text'>,
  listOf: ListOf<Key>,
  read: (values: readonly unknown[]) => Row
): ((key: Key) => Promise<Row | undefined>) => {
  const whole = { ...find, text: select.toSQL().sql }
  return gather(async keys => {
    const found = await join(whole, listOf(keys), keys.length)
    return found.map(values => values && read(values))
  })
}
