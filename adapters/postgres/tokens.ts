import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import type { AccessToken } from '../../core/model.js'
import type { RefreshableToken, TokenStore } from '../../core/ports.js'
import type { Driver } from './connection/driver.js'
import { BEGIN_GRANT, beginGrant, grantColumns, readGrant } from './grants.js'
import { key, type Lookups } from './lookup/lookups.js'
import { createRotation } from './rotation.js'
import { grants, tokens } from './schema.js'
import { builder, plain, typed } from './sql/statements.js'
import { TOKEN_COLUMNS, tokenValues } from './sql/token-rows.js'
import { bytesElement, latest, optional, readBytes, readInstant, readTexts } from './sql/values.js'
import { eraseNonces, removeExpired } from './sweep.js'

const INSERT = `
with ${BEGIN_GRANT}
insert into token (${TOKEN_COLUMNS})
select id, $8, $9, $10, $11, $12, $13 from begun
returning true`

const accessColumns = {
  grantId: typed(tokens.grantId),
  scopes: typed(tokens.scopes),
  issuedAt: typed(tokens.issuedAt),
  expiresAt: typed(tokens.expiresAt)
}

const readAccess = ([grantId, scopes, issuedAt, expiresAt]: readonly unknown[]): AccessToken => ({
  grantId: String(grantId),
  scopes: readTexts(scopes),
  issuedAt: readInstant(issuedAt),
  expiresAt: readInstant(expiresAt)
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

const readRefreshable = (values: readonly unknown[]): RefreshableToken => {
  const [accessDigest, refreshDigest, scopes, issuedAt, expiresAt, refreshExpiresAt, spentAt, nonce] = values.slice(
    Object.keys(grantColumns).length
  )
  return {
    accessDigest: readBytes(accessDigest),
    refreshDigest: optional(refreshDigest, readBytes),
    grant: readGrant(values),
    scopes: readTexts(scopes),
    issuedAt: readInstant(issuedAt),
    expiresAt: readInstant(expiresAt),
    refreshExpiresAt: optional(refreshExpiresAt, readInstant),
    spent: optional(spentAt, at => ({ at: readInstant(at), nonce: optional(nonce, readBytes) }))
  }
}

export const createTokenStore = (
  { write, transaction }: Pick<Driver, 'write' | 'transaction'>,
  lookups: Lookups
): TokenStore => {
  const writer = builder(write)

  // By an index of the revoked alone, which is small: the grant's own row and its index are four more pages to read among millions.
  // A value and no `exists`, which could be planned as a list of all that are revoked.
  const tombstone = writer
    .select({ revokedAt: grants.revokedAt })
    .from(grants)
    .where(and(eq(grants.id, tokens.grantId), isNotNull(grants.revokedAt)))

  const rotate = createRotation(write)

  return {
    async insert(token, generation) {
      const sweepAt = latest(token.expiresAt, token.refreshExpiresAt)
      const values = [...beginGrant(token.grant, generation, sweepAt), ...tokenValues(token)]
      return (await write(INSERT, values)).length > 0
    },

    findByAccess: lookups.create({
      name: 'token_by_access',
      company: 'read',
      columns: accessColumns,
      select: writer
        .select(accessColumns)
        .from(tokens)
        .where(
          and(
            eq(tokens.accessDigest, key),
            isNull(tokens.spentAt),
            isNull(tokens.revokedAt),
            sql`(${tombstone}) is null`
          )
        ),
      type: 'bytea',
      literal: bytesElement,
      read: readAccess
    }),

    findByRefresh: lookups.create({
      name: 'token_by_refresh',
      company: 'token',
      columns: refreshColumns,
      select: writer
        .select(refreshColumns)
        .from(tokens)
        .innerJoin(grants, eq(grants.id, tokens.grantId))
        .where(and(eq(tokens.refreshDigest, key), isNull(grants.revokedAt))),
      type: 'bytea',
      literal: bytesElement,
      read: readRefreshable
    }),

    findGrant: lookups.create({
      name: 'grant',
      columns: grantColumns,
      select: writer
        .select(grantColumns)
        .from(grants)
        .where(and(eq(grants.id, key), isNull(grants.revokedAt))),
      type: 'uuid',
      literal: String,
      read: readGrant
    }),

    rotate: (digest, spend, successor) => rotate({ digest, spend, successor }),

    async revokeAccess(digest, at) {
      await plain(writer.update(tokens).set({ revokedAt: at }).where(eq(tokens.accessDigest, digest)))
    },

    // A tombstone, not an UPDATE of the tokens: that would miss one that a concurrent rotation has yet to commit.
    async revokeGrant(grantId, at) {
      await plain(writer.update(grants).set({ revokedAt: at }).where(eq(grants.id, grantId)))
    },

    eraseNonces: at => eraseNonces(write, at),

    removeExpired: (at, limit) => removeExpired(transaction, at, limit)
  }
}
