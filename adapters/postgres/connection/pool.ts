import { isLocked, isRolledBack, StatementError, unavailable } from './errors.js'
import type { Lane } from './lane.js'

export interface Pool {
  /**
   * Runs `work` on a connection that nobody else uses meanwhile, and again after what PostgreSQL rolled back for others'
   * sake (40001, 40P01). After `milliseconds` without a connection it is not begun any more. `name` is the same for all
   * that locks the same tables.
   */
  use<T>(name: string, milliseconds: number, work: (lane: Lane) => Promise<T>): Promise<T>
  close(): Promise<void>
}

interface Waiting {
  readonly name: string
  readonly until: number
  take(lane: Lane): void
  reject(reason: unknown): void
}

const TRIES = 3

/**
 * At most `size` connections, opened when they are needed. What found something locked may have half of them, until one of
 * its name succeeds: the other half serves those who need nothing that is locked.
 */
export const createPool = (size: number, open: () => Lane): Pool => {
  let closed = false
  const idle: Lane[] = []
  /** With whether they count as {@link locked}. */
  const busy = new Map<Lane, boolean>()
  let waiting: Waiting[] = []
  /** The names of what found something locked. */
  const locked = new Set<string>()
  const share = Math.max(1, Math.floor(size / 2))
  let lockedBusy = 0

  const mayGo = (name: string): boolean => busy.size < size && (lockedBusy < share || !locked.has(name))

  const claim = (name: string): Lane => {
    const last = idle.pop()
    const lane = last === undefined || last.lost ? open() : last
    busy.set(lane, locked.has(name))
    if (locked.has(name)) lockedBusy += 1
    return lane
  }

  const acquire = (name: string, milliseconds: number): Promise<Lane> =>
    new Promise((take, reject) => {
      if (closed) reject(closing())
      else if (mayGo(name)) take(claim(name))
      else waiting.push({ name, until: performance.now() + milliseconds, take, reject })
    })

  const release = (lane: Lane): void => {
    if (busy.get(lane)) lockedBusy -= 1
    busy.delete(lane)
    idle.push(lane)
    const now = performance.now()
    waiting = waiting.filter(({ name, until, take }) => {
      // Whoever waited too long has been told so, and wants nothing to happen any more.
      if (until <= now) return false
      if (!mayGo(name)) return true
      take(claim(name))
      return false
    })
  }

  return {
    async use(name, milliseconds, work) {
      const lane = await acquire(name, milliseconds)
      try {
        const result = await again(TRIES, () => work(lane))
        locked.delete(name)
        release(lane)
        return result
      } catch (error) {
        if (isLocked(error)) locked.add(name)
        release(lane)
        throw error
      }
    },

    async close() {
      closed = true
      for (const { reject } of waiting.splice(0)) reject(closing())
      await Promise.all([...idle, ...busy.keys()].map(lane => lane.end()))
    }
  }
}

export const closing = (): Error => unavailable(new StatementError('the database is closed', 'CONNECTION_ENDED'))

/** Tries again what PostgreSQL has rolled back. Never what a lost connection left open: that may have happened. */
const again = async <T>(tries: number, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (tries > 1 && isRolledBack(error)) return again(tries - 1, work)
    throw error
  }
}
