import { latest } from '../../core/instants.js'
import type { Token } from '../../core/model.js'
import type { Driver } from './connection/driver.js'
import { BEGIN_GRANT_WITHOUT_USER, beginGrant } from './grants.js'
import { gather } from './lookup/gather.js'
import { TOKEN_COLUMNS, TOKEN_LISTS, tokenLists, tokenValues } from './sql/token-rows.js'
import { instantList, numberList, textList } from './sql/values.js'

interface Issue {
  readonly token: Token
  readonly userId: number
  /** Of the user, when the login began. */
  readonly generation: number
}

// The locks are those of BEGIN_GRANT. Statements that did not lock the users in one order could deadlock (40P01).
const ISSUE = `
with requested as (
  select * from unnest(
    $1::int8[], $2::int8[], $3::text[], $4::uuid[], $5::text[], $6::timestamptz[], $7::timestamptz[],
    $8::bytea[], $9::bytea[], $10::text[], $11::timestamptz[], $12::timestamptz[], $13::timestamptz[]
  ) with ordinality
  as requested (user_id, generation, client_id, grant_id, grant_scopes, ends, sweep_at, ${TOKEN_LISTS}, position)
), parties as (
  select requested.* from requested
  join "user" u on u.id = requested.user_id and u.generation = requested.generation
  join client c on c.id = requested.client_id
  order by u.id
  for share of u for key share of c
), begun as (
  insert into "grant" (user_id, client_id, id, scopes, expires_at, sweep_at)
  select user_id, client_id, grant_id, grant_scopes::text[], ends, sweep_at from parties
), stored as (
  insert into token (${TOKEN_COLUMNS})
  select grant_id, access_digest, refresh_digest, scopes::text[], issued, expires, refresh_expires from parties
)
select position::int4 from parties`

const ISSUE_WITHOUT_USER = `
with ${BEGIN_GRANT_WITHOUT_USER}
insert into token (${TOKEN_COLUMNS})
select id, $8, $9, $10, $11, $12, $13 from begun
returning true`

/** When the token and its refresh token have expired. */
const endOf = ({ expiresAt, refreshExpiresAt }: Token): Date => latest(expiresAt, refreshExpiresAt)

/** Logins leave their hashes one by one: they travel together only if they wait for each other here. */
const ONE_BATCH = { usualBatches: 1, fewItems: 0 }

/** {@link TokenStore.insert}. Tokens of users that are issued at once are sent as one batch, in one statement. */
export const createIssuing = (driver: Pick<Driver, 'write' | 'writers'>) => {
  const issue = gather(
    driver,
    async (issues: readonly Issue[]) => {
      const tokens = issues.map(({ token }) => token)
      const grants = tokens.map(({ grant }) => grant)
      const rows = await driver.write(ISSUE, [
        numberList(issues.map(({ userId }) => userId)),
        numberList(issues.map(({ generation }) => generation)),
        textList(grants.map(({ clientId }) => clientId)),
        textList(grants.map(({ id }) => id)),
        textList(grants.map(({ scopes }) => textList(scopes))),
        instantList(grants.map(({ expiresAt }) => expiresAt)),
        instantList(tokens.map(endOf)),
        ...tokenLists(tokens)
      ])
      const begun = new Set(rows.map(([position]) => Number(position) - 1))
      return issues.map((_, index) => begun.has(index))
    },
    ONE_BATCH
  )

  return async (token: Token, generation: number | undefined): Promise<boolean> => {
    const { userId } = token.grant
    if (userId !== undefined && generation !== undefined) return issue({ token, userId, generation })
    const values = [...beginGrant(token.grant, generation, endOf(token)), ...tokenValues(token)]
    return (await driver.write(ISSUE_WITHOUT_USER, values)).length > 0
  }
}
