import type { Digest, Token } from '../../core/model.js'
import type { Nonce } from '../../core/ports.js'
import type { Run } from './connection/driver.js'
import { gather } from './lookup/gather.js'
import { TOKEN_COLUMNS } from './sql/token-rows.js'
import { bytesList, instantList, textList } from './sql/values.js'

interface Rotation {
  readonly digest: Digest
  readonly spend: { readonly at: Date; readonly nonce: Nonce }
  readonly successor: Token
}

// Grants are locked before tokens, as removing them does: in the other order the two would deadlock (40P01). So would two rotations
// whose locks were not taken in the order of what they lock. `spent_at is null` is judged again once a rival's lock is gone, on the
// row as the rival left it.
const ROTATE = `
with asked as (
  select * from unnest(
    $1::bytea[], $2::bytea[], $3::bytea[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::timestamptz[], $8::timestamptz[], $9::bytea[]
  ) with ordinality
  as asked (digest, access_digest, refresh_digest, scopes, issued, expires, refresh_expires, spent_at, nonce, position)
), held as (
  select g.id, t.refresh_digest as digest from asked join token t on t.refresh_digest = asked.digest
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
  update token set spent_at = asked.spent_at, nonce = asked.nonce
  from locked join asked using (digest)
  where token.access_digest = locked.access_digest
  returning token.grant_id, asked.*
), stored as (
  insert into token (${TOKEN_COLUMNS})
  select grant_id, access_digest, refresh_digest, scopes::text[], issued, expires, refresh_expires from spent
)
select position::int4 from spent`

/** {@link TokenStore.rotate}, of which those asked for at once travel together. */
export const createRotation = (write: Run): ((rotation: Rotation) => Promise<boolean>) =>
  gather(
    async rotations => {
      const column = <T>(of: (rotation: Rotation) => T): T[] => rotations.map(of)
      const rows = await write(ROTATE, [
        bytesList(column(({ digest }) => digest)),
        bytesList(column(({ successor }) => successor.accessDigest)),
        bytesList(column(({ successor }) => successor.refreshDigest)),
        textList(column(({ successor }) => textList(successor.scopes))),
        instantList(column(({ successor }) => successor.issuedAt)),
        instantList(column(({ successor }) => successor.expiresAt)),
        instantList(column(({ successor }) => successor.refreshExpiresAt)),
        instantList(column(({ spend }) => spend.at)),
        bytesList(column(({ spend }) => spend.nonce))
      ])
      const won = new Set(rows.map(([position]) => Number(position) - 1))
      return rotations.map((_, index) => won.has(index))
    },
    ({ digest }) => digest
  )
