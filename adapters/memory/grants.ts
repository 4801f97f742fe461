import type { OpenLogin } from '../../core/model.js'
import type { GrantStore } from '../../core/ports.js'
import { copyGrant, isLive, pause, removeGrant, removeSpent, type Tables, type TokenRow } from './tables.js'

export const createGrantStore = (tables: Tables): GrantStore => {
  const { grants } = tables
  /** Goes on where the last sweep stopped, so that a sweep of many calls looks at each grant once or twice. */
  let sweep = grants.values()

  return {
    async find(id) {
      const row = grants.get(id)
      return row && isLive(row) ? copyGrant(row.grant) : undefined
    },

    async listOpen(userId, at, limit) {
      const open = [...(tables.users.get(userId)?.grants ?? [])]
        .filter(row => isLive(row) && row.tokens.some(token => isGood(token, at)))
        .map(({ grant, tokens }) => ({
          grant: copyGrant(grant),
          refreshedAt: new Date(tokens.reduce((latest, { token }) => Math.max(latest, token.issuedAt.getTime()), 0))
        }))
        .sort((a, b) => beganAt(b) - beganAt(a) || b.refreshedAt.getTime() - a.refreshedAt.getTime())
      return { open: open.slice(0, limit), count: open.length }
    },

    async revoke(id) {
      const grant = grants.get(id)
      if (grant === undefined || !isLive(grant)) return false
      grant.revoked = true
      return true
    },

    async removeExpired(at, limit) {
      let removed = 0
      // One step more than there are grants: at the end of the map the iterator begins anew, which takes one.
      for (let left = grants.size; left >= 0 && removed < limit; left -= 1) {
        const { value: grant } = sweep.next()
        if (grant === undefined) sweep = grants.values()
        else if (grant.lastExpiry < at.getTime()) {
          removeGrant(tables, grant)
          removed += 1
        } else removeSpent(tables, grant, at)
        if (left % 5000 === 4999) await pause()
      }
      if (removed === limit) await pause()
      return removed
    }
  }
}

const isGood = ({ token, accessEnded, spent }: TokenRow, at: Date): boolean =>
  (!accessEnded && token.expiresAt > at) ||
  (spent === undefined && token.refreshExpiresAt !== undefined && token.refreshExpiresAt > at)

/** In milliseconds. Logins whose beginning is not known come before all others. */
const beganAt = ({ grant }: OpenLogin): number => grant.beganAt?.getTime() ?? Number.MIN_SAFE_INTEGER
