import type { Run, Value } from './connection/driver.js'
import { restSince } from './rest.js'

/** How many grants one statement ends. With their tokens this takes some 7 ms of PostgreSQL's time. */
const PIECE = 200

/** The column that names the owner of a grant. */
type Owner = 'client_id' | 'user_id'

// `skip locked`: another transaction that has a grant locked is about to use it or to end it. Grants that are skipped
// are left to the caller's own statement.
const remove = (owner: Owner): string => `
with removed as (
  delete from "grant" where id = any (array(
    select id from "grant" where ${owner} = $1 limit ${PIECE} for update skip locked
  )) returning true
)
select count(*)::int4 from removed`

const revoke = (owner: Owner): string => `
with revoked as (
  update "grant" set revoked_at = $2 where id = any (array(
    select id from "grant" where ${owner} = $1 and revoked_at is null limit ${PIECE} for no key update skip locked
  )) returning true
)
select count(*)::int4 from revoked`

/**
 * Removes the grants of a client or a user, with every code and token, except for a few, which the caller's own
 * statement must remove.
 */
export const removeGrantsInPieces = (write: Run, owner: Owner, id: string | number): Promise<void> =>
  inPieces(write, remove(owner), [id])

/** Ends the grants of a client or a user, except for a few, which the caller's own statement must end. */
export const revokeGrantsInPieces = (write: Run, owner: Owner, id: string | number, at: Date): Promise<void> =>
  inPieces(write, revoke(owner), [id, at])

/**
 * A single statement over 200,000 grants would hold their locks for seven seconds. Every refresh in a batch with a
 * refresh of one of these grants would wait as long. After each piece, other statements have PostgreSQL for as long as
 * the piece took.
 */
const inPieces = async (write: Run, piece: string, values: readonly Value[]): Promise<void> => {
  for (let ended = PIECE; ended === PIECE; ) {
    const startedAt = performance.now()
    const [row] = await write(piece, values)
    ended = Number(row?.[0])
    if (ended === PIECE) await restSince(startedAt)
  }
}
