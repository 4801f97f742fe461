import { and, eq, isNull } from 'drizzle-orm'
import type { Grant } from '../../core/model.js'
import type { GrantStore } from '../../core/ports.js'
import type { Driver, Value } from './connection/driver.js'
import { key, type Lookups } from './lookup/lookups.js'
import { grants } from './schema.js'
import { type Row, typed } from './sql/columns.js'
import { builder, plain } from './sql/statements.js'
import { readInstant, readTexts, textList } from './sql/values.js'

/** What {@link readGrant} reads. */
export const grantColumns = {
  grantId: typed(grants.id),
  userId: typed(grants.userId),
  clientId: typed(grants.clientId),
  grantScopes: typed(grants.scopes),
  grantExpiresAt: typed(grants.expiresAt)
}

export const readGrant = (row: Row): Grant => ({
  id: String(row.grantId),
  userId: Number(row.userId),
  clientId: String(row.clientId),
  scopes: readTexts(row.grantScopes),
  expiresAt: readInstant(row.grantExpiresAt)
})

/**
 * Begins a grant, the first of the two steps of a login, with the values $1 to $7. The locks make whoever ends
 * the user's grants, or removes one of the two, wait and then see this one; or this one see what they did, and begin nothing.
 */
export const BEGIN_GRANT = `parties as (
  select u.id as user_id, c.id as client_id from "user" u, client c
  where u.id = $1 and u.generation = $2 and c.id = $3
  for share of u for key share of c
), begun as (
  insert into "grant" (user_id, client_id, id, scopes, expires_at, sweep_at)
  select user_id, client_id, $4, $5, $6, $7 from parties
  returning id
)`

/** `sweepAt`: when the first that is stored under the grant has expired. */
export const beginGrant = (grant: Grant, generation: number, sweepAt: Date): readonly Value[] => [
  grant.userId,
  generation,
  grant.clientId,
  grant.id,
  textList(grant.scopes),
  grant.expiresAt,
  sweepAt
]

// Locked grants are someone else's: another sweep's, or about to have a new token.
const PICK = `
select id from "grant" where sweep_at < $1
order by sweep_at limit $2 for update skip locked`

// Codes and tokens go with their grants, by cascade.
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
      literal: String,
      read: readGrant
    }),

    // A tombstone, not an UPDATE of the tokens: that would miss one that a concurrent rotation has yet to commit.
    async revoke(id, at) {
      await plain(writer.update(grants).set({ revokedAt: at }).where(eq(grants.id, id)))
    },

    removeExpired: (at, limit) =>
      transaction('grant.sweep', async run => {
        const picked = await run(PICK, [at, limit])
        // A statement of its own: it sees what was stored under the grants until they were locked.
        if (picked.length > 0) await run(REMOVE, [`{${picked.join()}}`, at])
        return picked.length
      })
  }
}
