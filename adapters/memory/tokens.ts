import type { Digest } from '../../core/model.js'
import type { TokenStore } from '../../core/ports.js'
import {
  beginGrant,
  copyAccess,
  copyGrant,
  copySpend,
  copyToken,
  type GrantRow,
  isLive,
  minuteOf,
  removeGrant,
  schedule,
  storeToken,
  type Tables,
  type TokenRow,
  unschedule
} from './tables.js'

export const createTokenStore = (tables: Tables): TokenStore => {
  const { grants, tokensByAccess, tokensByRefresh, withNonce, due } = tables

  const live = (row: TokenRow | undefined): TokenRow | undefined => (row && isLive(row.grant) ? row : undefined)
  const liveByRefresh = (digest: Digest): TokenRow | undefined => live(tokensByRefresh.get(digest))

  /** Up to `limit` grants that may be expired before `at`. */
  const takeDue = (at: number, limit: number): GrantRow[] => {
    const found: GrantRow[] = []
    for (const [minute, waiting] of due) {
      if (minute > minuteOf(at)) continue
      for (const grant of waiting) {
        if (found.length >= limit) return found
        // A grant that is due within the minute of `at`, but later, is left for a later call.
        if (grant.lastExpiry < at || grant.dueMinute < minuteOf(grant.lastExpiry)) found.push(grant)
      }
    }
    return found
  }

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

    async findGrant(id) {
      const row = grants.get(id)
      return row && isLive(row) ? copyGrant(row.grant) : undefined
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

    async revokeGrant(grantId) {
      const grant = grants.get(grantId)
      if (grant !== undefined) grant.revoked = true
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
    },

    async removeExpired(at, limit) {
      const found = takeDue(at.getTime(), limit)
      for (const grant of found) {
        if (grant.lastExpiry < at.getTime()) {
          removeGrant(tables, grant)
        } else {
          // Tokens do not move their grant as they are stored: most grants are looked at once per refresh token at most.
          unschedule(tables, grant)
          schedule(tables, grant)
        }
      }
      return found.length
    }
  }
}
