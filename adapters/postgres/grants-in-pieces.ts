import { setTimeout as rest } from 'node:timers/promises'
import type { Run, Value } from './connection/driver.js'

/** Grants that one statement ends: with their tokens, some 7 ms of PostgreSQL's time. */
const PIECE = 200

/** Whose grants. */
type Owner = 'client_id' | 'user_id'

// Whoever has a grant locked is about to use it or to end it: what is passed over is left to the caller's last statement.
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

/** Removes the grants of a client or a user, with every code and token, but for the last few: those are the caller's. */
export const removeGrantsInPieces = (write: Run, owner: Owner, id: string | number): Promise<void> =>
  inPieces(write, remove(owner), [id])

/** Ends the grants of a client or a user, but for the last few: those are the caller's. */
export const revokeGrantsInPieces = (write: Run, owner: Owner, id: string | number, at: Date): Promise<void> =>
  inPieces(write, revoke(owner), [id, at])

/**
 * A single statement over 200,000 grants would hold their locks for seven seconds, and everyone whose refresh shares a
 * batch with one of theirs. After each piece the others have PostgreSQL for as long as the piece took.
 */
const inPieces = async (write: Run, piece: string, values: readonly Value[]): Promise<void> => {
  for (let ended = PIECE; ended === PIECE; ) {
    const startedAt = performance.now()
    const [row] = await write(piece, values)
    ended = Number(row?.[0])
    if (ended === PIECE) await rest(performance.now() - startedAt)
  }
}
