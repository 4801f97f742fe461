import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import type { AccessToken, Token } from '../../core/model.js'
import type { RefreshableToken, TokenStore } from '../../core/ports.js'
import { BEGIN_GRANT, beginGrant, grantColumns } from './grants.js'
import type { JoiningDriver } from './joined.js'
import { asked, askedKey, gatheredLookup, joinedLookup, key, lookup, position } from './lookups.js'
import { createRotation } from './rotation.js'
import { grants, tokens } from './schema.js'
import { builder, plain } from './statements.js'
import { eraseNonces, removeExpired } from './sweep.js'
import { TOKEN_COLUMNS, tokenValues } from './token-values.js'
import { bytesList, latest, orUndefined, readInstant, readTexts } from './values.js'

const INSERT = `
with ${BEGIN_GRANT}
insert into token (${TOKEN_COLUMNS})
select id, $8, $9, $10, $11, $12, $13 from begun
returning true`

const accessColumns = {
  grantId: tokens.grantId,
  scopes: tokens.scopes,
  issuedAt: tokens.issuedAt,
  expiresAt: tokens.expiresAt
}

const toAccessToken = ([grantId, scopes, issuedAt, expiresAt]: readonly unknown[]): AccessToken => ({
  grantId: String(grantId),
  scopes: readTexts(scopes),
  issuedAt: readInstant(issuedAt),
  expiresAt: readInstant(expiresAt)
})

const spendable = {
  accessDigest: tokens.accessDigest,
  refreshDigest: tokens.refreshDigest,
  grant: grantColumns,
  scopes: tokens.scopes,
  issuedAt: tokens.issuedAt,
  expiresAt: tokens.expiresAt,
  refreshExpiresAt: tokens.refreshExpiresAt,
  spentAt: tokens.spentAt,
  nonce: tokens.nonce
}

interface SpendableRow extends Omit<Token, 'refreshDigest' | 'refreshExpiresAt'> {
  readonly refreshDigest: string | null
  readonly refreshExpiresAt: Date | null
  readonly spentAt: Date | null
  readonly nonce: string | null
}

const toRefreshable = (row: SpendableRow): RefreshableToken => ({
  accessDigest: row.accessDigest,
  refreshDigest: orUndefined(row.refreshDigest),
  grant: row.grant,
  scopes: row.scopes,
  issuedAt: row.issuedAt,
  expiresAt: row.expiresAt,
  refreshExpiresAt: orUndefined(row.refreshExpiresAt),
  spent: row.spentAt === null ? undefined : { at: row.spentAt, nonce: orUndefined(row.nonce) }
})

export const createTokenStore = ({ read, write, transaction, join }: JoiningDriver): TokenStore => {
  const reader = builder(read)
  const writer = builder(write)

  // By an index of the revoked alone, which is small: the grant's own row and its index are four more pages to read among millions.
  // A value and no `exists`, which could be planned as a list of all that are revoked.
  const tombstone = reader
    .select({ revokedAt: grants.revokedAt })
    .from(grants)
    .where(and(eq(grants.id, tokens.grantId), isNotNull(grants.revokedAt)))
  const findByAccess = joinedLookup(
    join,
    reader
      .select(accessColumns)
      .from(tokens)
      .where(
        and(eq(tokens.accessDigest, key), isNull(tokens.spentAt), isNull(tokens.revokedAt), sql`(${tombstone}) is null`)
      ),
    { name: 'token_by_access', type: 'bytea', width: 4 },
    bytesList,
    toAccessToken
  )

  const findByRefresh = gatheredLookup(
    reader
      .select({ ...spendable, position })
      .from(asked('bytea'))
      .innerJoin(tokens, eq(tokens.refreshDigest, askedKey))
      .innerJoin(grants, eq(grants.id, tokens.grantId))
      .where(isNull(grants.revokedAt))
      .prepare('tokens_by_refresh'),
    bytesList,
    toRefreshable
  )

  const rotate = createRotation(write)

  return {
    async insert(token, generation) {
      const sweepAt = latest(token.expiresAt, token.refreshExpiresAt)
      const values = [...beginGrant(token.grant, generation, sweepAt), ...tokenValues(token)]
      return (await write(INSERT, values)).length > 0
    },

    findByAccess,

    findByRefresh,

    findGrant: lookup(
      reader
        .select(grantColumns)
        .from(grants)
        .where(and(eq(grants.id, key), isNull(grants.revokedAt)))
        .prepare('grant'),
      grant => grant
    ),

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
