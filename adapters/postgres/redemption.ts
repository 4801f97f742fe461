import type { Digest, Token } from '../../core/model.js'
import type { Driver } from './connection/driver.js'
import { gather } from './lookup/gather.js'
import { TOKEN_COLUMNS, TOKEN_LISTS, tokenLists } from './sql/token-rows.js'
import { bytesList } from './sql/values.js'

interface Redemption {
  /** Of the code. */
  readonly digest: Digest
  readonly token: Token
}

// The locks are taken in the order of rotation.ts, for the same reasons. If a concurrent statement has a row locked,
// PostgreSQL waits for it and evaluates `not spent` again, on the row as that statement left it.
const REDEEM = `
with requested as (
  select * from unnest(
    $1::bytea[], $2::bytea[], $3::bytea[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::timestamptz[]
  ) with ordinality
  as requested (digest, ${TOKEN_LISTS}, position)
), held as (
  select g.id, c.digest from requested join code c using (digest)
  join "grant" g on g.id = c.grant_id
  where g.revoked_at is null
  order by g.id
  for key share of g
), locked as (
  select c.digest from held join code c using (digest)
  where not c.spent
  order by c.digest
  for update of c
), spent as (
  update code set spent = true
  from locked join requested using (digest)
  where code.digest = locked.digest
  returning code.grant_id, requested.*
), stored as (
  insert into token (${TOKEN_COLUMNS})
  select grant_id, access_digest, refresh_digest, scopes::text[], issued, expires, refresh_expires from spent
)
select position::int4 from spent`

/** {@link CodeStore.redeem}. Codes that are redeemed at once are sent as one batch, in one statement. */
export const createRedemption = (
  driver: Pick<Driver, 'write' | 'writers'>
): ((redemption: Redemption) => Promise<boolean>) =>
  gather(
    driver,
    async redemptions => {
      const rows = await driver.write(REDEEM, [
        bytesList(redemptions.map(({ digest }) => digest)),
        ...tokenLists(redemptions.map(({ token }) => token))
      ])
      const won = new Set(rows.map(([position]) => Number(position) - 1))
      return redemptions.map((_, index) => won.has(index))
    },
    ({ digest }) => digest
  )
