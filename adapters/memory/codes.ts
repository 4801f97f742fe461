import type { Digest } from '../../core/model.js'
import type { CodeStore } from '../../core/ports.js'
import { beginGrant, type CodeRow, copyCode, extend, isLive, storeToken, type Tables } from './tables.js'

export const createCodeStore = (tables: Tables): CodeStore => {
  const { codes } = tables

  const spend = (digest: Digest): CodeRow | undefined => {
    const row = codes.get(digest)
    if (row === undefined || row.spent || !isLive(row.grant)) return undefined
    row.spent = true
    return row
  }

  return {
    async insert(code, generation) {
      const grant = beginGrant(tables, code.grant, generation)
      if (grant === undefined) return false
      const row: CodeRow = { code: copyCode(code, grant.grant), grant, spent: false }
      grant.codes.push(row)
      codes.set(code.digest, row)
      extend(grant, code.expiresAt)
      return true
    },

    async find(digest) {
      const row = codes.get(digest)
      return row && { ...copyCode(row.code), spent: row.spent, ended: !isLive(row.grant) }
    },

    async redeem(digest, token) {
      const row = spend(digest)
      if (row === undefined) return false
      storeToken(tables, row.grant, token)
      return true
    },

    async burn(digest) {
      return spend(digest) !== undefined
    }
  }
}
