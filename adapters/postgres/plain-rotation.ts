import type { Digest, Token } from '../../core/model.js'
import type { PlainRefresh, TokenStore } from '../../core/ports.js'
import type { Driver } from './connection/driver.js'
import { grantColumns, readGrant } from './grants.js'
import { gather } from './lookup/gather.js'
import { STORE_FOR_SPENT } from './spending.js'
import { listed, rowReader } from './sql/columns.js'
import { bytesList, instantList, textList } from './sql/values.js'

// The order of the locks is that of spending.ts. The client is read by a subquery that is a value, so that no plan reads
// all clients. Digests of secrets that nobody can guess need no comparison of constant time.
const ROTATE_IF_PLAIN = `
with requested as (
  select * from unnest(
    $1::bytea[], $2::text[], $3::bytea[], $4::timestamptz[], $5::bytea[],
    $6::bytea[], $7::bytea[], $8::timestamptz[], $9::timestamptz[]
  ) with ordinality as requested (
    digest, client, secret_digest, issued, nonce,
    access_digest, refresh_digest, expires, refresh_expires, position
  )
), held as (
  select ${listed(grantColumns)}, requested.*, token.access_digest as held_digest from requested
  join token on token.refresh_digest = requested.digest
  join "grant" on "grant".id = token.grant_id
  where token.spent_at is null and token.refresh_expirationdate > requested.issued
  and "grant".revoked_at is null and "grant".expires_at > requested.issued and "grant".client_id = requested.client
  and (
    select client.secret_digest = requested.secret_digest and 'refresh_token' = any(client.grant_types)
    and "grant".scopes <@ client.allowed_scopes
    from client where client.id = requested.client
  )
  order by "grant".id
  for key share of "grant"
), spent as (
  update token set spent_at = held.issued, nonce = held.nonce
  from held
  where token.access_digest = held.held_digest and token.spent_at is null
  returning held.position, token.grant_id, held.access_digest, held.refresh_digest, held.scopes, held.issued,
  least(held.expires, held.expires_at) as expires,
  least(held.refresh_expires, held.expires_at) as refresh_expires
), ${STORE_FOR_SPENT}
select position::int4, position = any(array(select position from spent)), id, user_id, client_id, scopes, expires_at
from held`

const readGrantRow = rowReader(grantColumns)
/** The first column of the grant, behind the position and whether the token was spent. */
const GRANT_FROM = 2

const earlier = (one: Date, other: Date): Date => (one < other ? one : other)

/** {@link TokenStore.rotateIfPlain}. */
export const createPlainRotation = (
  driver: Pick<Driver, 'write' | 'writers'>
): NonNullable<TokenStore['rotateIfPlain']> => {
  // A second refresh of a token would wait for the first and then know only that the token is spent. A look-up tells at once.
  const underWay = new Set<Digest>()
  const rotate = gather(driver, async (refreshes: readonly PlainRefresh[]) => {
    const rows = await driver.write(ROTATE_IF_PLAIN, [
      bytesList(refreshes.map(({ digest }) => digest)),
      textList(refreshes.map(({ clientId }) => clientId)),
      bytesList(refreshes.map(({ secretDigest }) => secretDigest)),
      instantList(refreshes.map(({ spend }) => spend.at)),
      bytesList(refreshes.map(({ spend }) => spend.nonce)),
      bytesList(refreshes.map(({ successor }) => successor.accessDigest)),
      bytesList(refreshes.map(({ successor }) => successor.refreshDigest)),
      instantList(refreshes.map(({ successor }) => successor.expiresAt)),
      instantList(refreshes.map(({ successor }) => successor.refreshExpiresAt))
    ])
    const outcomes: unknown[][] = []
    for (const row of rows) outcomes[Number(row[0]) - 1] = row
    return refreshes.map(({ spend, successor }, index): Token | 'overtaken' | undefined => {
      const outcome = outcomes[index]
      if (outcome === undefined) return undefined
      const [, isSpent] = outcome
      if (isSpent !== true) return 'overtaken'
      const grant = readGrant(readGrantRow(outcome, GRANT_FROM))
      return {
        accessDigest: successor.accessDigest,
        refreshDigest: successor.refreshDigest,
        grant,
        scopes: grant.scopes,
        issuedAt: spend.at,
        expiresAt: earlier(successor.expiresAt, grant.expiresAt),
        refreshExpiresAt: successor.refreshExpiresAt && earlier(successor.refreshExpiresAt, grant.expiresAt)
      }
    })
  })
  return async refresh => {
    if (underWay.has(refresh.digest)) return undefined
    underWay.add(refresh.digest)
    try {
      return await rotate(refresh)
    } finally {
      underWay.delete(refresh.digest)
    }
  }
}
