import type { Digest, Token } from '../../core/model.js'
import type { PlainRefresh, TokenStore } from '../../core/ports.js'
import type { Driver } from './connection/driver.js'
import { grantColumns, readGrant } from './grants.js'
import { gather } from './lookup/gather.js'
import { STORE_FOR_SPENT } from './spending.js'
import { listed, rowReader } from './sql/columns.js'
import { bytes, bytesList, bytesOrNull, instantList, textList } from './sql/values.js'

// The values of a refresh are columns in one statement and parameters in the other. The order of the locks is that of
// spending.ts. The client is read by a subquery that is a value, so that no plan reads all clients. Digests of secrets that
// nobody can guess need no comparison of constant time.
const isPlain = (digest: string, client: string, secret: string, issued: string): string => `
  token.refresh_digest = ${digest} and token.spent_at is null and token.refresh_expirationdate > ${issued}
  and "grant".revoked_at is null and "grant".expires_at > ${issued} and "grant".client_id = ${client}
  and (
    select client.secret_digest = ${secret} and 'refresh_token' = any(client.grant_types)
    and "grant".scopes <@ client.allowed_scopes
    from client where client.id = ${client}
  )`

const markSpent = (issued: string, nonce: string): string => `
  update token set spent_at = ${issued}, nonce = ${nonce}
  from held
  where token.access_digest = held.held_digest and token.spent_at is null`

const HELD = `${listed(grantColumns)}, token.access_digest as held_digest`
const FOUND = 'id, user_id, client_id, scopes, expires_at'

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
  select ${HELD}, requested.* from requested, token join "grant" on "grant".id = token.grant_id
  where ${isPlain('requested.digest', 'requested.client', 'requested.secret_digest', 'requested.issued')}
  order by "grant".id
  for key share of "grant"
), spent as (
  ${markSpent('held.issued', 'held.nonce')}
  returning held.position, token.grant_id, held.access_digest, held.refresh_digest, held.scopes, held.issued,
  least(held.expires, held.expires_at) as expires,
  least(held.refresh_expires, held.expires_at) as refresh_expires
), ${STORE_FOR_SPENT}
select position = any(array(select position from spent)), ${FOUND}, position::int4 from held`

/** The same for one refresh, in four fifths of the time. */
const ROTATE_ONE_IF_PLAIN = `
with held as (
  select ${HELD} from token join "grant" on "grant".id = token.grant_id
  where ${isPlain('$1', '$2', '$3', '$4')}
  for key share of "grant"
), spent as (
  ${markSpent('$4', '$5')}
  returning token.grant_id, $6::bytea as access_digest, $7::bytea as refresh_digest, held.scopes, $4 as issued,
  least($8, held.expires_at) as expires,
  least($9, held.expires_at) as refresh_expires
), ${STORE_FOR_SPENT}
select exists (select from spent), ${FOUND} from held`

const readGrantRow = rowReader(grantColumns)
/** In a row the first column of the grant, behind whether the token was spent, and that of the position. */
const GRANT_FROM = 1
const POSITION = GRANT_FROM + Object.keys(grantColumns).length

const earlier = (one: Date, other: Date): Date => (one < other ? one : other)

const readOutcome = (
  outcome: readonly unknown[] | undefined,
  { spend, successor }: PlainRefresh
): Token | 'overtaken' | undefined => {
  if (outcome === undefined) return undefined
  if (outcome[0] !== true) return 'overtaken'
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
}

/** {@link TokenStore.rotateIfPlain}. */
export const createPlainRotation = ({
  write,
  writers
}: Pick<Driver, 'write' | 'writers'>): NonNullable<TokenStore['rotateIfPlain']> => {
  // A second refresh of a token would wait for the first and then know only that the token is spent. A look-up tells at once.
  const underWay = new Set<Digest>()
  const rotate = gather(
    { writers },
    async (refreshes: readonly PlainRefresh[]) => {
      const rows = await write(ROTATE_IF_PLAIN, [
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
      for (const row of rows) outcomes[Number(row[POSITION]) - 1] = row
      return refreshes.map((refresh, index) => readOutcome(outcomes[index], refresh))
    },
    {
      async writeOne(refresh) {
        const { digest, clientId, secretDigest, spend, successor } = refresh
        const [outcome] = await write(ROTATE_ONE_IF_PLAIN, [
          bytes(digest),
          clientId,
          bytes(secretDigest),
          spend.at,
          bytes(spend.nonce),
          bytes(successor.accessDigest),
          bytesOrNull(successor.refreshDigest),
          successor.expiresAt,
          successor.refreshExpiresAt ?? null
        ])
        return readOutcome(outcome, refresh)
      }
    }
  )
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
