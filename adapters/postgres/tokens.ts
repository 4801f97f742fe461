import { and, eq, isNull } from 'drizzle-orm'
import type { Token } from '../../core/model.js'
import type { TokenStore } from '../../core/ports.js'
import type { Driver } from './driver.js'
import { BEGIN_GRANT, beginGrant, grantColumns } from './grants.js'
import { asked, askedKey, gatheredLookup, key, position } from './lookups.js'
import { createRotation } from './rotation.js'
import { grants, tokens } from './schema.js'
import { builder, plain } from './statements.js'
import { eraseNonces, removeExpired } from './sweep.js'
import { TOKEN_COLUMNS, tokenValues } from './token-values.js'
import { bytes, bytesList, latest } from './values.js'

const INSERT = `
with ${BEGIN_GRANT}
insert into token (${TOKEN_COLUMNS})
select id, $8, $9, $10, $11, $12, $13 from begun
returning true`

const columns = {
  accessDigest: tokens.accessDigest,
  refreshDigest: tokens.refreshDigest,
  grant: grantColumns,
  scopes: tokens.scopes,
  issuedAt: tokens.issuedAt,
  expiresAt: tokens.expiresAt,
  refreshExpiresAt: tokens.refreshExpiresAt
}

export const createTokenStore = ({ read, write, transaction }: Driver): TokenStore => {
  const reader = builder(read)
  const writer = builder(write)

  const live = and(isNull(tokens.spentAt), isNull(tokens.revokedAt), isNull(grants.revokedAt))
  const findByAccess = gatheredLookup({
    one: reader
      .select(columns)
      .from(tokens)
      .innerJoin(grants, eq(grants.id, tokens.grantId))
      .where(and(eq(tokens.accessDigest, key), live))
      .prepare('token_by_access'),
    many: reader
      .select({ position, ...columns })
      .from(asked('bytea'))
      .innerJoin(tokens, eq(tokens.accessDigest, askedKey))
      .innerJoin(grants, eq(grants.id, tokens.grantId))
      .where(live)
      .prepare('tokens_by_access'),
    place: ({ position, ...row }) => [position, row],
    encode: bytes,
    encodeList: bytesList
  })

  const spendable = { ...columns, spentAt: tokens.spentAt, nonce: tokens.nonce }
  const findByRefresh = gatheredLookup({
    one: reader
      .select(spendable)
      .from(tokens)
      .innerJoin(grants, eq(grants.id, tokens.grantId))
      .where(and(eq(tokens.refreshDigest, key), isNull(grants.revokedAt)))
      .prepare('token_by_refresh'),
    many: reader
      .select({ position, ...spendable })
      .from(asked('bytea'))
      .innerJoin(tokens, eq(tokens.refreshDigest, askedKey))
      .innerJoin(grants, eq(grants.id, tokens.grantId))
      .where(isNull(grants.revokedAt))
      .prepare('tokens_by_refresh'),
    place: ({ position, ...row }) => [position, row],
    encode: bytes,
    encodeList: bytesList
  })

  const rotate = createRotation(write)

  return {
    async insert(token, generation) {
      const sweepAt = latest(token.expiresAt, token.refreshExpiresAt)
      const values = [...beginGrant(token.grant, generation, sweepAt), ...tokenValues(token)]
      return (await write(INSERT, values)).length > 0
    },

    async findByAccess(digest) {
      const row = await findByAccess(digest)
      return row && toToken(row)
    },

    async findByRefresh(digest) {
      const row = await findByRefresh(digest)
      if (row === undefined) return undefined
      const { spentAt, nonce, ...token } = row
      return { ...toToken(token), spent: spentAt === null ? undefined : { at: spentAt, nonce: nonce ?? undefined } }
    },

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

interface TokenRow extends Omit<Token, 'refreshDigest' | 'refreshExpiresAt'> {
  readonly refreshDigest: string | null
  readonly refreshExpiresAt: Date | null
}

const toToken = (row: TokenRow): Token => ({
  ...row,
  refreshDigest: row.refreshDigest ?? undefined,
  refreshExpiresAt: row.refreshExpiresAt ?? undefined
})
