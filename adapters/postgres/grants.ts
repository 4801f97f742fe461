import { and, eq, isNull } from 'drizzle-orm'
import type { Grant } from '../../core/model.js'
import type { GrantStore } from '../../core/ports.js'
import type { Driver, Value } from './connection/driver.js'
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
const PICK = `
select id from "grant" where sweep_at < $1
order by sweep_at limit $2 for update skip locked`

// Removing a grant removes its codes and tokens, by cascade.
const REMOVE = `
with latest as (
  select id, greatest(
    (select max(greatest(expirationdate, refresh_expirationdate)) from token where grant_id = id),
    (select max(expirationdate) from code where grant_id = id)
  ) as expiry
  from unnest($1::uuid[]) as picked (id)
), moved as (
  update "grant" set sweep_at = expiry from latest where "grant".id = latest.id and expiry >= $2
)
delete from "grant" using latest where "grant".id = latest.id and (expiry is null or expiry < $2)`

export const createGrantStore = ({ write, transaction }: Driver, lookups: Lookups): GrantStore => {
  const writer = builder(write)

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
      await withDriverErrors(writer.update(grants).set({ revokedAt: at }).where(eq(grants.id, id)))
    },

    async removeExpired(at, limit) {
      const startedAt = performance.now()
      const removed = await transaction('grant.sweep', async run => {
        const picked = await run(PICK, [at, limit])
        // A separate statement: it sees every token that was stored under the grants before they were locked.
        if (picked.length > 0) await run(REMOVE, [`{${picked.join()}}`, at])
        return picked.length
      })
      if (removed === limit) await restSince(startedAt)
      return removed
    }
  }
}
