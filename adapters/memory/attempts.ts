import { secondsAfter } from '../../core/instants.js'
import type { Digest } from '../../core/model.js'
import type { AttemptStore } from '../../core/ports.js'
import { pause } from './tables.js'

/** Instants are in milliseconds. */
interface Window {
  count: number
  failures: number
  countedAt: number
  readonly endsAt: number
}

export const createAttemptStore = (): AttemptStore => {
  const windows = new Map<Digest, Window>()
  /** Until when each login is known, in milliseconds. Those that were stored last come last. */
  const known = new Map<Digest, number>()

  const currentWindow = (key: Digest, at: Date): Window | undefined => {
    const window = windows.get(key)
    return window && at.getTime() < window.endsAt ? window : undefined
  }

  const beginWindow = (key: Digest, at: Date, seconds: number): Window => {
    const endsAt = secondsAfter(at, seconds).getTime()
    const window: Window = { count: 0, failures: 0, countedAt: at.getTime(), endsAt }
    // `delete` before `set` puts the key at the end of the map: windows lie in the order in which they began, so
    // that those that have ended come first and `removeExpired` finds them soon.
    windows.delete(key)
    windows.set(key, window)
    return window
  }

  return {
    async take(limits, at, windowSeconds) {
      const full = limits.flatMap(({ key, most }) => {
        const window = currentWindow(key, at)
        if (window === undefined || window.count < most) return []
        const { endsAt, countedAt, failures } = window
        return [{ key, endsAt: new Date(endsAt), countedAt: new Date(countedAt), failures }]
      })
      if (full.length > 0) return full
      for (const { key } of limits) {
        const window = currentWindow(key, at) ?? beginWindow(key, at, windowSeconds)
        window.count += 1
        window.countedAt = at.getTime()
      }
      return undefined
    },

    async fail(keys) {
      for (const key of keys) {
        const window = windows.get(key)
        if (window !== undefined) window.failures = Math.min(window.failures + 1, window.count)
      }
    },

    async giveBack(counted, cleared, login) {
      for (const key of counted) {
        const window = windows.get(key)
        if (window !== undefined && --window.count === 0) windows.delete(key)
      }
      if (cleared !== undefined) windows.delete(cleared)
      if (login !== undefined) {
        const until = Math.max(login.until.getTime(), known.get(login.key) ?? 0)
        known.delete(login.key)
        known.set(login.key, until)
      }
    },

    async findKnown(key) {
      const until = known.get(key)
      return until === undefined ? undefined : new Date(until)
    },

    async removeExpired(at, limit) {
      const ended = removeBefore(windows, window => window.endsAt, at, limit)
      const removed = ended + removeBefore(known, until => until, at, limit - ended)
      if (removed === limit) await pause()
      return removed
    }
  }
}

const removeBefore = <T>(map: Map<Digest, T>, endOf: (value: T) => number, at: Date, limit: number): number => {
  let removed = 0
  for (const [key, value] of map) {
    if (removed >= limit) break
    if (endOf(value) >= at.getTime()) continue
    map.delete(key)
    removed += 1
  }
  return removed
}
