import { setTimeout } from 'node:timers/promises'
import { SPENT_TOKEN_SECONDS } from '../../core/housekeeping.js'
import type { Driver, Run, Value } from './connection/driver.js'
import { counting, countOf, listOf } from './sql.js'

/**
 * The keys of the advisory locks: arbitrary numbers, the same in every instance and each different. A lock belongs to work
 * that one instance at a time may do.
 */
export const ADVISORY_LOCKS = {
  migrations: 4_372_061_958,
  insertAll: 4_372_061_959,
  nameIndex: 4_372_061_960,
  copy: 4_372_061_961
} as const

/**
 * Runs an `insert` of many rows in the order of the caller, so that their ids ascend. Such statements of all instances
 * run one after the other: two of them with some names in opposite orders would wait for each other (40P01).
 */
export const insertAlone = ({ transaction }: Pick<Driver, 'transaction'>, text: string, values: readonly Value[]) =>
  transaction({ name: 'import', patient: true }, async run => {
    await run('select pg_advisory_xact_lock($1)', [ADVISORY_LOCKS.insertAll])
    return run(text, values)
  })

/** The stored records in the order of those wanted; undefined where none has the name, and for the repetition of a name. */
export const inOrder = <Wanted, Stored extends Wanted>(
  wanted: readonly Wanted[],
  stored: readonly Stored[],
  nameOf: (record: Wanted) => string
): readonly (Stored | undefined)[] => {
  const left = new Map(stored.map(each => [nameOf(each), each]))
  return wanted.map(each => {
    const name = nameOf(each)
    const found = left.get(name)
    left.delete(name)
    return found
  })
}

/** Leaves PostgreSQL to others for as long as it has worked since `startedAt`, by `performance.now()`. */
export const pauseSince = (startedAt: number): Promise<void> => setTimeout(performance.now() - startedAt)

/** How many grants one transaction ends or removes. With a token for each this takes some 7 ms of PostgreSQL's time. */
const GRANTS = 200

/** Core's `endOfSpent`. In seconds, because a day of PostgreSQL may have 23 hours. */
export const END_OF_SPENT = `greatest(refresh_expirationdate, issuedate + interval '${SPENT_TOKEN_SECONDS} seconds')`

/** How many tokens one transaction removes: some 10 ms, and within the time limit also where each is read from a slow disk. */
const TOKENS = 1000

const removeTokens = (condition: string): string =>
  counting(`
  delete from token where ctid = any (array(
    select ctid from token where grant_id = any ($1::uuid[]) and ${condition} limit ${TOKENS}
  ))`)

const REMOVE_TOKENS = removeTokens('true')
const REMOVE_SPENT = removeTokens(`spent_at is not null and nonce is null and ${END_OF_SPENT} < $2`)

// Removing a grant removes its codes and tokens, by cascade.
const REMOVE = 'delete from "grant" where id = any ($1::uuid[])'

/**
 * Removes grants that the transaction has locked, unless they have too many tokens for one transaction: then it removes some
 * of the tokens and resolves to false.
 */
export const removeGrants = async (run: Run, ids: readonly unknown[]): Promise<boolean> => {
  const list = listOf(ids)
  if ((await countOf(run(REMOVE_TOKENS, [list]))) === TOKENS) return false
  await run(REMOVE, [list])
  return true
}

/** As {@link removeGrants}, of the tokens that are spent and that nobody can count on before `at`. */
export const removeSpent = async (run: Run, ids: readonly unknown[], at: Date): Promise<boolean> =>
  (await countOf(run(REMOVE_SPENT, [listOf(ids), at]))) < TOKENS

/** The column that names the owner of a grant. */
type Owner = 'client_id' | 'user_id'

// `skip locked`: another transaction that has a grant locked is about to use it or to end it. Grants that are skipped
// are left to the caller's own statement.
const pick = (owner: Owner): string =>
  `select id::text from "grant" where ${owner} = $1 limit ${GRANTS} for update skip locked`

/** Has a row where these grants have more tokens than one transaction removes. */
const HAVE_MANY = `select from token where grant_id = any ($1::uuid[]) offset ${TOKENS} limit 1`

const REVOKE = counting(`
  update "grant" set revoked_at = $2 where id = any (array(
    select id from "grant" where user_id = $1 and revoked_at is null limit ${GRANTS} for no key update skip locked
  )) and exists (select from "grant" where user_id = $1 and revoked_at is null offset ${GRANTS - 1} limit 1)`)

/**
 * Removes the grants of a client or a user, with every code and token, as long as there are too many for one transaction. The
 * rest is left to the caller's own statement, so that it goes with its owner or stays.
 */
export const removeGrantsInPieces = ({ transaction }: Pick<Driver, 'transaction'>, owner: Owner, id: string | number) =>
  inPieces(() =>
    transaction({ name: 'grant.remove' }, async run => {
      const picked = (await run(pick(owner), [id])).flat()
      const isMuch = picked.length === GRANTS || (await run(HAVE_MANY, [listOf(picked)])).length > 0
      if (isMuch) await removeGrants(run, picked)
      return isMuch
    })
  )

/** Ends the grants of a user as long as there are too many for one transaction. The rest is left to the caller's own. */
export const revokeGrantsInPieces = (query: Run, userId: number, at: Date): Promise<void> =>
  inPieces(async () => (await countOf(query(REVOKE, [userId, at]))) === GRANTS)

/**
 * A single statement over 200,000 grants would hold their locks for seven seconds, and every refresh in a batch with a
 * refresh of one of these grants would wait as long. After each piece, other statements have PostgreSQL for as long as
 * the piece took. A piece resolves to true while there may be another one.
 */
const inPieces = async (piece: () => Promise<boolean>): Promise<void> => {
  for (;;) {
    const startedAt = performance.now()
    if (!(await piece())) return
    await pauseSince(startedAt)
  }
}
