import type { Driver, Run } from './connection/driver.js'
import { countingTokens, MOST_TOKENS, readPicked } from './few-tokens.js'
import { restSince } from './rest.js'

/** How many grants one statement ends. With a token for each this takes some 7 ms of PostgreSQL's time. */
const PIECE = 200

/** The column that names the owner of a grant. */
type Owner = 'client_id' | 'user_id'

// `skip locked`: another transaction that has a grant locked is about to use it or to end it. Grants that are skipped
// are left to the caller's own statement.
const pick = (owner: Owner): string =>
  countingTokens(`select id from "grant" where ${owner} = $1 limit ${PIECE} for update skip locked`)

const REMOVE = 'delete from "grant" where id = any ($1::uuid[])'

// A token that moves meanwhile, as it is refreshed or revoked, is left to the next piece.
const REMOVE_TOKENS = `
delete from token where token.ctid = any (array(
  select ctid from token where grant_id = $1 limit ${MOST_TOKENS}
))`

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
export const removeGrantsInPieces = (
  { transaction }: Pick<Driver, 'transaction'>,
  owner: Owner,
  id: string | number
): Promise<void> =>
  inPieces(() =>
    transaction('grant.remove', async run => {
      const { few, next } = readPicked(await run(pick(owner), [id]))
      if (few.length > 0) await run(REMOVE, [`{${few.join()}}`])
      else if (next !== undefined) await run(REMOVE_TOKENS, [next])
      return next !== undefined || few.length === PIECE
    })
  )

/** Ends the grants of a client or a user, except for a few, which the caller's own statement must end. */
export const revokeGrantsInPieces = (write: Run, owner: Owner, id: string | number, at: Date): Promise<void> =>
  inPieces(async () => {
    const [row] = await write(revoke(owner), [id, at])
    return Number(row?.[0]) === PIECE
  })

/**
 * A single statement over 200,000 grants would hold their locks for seven seconds. Every refresh in a batch with a
 * refresh of one of these grants would wait as long. After each piece, other statements have PostgreSQL for as long as
 * the piece took. A piece resolves to true while there may be another one.
 */
const inPieces = async (piece: () => Promise<boolean>): Promise<void> => {
  for (;;) {
    const startedAt = performance.now()
    if (!(await piece())) return
    await restSince(startedAt)
  }
}
