import type { Digest, Token } from '../../core/model.js'
import type { Nonce } from '../../core/ports.js'
import type { Driver } from './connection/driver.js'
import { createSpending, SPENT_POSITIONS, STORE_FOR_SPENT } from './spending.js'
import { TOKEN_LISTS, tokenLists } from './sql/token-rows.js'
import { bytesList, instantList } from './sql/values.js'

interface Rotation {
  readonly digest: Digest
  readonly spend: { readonly at: Date; readonly nonce: Nonce }
  readonly successor: Token
}

// The order of the locks is that of spending.ts.
const ROTATE = `
with requested as (
  select * from unnest(
    $1::bytea[], $2::bytea[], $3::bytea[], $4::text[],
    $5::timestamptz[], $6::timestamptz[], $7::timestamptz[], $8::timestamptz[], $9::bytea[]
  ) with ordinality
  as requested (digest, ${TOKEN_LISTS}, spent_at, nonce, position)
), held as (
  select g.id, t.refresh_digest as digest from requested join token t on t.refresh_digest = requested.digest
  join "grant" g on g.id = t.grant_id
  where g.revoked_at is null
  order by g.id
  for key share of g
), locked as (
  select t.access_digest, t.refresh_digest as digest from held join token t on t.refresh_digest = held.digest
  where t.spent_at is null
  order by t.refresh_digest
  for update of t
), spent as (
  update token set spent_at = requested.spent_at, nonce = requested.nonce
  from locked join requested using (digest)
  where token.access_digest = locked.access_digest
  returning token.grant_id, requested.*
), ${STORE_FOR_SPENT}
${SPENT_POSITIONS}`

/** {@link TokenStore.rotate}. Concurrent rotations are sent as one batch, in one statement. */
export const createRotation = (driver: Pick<Driver, 'write' | 'writers'>): ((rotation: Rotation) => Promise<boolean>) =>
  createSpending(driver, ROTATE, rotations => [
    bytesList(rotations.map(({ digest }) => digest)),
    ...tokenLists(rotations.map(({ successor }) => successor)),
    instantList(rotations.map(({ spend }) => spend.at)),
    bytesList(rotations.map(({ spend }) => spend.nonce))
  ])
