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
  select requested.*, t.access_digest as held_digest from requested join token t on t.refresh_digest = requested.digest
  join "grant" g on g.id = t.grant_id
  where t.spent_at is null and g.revoked_at is null
  order by g.id
  for key share of g
), spent as (
  update token set spent_at = held.spent_at, nonce = held.nonce
  from held
  where token.access_digest = held.held_digest and token.spent_at is null
  returning token.grant_id, held.*
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
