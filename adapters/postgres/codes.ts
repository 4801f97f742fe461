import { eq, isNull } from 'drizzle-orm'
import type { CodeStore, StoredCode } from '../../core/ports.js'
import type { Driver } from './driver.js'
import { BEGIN_GRANT, beginGrant, grantColumns } from './grants.js'
import { asked, askedKey, gatheredLookup, position } from './lookups.js'
import { codes, grants } from './schema.js'
import { builder } from './statements.js'
import { TOKEN_COLUMNS, tokenValues } from './token-values.js'
import { bytes, bytesList, orUndefined } from './values.js'

const INSERT = `
with ${BEGIN_GRANT}
insert into code (grant_id, digest, redirect_uri, challenge, issuedate, expirationdate)
select id, $8, $9, $10, $11, $12 from begun
returning true`

// The grant is locked before the code, as removing it does: in the other order the two would deadlock (40P01).
const HELD = `held as (
  select g.id from code c join "grant" g on g.id = c.grant_id
  where c.digest = $1 and g.revoked_at is null
  for key share of g
)`

// `not spent` is judged again once a rival's lock is gone, on the row as the rival left it.
const SPENT = `spent as (
  update code set spent = true from held
  where code.digest = $1 and code.grant_id = held.id and not spent
  returning held.id
)`

const BURN = `with ${HELD}, ${SPENT} select true from spent`

const REDEEM = `
with ${HELD}, ${SPENT}
insert into token (${TOKEN_COLUMNS})
select id, $2, $3, $4, $5, $6, $7 from spent
returning true`

const columns = {
  digest: codes.digest,
  grant: grantColumns,
  redirectUri: codes.redirectUri,
  challenge: codes.challenge,
  issuedAt: codes.issuedAt,
  expiresAt: codes.expiresAt,
  spent: codes.spent
}

interface CodeRow extends Omit<StoredCode, 'redirectUri' | 'challenge'> {
  readonly redirectUri: string | null
  readonly challenge: string | null
}

const toCode = (row: CodeRow): StoredCode => ({
  digest: row.digest,
  grant: row.grant,
  issuedAt: row.issuedAt,
  expiresAt: row.expiresAt,
  spent: row.spent,
  redirectUri: orUndefined(row.redirectUri),
  challenge: orUndefined(row.challenge)
})

export const createCodeStore = ({ read, write }: Driver): CodeStore => {
  const reader = builder(read)
  const find = gatheredLookup(
    reader
      .select({ ...columns, position })
      .from(asked('bytea'))
      .innerJoin(codes, eq(codes.digest, askedKey))
      .innerJoin(grants, eq(grants.id, codes.grantId))
      .where(isNull(grants.revokedAt))
      .prepare('codes_by_digest'),
    bytesList,
    toCode
  )

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

    async redeem(digest, token) {
      return (await write(REDEEM, [bytes(digest), ...tokenValues(token)])).length > 0
    },

    async burn(digest) {
      return (await write(BURN, [bytes(digest)])).length > 0
    }
  }
}
