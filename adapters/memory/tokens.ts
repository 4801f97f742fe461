import type { Digest } from '../../core/model.js'
import type { TokenStore } from '../../core/ports.js'
import {
  beginGrant,
  copyAccess,
  copySpend,
  copyToken,
  isLive,
  schedule,
  storeToken,
  type Tables,
  type TokenRow
} from './tables.js'

export const createTokenStore = (tables: Tables): TokenStore => {
  const { tokensByAccess, tokensByRefresh, withNonce } = tables

  const live = (row: TokenRow | undefined): TokenRow | undefined => (row && isLive(row.grant) ? row : undefined)
  const liveByRefresh = (digest: Digest): TokenRow | undefined => live(tokensByRefresh.get(digest))

  return {
    async insert(token, generation) {
      const grant = beginGrant(tables, token.grant, generation)
      if (grant === undefined) return false
      storeToken(tables, grant, token)
      schedule(tables, grant)
      return true
    },

    async findByAccess(digest) {
      const row = live(tokensByAccess.get(digest))
      return row === undefined || row.accessEnded ? undefined : copyAccess(row)
    },

    async findByRefresh(digest) {
      const row = liveByRefresh(digest)
      return row && { ...copyToken(row.token, row.grant.grant), spent: row.spent && copySpend(row.spent) }
    },

    async rotate(digest, spend, successor) {
      const row = liveByRefresh(digest)
      if (row === undefined || row.spent !== undefined) return false
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
