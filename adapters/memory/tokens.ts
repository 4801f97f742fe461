import type { TokenStore } from '../../core/ports.js'
import { beginGrant, copySpend, copyToken, isLive, storeToken, type Tables } from './tables.js'

export const createTokenStore = (tables: Tables): TokenStore => {
  const { tokensByAccess, tokensByRefresh, withNonce } = tables

  return {
    async insert(token, generation) {
      const grant = beginGrant(tables, token.grant, generation)
      if (grant === undefined) return false
      storeToken(tables, grant, token)
      return true
    },

    async findByAccess(digest) {
      const row = tokensByAccess.get(digest)
      if (row === undefined || row.accessEnded || !isLive(row.grant)) return undefined
      const { grant, scopes, issuedAt, expiresAt } = copyToken(row.token)
      return { grantId: grant.id, scopes, issuedAt, expiresAt }
    },

    async findByRefresh(digest) {
      const row = tokensByRefresh.get(digest)
      if (row === undefined) return undefined
      const { token, grant, spent } = row
      return { ...copyToken(token), spent: spent && copySpend(spent), ended: !isLive(grant) }
    },

    async rotate(digest, spend, successor) {
      const row = tokensByRefresh.get(digest)
      if (row === undefined || row.spent !== undefined || !isLive(row.grant)) return false
      row.spent = copySpend(spend)
      row.accessEnded = true
      withNonce.add(row)
      storeToken(tables, row.grant, successor)
      return true
    },

    async revokeAccess(digest) {
      const row = tokensByAccess.get(digest)
      if (row !== undefined) row.accessEnded = true
    },

    async eraseNonces(at) {
      let erased = 0
      for (const row of withNonce) {
        if (row.spent === undefined || row.spent.at >= at) continue
        row.spent = { at: row.spent.at, nonce: undefined }
        withNonce.delete(row)
        erased += 1
      }
      return erased
    }
  }
}
