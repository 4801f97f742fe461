import type { Driver, Run } from './driver.js'
import { StatementError, translate, unavailable } from './errors.js'
import { createHosts, type HostsOptions } from './hosts.js'
import { type Lane, openLane } from './lane.js'
import { closing, createPool } from './pool.js'
import { createTimeouts, type Timeouts } from './timeouts.js'

/** How a PostgreSQL server is reached. */
export interface ServerOptions extends HostsOptions {
  /**
   * The number of connections to the server, at least 1. If there are two or more, one of them is for look-ups alone,
   * unless `prepare` is false.
   */
  readonly pool: number
  /** False behind a transaction-mode pooler such as PgBouncer. */
  readonly prepare: boolean
}

/**
 * How long a statement may take, including its wait for a connection. A request has five seconds for all its
 * statements.
 */
const DEADLINE = createTimeouts(4000)
const PATIENT_DEADLINE = createTimeouts(600_000)

/**
 * Connects when the first statement is sent, and again after a connection was lost. While the server is down, only the
 * statements fail.
 */
export const connectServer = (url: string, options: ServerOptions): Driver => {
  const { pool: size, prepare } = options
  const hosts = createHosts(url, options)
  // An unprepared statement must wait for the answer to the one before it, so on one connection the look-ups would
  // queue up.
  const pipelines = prepare && size > 1
  const writers = pipelines ? size - 1 : size
  const pool = createPool(writers, () => openLane(hosts, { prepare, lookups: false }))

  // One connection on which a statement is sent without waiting for the answer to the one before it: 1.86 times the
  // rate of a pool.
  let reader: Lane | undefined
  let closed = false
  const pipelined: Run = (text, values) =>
    new Promise((resolve, reject) => {
      const limited = limit(DEADLINE, resolve, reject)
      if (closed) return limited.reject(closing())
      if (reader === undefined || reader.lost) reader = openLane(hosts, { prepare, lookups: true })
      reader.send({ text, values, resolve: limited.resolve, reject: limited.reject })
    })

  const write: Run = (text, values) =>
    within(DEADLINE, () => pool.use(text, DEADLINE.milliseconds, lane => lane.run(text, values)))

  return {
    read: pipelines ? pipelined : write,
    write,
    writers,
    probe: (text, values) =>
      within(DEADLINE, () => pool.useUrgently(DEADLINE.milliseconds, lane => lane.run(text, values))),
    transaction: (name, work, { patient } = { patient: false }) => {
      const deadline = patient ? PATIENT_DEADLINE : DEADLINE
      return within(deadline, () => pool.use(name, deadline.milliseconds, lane => transact(lane, patient, work)))
    },
    connections: () => ({ ...pool.connections(), lookups: reader === undefined || reader.lost ? 0 : 1 }),

    async close() {
      closed = true
      await Promise.all([reader?.end(), pool.close()])
    }
  }
}

const transact = async <T>(lane: Lane, patient: boolean, work: (run: Run) => Promise<T>): Promise<T> => {
  const run: Run = (text, values) => lane.run(text, values, patient ? PATIENT_DEADLINE : undefined)
  // Read committed: the second statement of a transaction sees what others have committed during the first one. `begin`
  // has the usual time limit even for patient work: no call waits long for a server that does not even begin.
  await lane.run('begin isolation level read committed', [])
  try {
    if (patient) {
      await run(`set local statement_timeout = ${PATIENT_DEADLINE.milliseconds}`, [])
      await run('set local lock_timeout = 0', [])
    }
    const result = await work(run)
    await run('commit', [])
    return result
  } catch (error) {
    await run('rollback', []).catch(() => lane.drop())
    throw error
  }
}

const within = <T>(deadline: Timeouts, work: () => Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const limited = limit(deadline, resolve, reject)
    work().then(limited.resolve, limited.reject)
  })

interface Limited<T> {
  readonly resolve: (result: T) => void
  readonly reject: (reason: unknown) => void
}

/** Lets `reject` be called when the time is over. Settles with translated errors. */
const limit = <T>(deadline: Timeouts, resolve: (result: T) => void, reject: (reason: unknown) => void): Limited<T> => {
  const end = deadline.begin(() => {
    reject(unavailable(new StatementError(`no answer within ${deadline.milliseconds} ms`, undefined)))
  })
  return {
    resolve: result => {
      end()
      resolve(result)
    },
    reject: error => {
      end()
      reject(translate(error))
    }
  }
}
