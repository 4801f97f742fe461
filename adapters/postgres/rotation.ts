import type { Digest, Token } from '../../core/model.js'
import type { Nonce } from '../../core/ports.js'
import type { Driver } from './connection/driver.js'
import { gather } from './lookup/gather.js'
import { TOKEN_COLUMNS, TOKEN_LISTS, tokenLists } from './sql/token-rows.js'
import { bytesList, instantList } from './sql/values.js'

interface Rotation {
  readonly digest: Digest
  readonly spend: { readonly at: Date; readonly nonce: Nonce }
  readonly successor: Token
}

// Grants are locked before tokens, because the removal of grants locks in this order too: in the other order the two
// statements would deadlock (40P01). So would two rotations that did not sort the rows before they lock them. If a
// concurrent statement has a row locked, PostgreSQL waits for it and evaluates `spent_at is null` again, on the row as
// that statement left it.
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
), stored as (
  insert into token (${TOKEN_COLUMNS})
  select grant_id, access_digest, refresh_digest, scopes::text[], issued, expires, refresh_expires from spent
)
select position::int4 from spent`

/** {@link TokenStore.rotate}. Concurrent rotations are sent as one batch, in one statement. */
export const createRotation = (driver: Pick<Driver, 'write' | 'writers'>): ((rotation: Rotation) => Promise<boolean>) =>
  gather(
    driver,
    async rotations => {
      const rows = await driver.write(ROTATE, [
        bytesList(rotations.map(({ digest }) => digest)),
        ...tokenLists(rotations.map(({ successor }) => successor)),
        instantList(rotations.map(({ spend }) => spend.at)),
        bytesList(rotations.map(({ spend }) => spend.nonce))
      ])
      const won = new Set(rows.map(([position]) => Number(position) - 1))
      return rotations.map((_, index) => won.has(index))
    },
    ({ digest }) => digest
  )
