import { getTableColumns } from 'drizzle-orm'
import { latest } from '../../core/instants.js'
import type { AccessToken, Digest, Token } from '../../core/model.js'
import type { RefreshToken, TokenStore } from '../../core/ports.js'
import { inBatches } from './batches.js'
import type { Driver, Run } from './connection/driver.js'
import { createBeginning, grant } from './grants.js'
import type { Lookups } from './lookups.js'
import { grants, tokens } from './schema.js'
import { bytes, type Columns, counting, countOf, joined, mapped, requested, type Selection, selection } from './sql.js'

const { grantId, revokedAt: _revokedAt, spentAt, nonce, ...issued } = getTableColumns(tokens)
const { scopes, issuedAt, expiresAt } = issued

const access: Selection<AccessToken> = selection({ grantId, scopes, issuedAt, expiresAt })

const refresh: Selection<RefreshToken> = mapped(
  joined(grant, selection({ ...issued, spentAt, nonce, endedAt: grants.revokedAt })),
  ([grant, { spentAt, nonce, endedAt, ...token }]) => ({
    grant,
    spent: spentAt && { at: spentAt, nonce },
    ended: endedAt !== undefined,
    ...token
  })
)

/**
 * The condition under which an access token is good until it expires. PostgreSQL reads only the small index of revoked
 * grants: among millions of grants, the grant's row and its index would be four more pages to read. The subquery is a value
 * and no `exists`, which could be planned as a list of all revoked grants.
 */
const IS_LIVE = `token.spent_at is null and token.revoked_at is null and (
  select revoked_at from "grant" where id = token.grant_id and revoked_at is not null
) is null`

/** What is spent, further values by the names of {@link Spending.columns}, and the token that is stored. */
type Exchange = Token & Readonly<Record<string, unknown>> & { readonly spent: Digest }

/** Spends codes or refresh tokens, and stores a token for each. */
interface Spending {
  /** What comes with each token: what is spent, by the name `spent`, and how. */
  readonly columns: Columns
  /**
   * The select of what can be spent, from `requested`: all of that, with `grant_id` and the key under which `mark` finds the
   * row. It locks the grants in the order of their ids, so that two statements cannot deadlock (40P01).
   */
  readonly hold: string
  /** The update that marks the rows of `held` as spent, without its `returning`. */
  readonly mark: string
}

/**
 * Codes, or refresh tokens, that are spent at the same time share one statement. A grant is locked before its code or token,
 * because the removal of grants locks in this order too. The plans have nested loops alone (connection/planning.ts), so that
 * codes and tokens are marked in the order in which `held` lists them. Where a concurrent statement has a row locked,
 * PostgreSQL waits for it and evaluates again whether the row can be spent, on the row as that statement left it.
 */
export const createSpending = (query: Run, { columns, hold, mark }: Spending) => {
  const rows = requested<Columns>({ ...columns, ...issued })
  const { names, values } = requested(issued)
  const statement = `
with requested as (
  select * from ${rows.from}
), held as (
  ${hold}
), marked as (
  ${mark}
  returning held.*
), stored as (
  insert into token (grant_id, ${names}) select grant_id, ${values} from marked
)
select position::int4 from marked`
  return inBatches(
    async (exchanges: readonly Exchange[]) => {
      const marked = await query(statement, rows.lists(exchanges))
      const positions = new Set(marked.map(([position]) => Number(position)))
      return exchanges.map((_, index) => positions.has(index + 1))
    },
    { enough: 24, keyOf: ({ spent }) => spent }
  )
}

const ROTATION: Spending = {
  columns: { spent: tokens.refreshDigest, spentAt, nonce },
  hold: `select requested.*, t.grant_id, t.access_digest as key
  from requested join token t on t.refresh_digest = requested.spent join "grant" g on g.id = t.grant_id
  where t.spent_at is null and g.revoked_at is null
  order by g.id for key share of g`,
  mark: `update token set spent_at = held."spentAt", nonce = held.nonce from held
  where token.access_digest = held.key and token.spent_at is null`
}

/** Few enough that one statement stays far below its time limit. */
const NONCES_PER_STATEMENT = 5000

// `skip locked`: a locked token is left to the next sweep, because waiting for it would end this one (55P03).
const ERASE_NONCES = counting(`
  update token set nonce = null where access_digest in (
    select access_digest from token where nonce is not null and spent_at < $1
    order by spent_at, access_digest limit $2 for update skip locked
  )`)

export const createTokenStore = ({ query }: Pick<Driver, 'query'>, lookups: Lookups): TokenStore => {
  const begin = createBeginning(query, 'token', issued)
  const rotate = createSpending(query, ROTATION)
  return {
    insert: (token, generation) => begin(token, generation, latest(token.expiresAt, token.refreshExpiresAt)),

    findByAccess: lookups.create({
      group: 'read',
      selection: access,
      from: `from token where access_digest = $1 and ${IS_LIVE}`,
      type: 'bytea'
    }),

    findByRefresh: lookups.create({
      group: 'token request',
      selection: refresh,
      from: 'from token join "grant" on "grant".id = token.grant_id where token.refresh_digest = $1',
      type: 'bytea'
    }),

    rotate: (digest, { at, nonce }, successor) => rotate({ ...successor, spent: digest, spentAt: at, nonce }),

    async revokeAccess(digest, at) {
      await query('update token set revoked_at = $2 where access_digest = $1', [bytes(digest), at])
    },

    async eraseNonces(at) {
      let total = 0
      for (let erased = NONCES_PER_STATEMENT; erased === NONCES_PER_STATEMENT; total += erased) {
        erased = await countOf(query(ERASE_NONCES, [at, NONCES_PER_STATEMENT]))
      }
      return total
    }
  }
}
