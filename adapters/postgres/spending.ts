import type { Digest } from '../../core/model.js'
import type { Driver, Value } from './connection/driver.js'
import { gather } from './lookup/gather.js'
import { TOKEN_COLUMNS } from './sql/token-rows.js'

// Codes and refresh tokens are spent alike: a statement holds the grants of those that can be spent, marks these as `spent`,
// stores a token for each and tells which they were. A grant is locked before its code or token, because the removal of
// grants locks in this order too: in the other order the two statements would deadlock (40P01). So would two statements
// that did not sort the grants before they lock them. Codes and tokens are marked in the order of their grants, as no
// connection joins but by nested loops (planning.ts). If a concurrent statement has a row locked, PostgreSQL waits for it
// and evaluates again whether the row can be spent, on the row as that statement left it.

/** The part behind `spent`. That has the grant's id and the columns of `TOKEN_LISTS`. */
export const STORE_FOR_SPENT = `stored as (
  insert into token (${TOKEN_COLUMNS})
  select grant_id, access_digest, refresh_digest, scopes::text[], issued, expires, refresh_expires from spent
)`

/** The end of the statement. */
export const SPENT_POSITIONS = 'select position::int4 from spent'

/** Whoever is spent at once travels in one statement. Resolves to whether this call has spent it. */
export const createSpending = <Item extends { readonly digest: Digest }>(
  driver: Pick<Driver, 'write' | 'writers'>,
  statement: string,
  valuesOf: (items: readonly Item[]) => readonly Value[]
): ((item: Item) => Promise<boolean>) =>
  gather(
    driver,
    async items => {
      const rows = await driver.write(statement, valuesOf(items))
      const spent = new Set(rows.map(([position]) => Number(position) - 1))
      return items.map((_, index) => spent.has(index))
    },
    { keyOf: ({ digest }) => digest }
  )
