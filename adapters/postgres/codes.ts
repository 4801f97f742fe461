import { and, eq, isNull } from 'drizzle-orm'
import type { CodeStore, StoredCode } from '../../core/ports.js'
import type { Driver } from './connection/driver.js'
import { BEGIN_GRANT, beginGrant, grantColumns, readGrant } from './grants.js'
import { key, type Lookups } from './lookup/lookups.js'
import { createRedemption } from './redemption.js'
import { codes, grants } from './schema.js'
import { type Row, typed } from './sql/columns.js'
import { builder } from './sql/statements.js'
import { bytes, optional, readBytes, readInstant } from './sql/values.js'

const INSERT = `
with ${BEGIN_GRANT}
insert into code (grant_id, digest, redirect_uri, challenge, issuedate, expirationdate)
select id, $8, $9, $10, $11, $12 from begun
returning true`

// The order of the locks is that of spending.ts.
const BURN = `
with held as (
  select g.id from code c join "grant" g on g.id = c.grant_id
  where c.digest = $1 and g.revoked_at is null
  for key share of g
)
update code set spent = true from held
where code.digest = $1 and code.grant_id = held.id and not spent
returning true`

const columns = {
  ...grantColumns,
  digest: typed(codes.digest),
  redirectUri: typed(codes.redirectUri),
  challenge: typed(codes.challenge),
  issuedAt: typed(codes.issuedAt),
  expiresAt: typed(codes.expiresAt),
  spent: typed(codes.spent)
}

const readCode = (row: Row): StoredCode => ({
  digest: readBytes(row.digest),
  grant: readGrant(row),
  redirectUri: optional(row.redirectUri, String),
  challenge: optional(row.challenge, String),
  issuedAt: readInstant(row.issuedAt),
  expiresAt: readInstant(row.expiresAt),
  spent: row.spent === true
})

export const createCodeStore = (driver: Pick<Driver, 'write' | 'writers'>, lookups: Lookups): CodeStore => {
  const { write } = driver
  const redeem = createRedemption(driver)
  const find = lookups.create({
    name: 'code_by_digest',
    sharedStatement: 'token',
    columns,
    select: builder(write)
      .select(columns)
      .from(codes)
      .innerJoin(grants, eq(grants.id, codes.grantId))
      .where(and(eq(codes.digest, key), isNull(grants.revokedAt))),
    type: 'bytea',
    value: bytes,
    read: readCode
  })

  return {
    async insert(code, generation) {
      const stored = await write(INSERT, [
        ...beginGrant(code.grant, generation, code.expiresAt),
        bytes(code.digest),
        code.redirectUri ?? null,
        code.challenge ?? null,
        code.issuedAt,
        code.expiresAt
      ])
      return stored.length > 0
    },

    find,

    redeem: (digest, token) => redeem({ digest, token }),

    async burn(digest) {
      return (await write(BURN, [bytes(digest)])).length > 0
    }
  }
}
