import { getTableColumns } from 'drizzle-orm'
import type { CodeStore, StoredCode } from '../../core/ports.js'
import type { Driver } from './connection/driver.js'
import { createBeginning, grant } from './grants.js'
import type { Lookups } from './lookups.js'
import { codes, grants } from './schema.js'
import { anyRow, bytes, joined, mapped, type Selection, selection } from './sql.js'
import { createSpending } from './tokens.js'

const { grantId: _grantId, ...found } = getTableColumns(codes)
const { spent: _spent, ...issued } = found

const code: Selection<StoredCode> = mapped(
  joined(grant, selection({ ...found, endedAt: grants.revokedAt })),
  ([grant, { endedAt, ...code }]) => ({ grant, ended: endedAt !== undefined, ...code })
)

const REDEMPTION = {
  columns: { spent: codes.digest },
  hold: `select requested.*, c.grant_id
  from requested join code c on c.digest = requested.spent join "grant" g on g.id = c.grant_id
  where not c.spent and g.revoked_at is null
  order by g.id for key share of g`,
  mark: 'update code set spent = true from held where code.digest = held.spent and not code.spent'
}

// The grant is locked before its code, as in a redemption.
const BURN = `
with held as (
  select g.id from code c join "grant" g on g.id = c.grant_id
  where c.digest = $1 and g.revoked_at is null
  for key share of g
)
update code set spent = true from held
where code.digest = $1 and code.grant_id = held.id and not spent
returning true`

export const createCodeStore = ({ query }: Pick<Driver, 'query'>, lookups: Lookups): CodeStore => {
  const begin = createBeginning(query, 'code', issued)
  const redeem = createSpending(query, REDEMPTION)
  return {
    insert: (code, generation) => begin(code, generation, code.expiresAt),

    find: lookups.create({
      group: 'token request',
      selection: code,
      from: 'from code join "grant" on "grant".id = code.grant_id where code.digest = $1',
      type: 'bytea'
    }),

    redeem: (digest, token) => redeem({ ...token, spent: digest }),

    burn: digest => anyRow(query(BURN, [bytes(digest)]))
  }
}
