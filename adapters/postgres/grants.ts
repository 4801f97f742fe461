import type { Grant } from '../../core/model.js'
import type { Value } from './connection/driver.js'
import { grants } from './schema.js'
import { typed } from './sql/statements.js'
import { readInstant, readTexts, textList } from './sql/values.js'

/** What {@link readGrant} reads. */
export const grantColumns = {
  grantId: typed(grants.id),
  userId: typed(grants.userId),
  clientId: typed(grants.clientId),
  grantScopes: typed(grants.scopes),
  grantExpiresAt: typed(grants.expiresAt)
}

export const readGrant = ([id, userId, clientId, scopes, expiresAt]: readonly unknown[]): Grant => ({
  id: String(id),
  userId: Number(userId),
  clientId: String(clientId),
  scopes: readTexts(scopes),
  expiresAt: readInstant(expiresAt)
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
