import type { Connection } from './connection.js'
import { isLocked, isRolledBack, retrying, StatementError, unavailable } from './errors.js'

/** What a connection is wanted for. */
export interface Call {
  /** Calls that lock the same tables have the same name. */
  readonly name: string
  /** How long the call may take, in milliseconds. Whoever asks has a deadline of its own, and has its answer by then. */
  readonly milliseconds: number
  /** True for a call that waits behind no other. */
  readonly urgent?: boolean
}

export type Pool = ReturnType<typeof createPool>

interface Waiting {
  readonly name: string
  readonly until: number
  take(connection: Connection): void
  reject(reason: unknown): void
}

/**
 * At most `size` connections, opened when they are needed. A call that finds something locked (55P03) puts its name among
 * the locked ones, until a call of that name succeeds. All calls with locked names together get half of the connections at
 * most: the other half serves calls that need nothing locked.
 */
export const createPool = (size: number, open: () => Connection) => {
  let closed = false
  const idle: Connection[] = []
  /** The connections in use, each with the name of its call. */
  const busy = new Map<Connection, string>()
  let waiting: Waiting[] = []
  /** The names of calls that found something locked. */
  const locked = new Set<string>()
  const mostForLocked = Math.max(1, Math.floor(size / 2))

  const hasConnectionFor = (name: string): boolean => {
    if (busy.size >= size) return false
    return !locked.has(name) || [...busy.values()].filter(each => locked.has(each)).length < mostForLocked
  }

  const claim = (name: string): Connection => {
    const last = idle.pop()
    const connection = last === undefined || last.lost ? open() : last
    busy.set(connection, name)
    return connection
  }

  const waitForConnection = ({ name, urgent }: Call, until: number): Promise<Connection> =>
    new Promise((take, reject) => {
      const call = { name, until, take, reject }
      // Those whose time is over have had their answer. While no call ends, `release` does not drop them.
      if (waiting.length % 1000 === 999) waiting = waiting.filter(({ until }) => until > performance.now())
      if (urgent) waiting.unshift(call)
      else waiting.push(call)
    })

  const release = (connection: Connection): void => {
    busy.delete(connection)
    idle.push(connection)
    const now = performance.now()
    waiting = waiting.filter(({ name, until, take }) => {
      if (until <= now) return false
      if (!hasConnectionFor(name)) return true
      take(claim(name))
      return false
    })
  }

  return {
    /**
     * Runs `work` on a connection that no other call uses meanwhile, and again when PostgreSQL rolled it back because of
     * others (40001, 40P01). If there is no open connection in time, `work` never begins.
     */
    async use<T>(call: Call, work: (connection: Connection) => Promise<T>): Promise<T> {
      if (closed) throw closing()
      const { name } = call
      const until = performance.now() + call.milliseconds
      const connection = hasConnectionFor(name) ? claim(name) : await waitForConnection(call, until)
      try {
        await connection.ready()
        if (performance.now() >= until) throw tooLate()
        // Not after a lost connection: the work may have taken effect.
        const result = await retrying(isRolledBack, () => work(connection))
        locked.delete(name)
        release(connection)
        return result
      } catch (error) {
        if (isLocked(error)) locked.add(name)
        release(connection)
        throw error
      }
    },

    connections: () => ({ busy: busy.size, idle: idle.filter(({ lost }) => !lost).length }),

    async close(): Promise<void> {
      closed = true
      for (const { reject } of waiting.splice(0)) reject(closing())
      await Promise.all([...idle, ...busy.keys()].map(connection => connection.end()))
    }
  }
}

const closing = (): Error => unavailable(new StatementError('the database is closed', 'CONNECTION_ENDED'))

/** For a call that has not begun in its time. */
export const tooLate = (): Error => unavailable(new StatementError('no connection in time', 'CONNECT_TIMEOUT'))
