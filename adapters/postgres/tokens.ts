import { and, eq, isNull, sql } from 'drizzle-orm'
import type { AccessToken } from '../../core/model.js'
import type { RefreshToken, TokenStore } from '../../core/ports.js'
import type { Driver } from './connection/driver.js'
import { grantColumns, readGrant } from './grants.js'
import { createIssuing } from './issuing.js'
import { key, type Lookups } from './lookup/lookups.js'
import { createRotation } from './rotation.js'
import { grants, tokens } from './schema.js'
import { type Row, typed } from './sql/columns.js'
import { builder, withDriverErrors } from './sql/statements.js'
import { IS_LIVE } from './sql/token-rows.js'
import { bytes, optional, readBytes, readInstant, readTexts } from './sql/values.js'

const accessColumns = {
  grantId: typed(tokens.grantId),
  scopes: typed(tokens.scopes),
  issuedAt: typed(tokens.issuedAt),
  expiresAt: typed(tokens.expiresAt)
}

const readAccess = (row: Row): AccessToken => ({
  grantId: String(row.grantId),
  scopes: readTexts(row.scopes),
  issuedAt: readInstant(row.issuedAt),
  expiresAt: readInstant(row.expiresAt)
})

const refreshColumns = {
  ...grantColumns,
  accessDigest: typed(tokens.accessDigest),
  refreshDigest: typed(tokens.refreshDigest),
  scopes: typed(tokens.scopes),
  issuedAt: typed(tokens.issuedAt),
  expiresAt: typed(tokens.expiresAt),
  refreshExpiresAt: typed(tokens.refreshExpiresAt),
  spentAt: typed(tokens.spentAt),
  nonce: typed(tokens.nonce)
}

const readRefresh = (row: Row): RefreshToken => ({
  accessDigest: readBytes(row.accessDigest),
  refreshDigest: optional(row.refreshDigest, readBytes),
  grant: readGrant(row),
  scopes: readTexts(row.scopes),
  issuedAt: readInstant(row.issuedAt),
  expiresAt: readInstant(row.expiresAt),
  refreshExpiresAt: optional(row.refreshExpiresAt, readInstant),
  spent: optional(row.spentAt, at => ({ at: readInstant(at), nonce: optional(row.nonce, readBytes) }))
})

/** {@link IS_LIVE} for the access token with this digest. */
const hasLiveAccess = and(eq(tokens.accessDigest, key), sql.raw(IS_LIVE))

/** Few enough that one statement stays far below its time limit. */
const NONCES_PER_STATEMENT = 5000

// `skip locked`: a locked token is left to the next sweep, because waiting for it would end this one (55P03).
const ERASE_NONCES = `
with erased as (
  update token set nonce = null where access_digest in (
    select access_digest from token where nonce is not null and spent_at < $1
    order by spent_at, access_digest limit $2 for update skip locked
  ) returning true
)
select count(*)::int4 from erased`

export const createTokenStore = (driver: Pick<Driver, 'write' | 'writers'>, lookups: Lookups): TokenStore => {
  const { write } = driver
  const writer = builder(write)

  const rotate = createRotation(driver)

  return {
    insert: createIssuing(driver),

    findByAccess: lookups.create({
      name: 'token_by_access',
      sharedStatement: 'read',
      columns: accessColumns,
      select: writer.select(accessColumns).from(tokens).where(hasLiveAccess),
      type: 'bytea',
      value: bytes,
      read: readAccess
    }),

    findByRefresh: lookups.create({
      name: 'token_by_refresh',
      sharedStatement: 'token',
      columns: refreshColumns,
      select: writer
        .select(refreshColumns)
        .from(tokens)
        .innerJoin(grants, eq(grants.id, tokens.grantId))
        .where(and(eq(tokens.refreshDigest, key), isNull(grants.revokedAt))),
      type: 'bytea',
      value: bytes,
      read: readRefresh
    }),

    rotate: (digest, spend, successor) => rotate({ digest, spend, successor }),

    async revokeAccess(digest, at) {
      await withDriverErrors(writer.update(tokens).set({ revokedAt: at }).where(eq(tokens.accessDigest, digest)))
    },

    async eraseNonces(at) {
      let total = 0
      let erased: number
      do {
        const [row] = await write(ERASE_NONCES, [at, NONCES_PER_STATEMENT])
        erased = Number(row?.[0])
        total += erased
      } while (erased === NONCES_PER_STATEMENT)
      return total
    }
  }
}
