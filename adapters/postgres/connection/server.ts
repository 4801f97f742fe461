import { createDatabaseClock } from './clock.js'
import { type Connection, openConnection } from './connection.js'
import type { Driver, Observer, Run } from './driver.js'
import { StatementError, translate, unavailable } from './errors.js'
import { createHosts, type HostsOptions } from './hosts.js'
import { LIMITS, within } from './limits.js'
import { type Call, createPool, type Pool, tooLate } from './pool.js'

/** How a PostgreSQL server is reached. */
export interface ServerOptions extends HostsOptions, Pick<Observer, 'onWait' | 'onStatement'> {
  /** The number of connections to the server, at least 1. If there are two or more, some of them are for look-ups alone. */
  readonly pool: number
  /** False behind a transaction-mode pooler such as PgBouncer. */
  readonly prepare: boolean
}

/** Of so many connections, this many are for look-ups alone: three of the usual ten. */
const lookupsOf = (size: number): number => (size === 1 ? 0 : Math.min(3, Math.max(1, Math.floor(size / 3))))

/**
 * Connects when the first statement is sent, and again after a connection was lost. While the server is down, only the
 * statements fail.
 */
export const connectServer = (url: string, options: ServerOptions): Driver => {
  const { pool: size, prepare, onWait, onStatement } = options
  const hosts = createHosts(url, options)
  const clock = createDatabaseClock(() =>
    forLookups.use({ name: 'clock', milliseconds: LIMITS.call, urgent: true }, connection =>
      clock.read(statement => connection.run(statement, []))
    )
  )
  const createPoolOf = (count: number, lookups: boolean): Pool =>
    createPool(count, () => openConnection(hosts, { prepare, lookups, readClock: clock.read, onStatement }))

  const lookups = lookupsOf(size)
  const forOthers = createPoolOf(size - lookups, false)
  const forLookups = lookups > 0 ? createPoolOf(lookups, true) : forOthers
  /** Rejects when the time is over, and with translated errors. With the code `CONNECT_TIMEOUT` the work has not begun. */
  const useInTime = <T>(pool: Pool, call: Call, work: (connection: Connection) => Promise<T>): Promise<T> => {
    const askedAt = performance.now()
    let begun = false
    const noteWait = (): void => {
      if (!begun) onWait?.((performance.now() - askedAt) / 1000)
    }
    const begin = (connection: Connection): Promise<T> => {
      noteWait()
      begun = true
      return work(connection)
    }
    return within(call.milliseconds, pool.use(call, begin), () =>
      begun ? unavailable(new StatementError(`no answer within ${call.milliseconds} ms`)) : tooLate()
    ).catch((error: unknown) => {
      noteWait()
      throw translate(error)
    })
  }
  const runOn =
    (pool: Pool, urgent: boolean): Run =>
    (text, values) =>
      useInTime(pool, { name: text, milliseconds: LIMITS.call, urgent }, connection => connection.run(text, values))

  return {
    clock,
    lookUp: runOn(forLookups, false),
    query: runOn(forOthers, false),
    probe: runOn(forLookups, true),
    transaction: ({ name, patient = false, milliseconds = patient ? LIMITS.patient : LIMITS.call }, work) =>
      useInTime(forOthers, { name, milliseconds }, connection => transact(connection, patient, work)),
    backup: undefined,
    connections() {
      const { busy, idle } = forLookups.connections()
      return { ...forOthers.connections(), lookups: lookups > 0 ? busy + idle : 0 }
    },
    async close() {
      clock.close()
      await Promise.all([forLookups.close(), forOthers.close()])
    }
  }
}

const transact = async <T>(connection: Connection, patient: boolean, work: (run: Run) => Promise<T>): Promise<T> => {
  const run: Run = (text, values) => connection.run(text, values, patient ? LIMITS.patient : undefined)
  // Read committed: the second statement of a transaction sees what others have committed during the first one. `begin`
  // has the usual time limit even for patient work: no call waits long for a server that does not even begin.
  await connection.run('begin isolation level read committed', [])
  try {
    if (patient) {
      await run(`set local statement_timeout = ${LIMITS.patient}`, [])
      await run('set local lock_timeout = 0', [])
    }
    const result = await work(run)
    await run('commit', [])
    return result
  } catch (error) {
    await run('rollback', []).catch(() => connection.drop())
    throw error
  }
}
