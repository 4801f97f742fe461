import type { Digest, Token } from '../../core/model.js'
import type { Driver } from './connection/driver.js'
import { createSpending, SPENT_POSITIONS, STORE_FOR_SPENT } from './spending.js'
import { TOKEN_LISTS, tokenLists } from './sql/token-rows.js'
import { bytesList } from './sql/values.js'

interface Redemption {
  /** Of the code. */
  readonly digest: Digest
  readonly token: Token
}

// The order of the locks is that of spending.ts.
const REDEEM = `
with requested as (
  select * from unnest(
    $1::bytea[], $2::bytea[], $3::bytea[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::timestamptz[]
  ) with ordinality
  as requested (digest, ${TOKEN_LISTS}, position)
), held as (
  select requested.* from requested join code c using (digest)
  join "grant" g on g.id = c.grant_id
  where not c.spent and g.revoked_at is null
  order by g.id
  for key share of g
), spent as (
  update code set spent = true
  from held
  where code.digest = held.digest and not code.spent
  returning code.grant_id, held.*
), ${STORE_FOR_SPENT}
${SPENT_POSITIONS}`

/** {@link CodeStore.redeem}. Codes that are redeemed at once are sent as one batch, in one statement. */
export const createRedemption = (
  driver: Pick<Driver, 'write' | 'writers'>
): ((redemption: Redemption) => Promise<boolean>) =>
  createSpending(driver, REDEEM, redemptions => [
    bytesList(redemptions.map(({ digest }) => digest)),
    ...tokenLists(redemptions.map(({ token }) => token))
  ])
