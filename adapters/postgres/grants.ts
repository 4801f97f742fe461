import { and, eq, isNull } from 'drizzle-orm'
import type { Grant } from '../../core/model.js'
import type { GrantStore } from '../../core/ports.js'
import type { Driver, Value } from './connection/driver.js'
import { countingTokens, MOST_TOKENS, readPicked } from './few-tokens.js'
import { key, type Lookups } from './lookup/lookups.js'
import { restSince } from './rest.js'
import { grants } from './schema.js'
import { type Row, typed } from './sql/columns.js'
import { builder, withDriverErrors } from './sql/statements.js'
import { optional, readInstant, readTexts, textList } from './sql/values.js'

/** The columns that {@link readGrant} reads. */
export const grantColumns = {
  grantId: typed(grants.id),
  userId: typed(grants.userId),
  clientId: typed(grants.clientId),
  grantScopes: typed(grants.scopes),
  grantExpiresAt: typed(grants.expiresAt)
}

export const readGrant = (row: Row): Grant => ({
  id: String(row.grantId),
  userId: optional(row.userId, Number),
  clientId: String(row.clientId),
  scopes: readTexts(row.grantScopes),
  expiresAt: readInstant(row.grantExpiresAt)
})

const beginGrantOf = (parties: string): string => `parties as (
  ${parties}
), begun as (
  insert into "grant" (user_id, client_id, id, scopes, expires_at, sweep_at)
  select user_id, client_id, $4, $5, $6, $7 from parties
  returning id
)`

/**
 * Begins a grant with the values $1 to $7: the first of the two steps that store a login. It locks the user and the
 * client. A concurrent statement that ends the user's grants or removes the user or the client either waits and then
 * sees this grant, or came first: then this statement sees its effect and begins no grant.
 */
export const BEGIN_GRANT = beginGrantOf(`select u.id as user_id, c.id as client_id from "user" u, client c
  where u.id = $1 and u.generation = $2 and c.id = $3
  for share of u for key share of c`)

/** The same with the same values for a grant without a user. No outer join can serve both: it allows no lock on `u`. */
export const BEGIN_GRANT_WITHOUT_USER = beginGrantOf(`select $1::bigint as user_id, c.id as client_id from client c
  where $1::bigint is null and $2::bigint is null and c.id = $3
  for key share of c`)

/** `sweepAt`: when the first code or token of the grant has expired. */
export const beginGrant = (grant: Grant, generation: number | undefined, sweepAt: Date): readonly Value[] => [
  grant.userId ?? null,
  generation ?? null,
  grant.clientId,
  grant.id,
  textList(grant.scopes),
  grant.expiresAt,
  sweepAt
]

// `skip locked`: a locked grant is in another sweep or about to get a new token.
const PICK = countingTokens(`select id from "grant" where sweep_at < $1
  order by sweep_at limit $2 for update skip locked`)

/** The grants of which some have expired are moved to the instant at which their last code or token expires. */
const EXPIRED = `
with latest as (
  select id, greatest(
    (select max(greatest(expirationdate, refresh_expirationdate)) from token where grant_id = id),
    (select max(expirationdate) from code where grant_id = id)
  ) as expiry
  from unnest($1::uuid[]) as picked (id)
), moved as (
  update "grant" set sweep_at = expiry from latest where "grant".id = latest.id and expiry >= $2
)`

// Removing a grant removes its codes and tokens, by cascade.
const REMOVE = `${EXPIRED}
delete from "grant" using latest where "grant".id = latest.id and (expiry is null or expiry < $2)`

// A token that moves meanwhile, as its nonce is erased, is left to the next piece.
const REMOVE_TOKENS = `${EXPIRED}
delete from token using latest where expiry < $2 and token.ctid = any (array(
  select ctid from token where grant_id = any ($1::uuid[]) limit ${MOST_TOKENS}
))`

export const createGrantStore = ({ write, transaction }: Driver, lookups: Lookups): GrantStore => {
  const writer = builder(write)

  /** Removes as many grants as one transaction can. Resolves to undefined when the first one has too many tokens. */
  const removeFew = (at: Date, limit: number): Promise<number | undefined> =>
    transaction('grant.sweep', async run => {
      const { few, next } = readPicked(await run(PICK, [at, limit]))
      // A separate statement: it sees every token that was stored under the grants before they were locked.
      if (few.length > 0) await run(REMOVE, [`{${few.join()}}`, at])
      else if (next !== undefined) return
      return next === undefined ? few.length : limit
    })

  /** Patient, because all tokens of the grant are read to learn whether one of them lives. */
  const removeTokensOfOne = (at: Date, limit: number): Promise<number> =>
    transaction(
      'grant.sweep',
      async run => {
        const { few, next } = readPicked(await run(PICK, [at, 1]))
        await run(REMOVE_TOKENS, [`{${next ?? few.join()}}`, at])
        return limit
      },
      { patient: true }
    )

  return {
    find: lookups.create({
      name: 'grant',
      columns: grantColumns,
      select: writer
        .select(grantColumns)
        .from(grants)
        .where(and(eq(grants.id, key), isNull(grants.revokedAt))),
      type: 'uuid',
      read: readGrant
    }),

    // A tombstone, not an UPDATE of the tokens: under READ COMMITTED an UPDATE cannot see a token that a concurrent
    // rotation has yet to commit.
    async revoke(id, at) {
      const ended = await withDriverErrors(
        writer
          .update(grants)
          .set({ revokedAt: at })
          .where(and(eq(grants.id, id), isNull(grants.revokedAt)))
          .returning({ id: grantColumns.grantId })
      )
      return ended.length > 0
    },

    async removeExpired(at, limit) {
      const startedAt = performance.now()
      const looked = (await removeFew(at, limit)) ?? (await removeTokensOfOne(at, limit))
      if (looked === limit) await restSince(startedAt)
      return looked
    }
  }
}
