import type { GrantStore } from '../../core/ports.js'
import {
  copyGrant,
  type GrantRow,
  isLive,
  minuteOf,
  pause,
  removeGrant,
  schedule,
  type Tables,
  type TokenRow,
  unschedule
} from './tables.js'

export const createGrantStore = (tables: Tables): GrantStore => {
  const { grants, due } = tables

  /** Up to `limit` grants that may have expired before `at`. */
  const takeDue = (at: number, limit: number): GrantRow[] => {
    const found: GrantRow[] = []
    for (const [minute, waiting] of due) {
      if (minute > minuteOf(at)) continue
      for (const grant of waiting) {
        if (found.length >= limit) return found
        // A grant whose last expiry lies in the minute of `at`, but not before `at`, is left for a later call.
        if (grant.lastExpiry < at || grant.dueMinute < minuteOf(grant.lastExpiry)) found.push(grant)
      }
    }
    return found
  }

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
          refreshedAt: latest(...tokens.map(({ token }) => token.issuedAt))
        }))
        .sort(
          (a, b) =>
            milliseconds(b.grant.beganAt) - milliseconds(a.grant.beganAt) ||
            milliseconds(b.refreshedAt) - milliseconds(a.refreshedAt)
        )
      return { open: open.slice(0, limit), count: open.length }
    },

    async revoke(id) {
      const grant = grants.get(id)
      if (grant === undefined || !isLive(grant)) return false
      grant.revoked = true
      return true
    },

    async removeExpired(at, limit) {
      const found = takeDue(at.getTime(), limit)
      for (const grant of found) {
        if (grant.lastExpiry < at.getTime()) {
          removeGrant(tables, grant)
        } else {
          // A grant is moved here and not when a token is stored under it: most grants are looked at once per refresh
          // token at most.
          unschedule(tables, grant)
          schedule(tables, grant)
        }
      }
      if (found.length === limit) await pause()
      return found.length
    }
  }
}

const isGood = ({ token, accessEnded, spent }: TokenRow, at: Date): boolean =>
  (!accessEnded && token.expiresAt > at) ||
  (spent === undefined && token.refreshExpiresAt !== undefined && token.refreshExpiresAt > at)

const latest = (...instants: readonly Date[]): Date => new Date(Math.max(...instants.map(milliseconds)))

/** Of an instant that is not known it is that before all others. */
const milliseconds = (instant: Date | undefined): number => instant?.getTime() ?? Number.MIN_SAFE_INTEGER
