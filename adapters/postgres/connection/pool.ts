import type { Connections } from './driver.js'
import { isLocked, isRolledBack, StatementError, unavailable } from './errors.js'
import type { Lane } from './lane.js'

export interface Pool {
  /**
   * Runs `work` on a connection that no other call uses meanwhile, and again when PostgreSQL rolled it back because of
   * others (40001, 40P01). If no connection is free for `milliseconds`, `work` never begins and the promise stays
   * pending: the caller has a deadline of its own. Calls that lock the same tables have the same `name`.
   */
  use<T>(name: string, milliseconds: number, work: (lane: Lane) => Promise<T>): Promise<T>
  connections(): Pick<Connections, 'busy' | 'idle'>
  /**
   * Does as {@link use} and waits behind no call of `use`. Of three connections or more, one is free for such calls
   * alone.
   */
  useUrgently<T>(milliseconds: number, work: (lane: Lane) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** The calls of `useUrgently` are without a name. */
type Name = string | undefined

interface Waiting {
  readonly name: Name
  readonly until: number
  take(lane: Lane): void
  reject(reason: unknown): void
}

const TRIES = 3
/** With fewer connections, one that is kept free would be missed. */
const LEAST_WITH_RESERVE = 3

/**
 * At most `size` connections, opened when they are needed. After a call finds something locked (55P03), the calls with
 * its name get half of the connections at most, until one of them succeeds: the other half serves calls that need
 * nothing locked.
 */
export const createPool = (size: number, open: () => Lane): Pool => {
  let closed = false
  const idle: Lane[] = []
  /** The connections in use, each with whether it counts in `busyForLocked` and in `busyUrgently`. */
  const busy = new Map<Lane, { readonly locked: boolean; readonly urgent: boolean }>()
  let waiting: Waiting[] = []
  /** The names of calls that found something locked. */
  const locked = new Set<string>()
  /** How many connections such calls may use at once. */
  const mostForLocked = Math.max(1, Math.floor(size / 2))
  let busyForLocked = 0
  /** How many connections calls that are not urgent may use at once. */
  const mostForUsual = size >= LEAST_WITH_RESERVE ? size - 1 : size
  let busyUrgently = 0

  const isLockedOut = (name: Name): boolean => name !== undefined && locked.has(name)

  const hasConnectionFor = (name: Name): boolean => {
    if (busy.size >= size || name === undefined) return busy.size < size
    return busy.size - busyUrgently < mostForUsual && (busyForLocked < mostForLocked || !isLockedOut(name))
  }

  const claim = (name: Name): Lane => {
    const last = idle.pop()
    const lane = last === undefined || last.lost ? open() : last
    busy.set(lane, { locked: isLockedOut(name), urgent: name === undefined })
    if (isLockedOut(name)) busyForLocked += 1
    if (name === undefined) busyUrgently += 1
    return lane
  }

  /** Undefined when the call has to wait. */
  const acquireNow = (name: Name): Lane | undefined => {
    if (closed) throw closing()
    return hasConnectionFor(name) ? claim(name) : undefined
  }

  const waitForLane = (name: Name, milliseconds: number): Promise<Lane> =>
    new Promise((take, reject) => {
      const call = { name, until: performance.now() + milliseconds, take, reject }
      if (name === undefined) waiting.unshift(call)
      else waiting.push(call)
    })

  const release = (lane: Lane): void => {
    const use = busy.get(lane)
    if (use?.locked) busyForLocked -= 1
    if (use?.urgent) busyUrgently -= 1
    busy.delete(lane)
    idle.push(lane)
    const now = performance.now()
    waiting = waiting.filter(({ name, until, take }) => {
      // The caller has been answered `unavailable` by its own deadline, so its work must not begin.
      if (until <= now) return false
      if (!hasConnectionFor(name)) return true
      take(claim(name))
      return false
    })
  }

  return {
    async use(name, milliseconds, work) {
      const lane = acquireNow(name) ?? (await waitForLane(name, milliseconds))
      try {
        const result = await withRetries(TRIES, () => work(lane))
        locked.delete(name)
        release(lane)
        return result
      } catch (error) {
        if (isLocked(error)) locked.add(name)
        release(lane)
        throw error
      }
    },

    async useUrgently(milliseconds, work) {
      const lane = acquireNow(undefined) ?? (await waitForLane(undefined, milliseconds))
      return work(lane).finally(() => release(lane))
    },

    connections: () => ({ busy: busy.size, idle: idle.filter(lane => !lane.lost).length }),

    async close() {
      closed = true
      for (const { reject } of waiting.splice(0)) reject(closing())
      await Promise.all([...idle, ...busy.keys()].map(lane => lane.end()))
    }
  }
}

export const closing = (): Error => unavailable(new StatementError('the database is closed', 'CONNECTION_ENDED'))

/** Runs `work` again when PostgreSQL rolled it back, but not after a lost connection: then it may have taken effect. */
const withRetries = async <T>(tries: number, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (tries > 1 && isRolledBack(error)) return withRetries(tries - 1, work)
    throw error
  }
}
