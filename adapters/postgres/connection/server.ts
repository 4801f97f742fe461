import type { Driver, Run } from './driver.js'
import { StatementError, translate, unavailable } from './errors.js'
import { type Lane, type LaneOptions, openLane } from './lane.js'
import { closing, createPool } from './pool.js'
import { createTimeouts, type Timeouts } from './timeouts.js'

export interface ServerOptions extends Pick<LaneOptions, 'hosts'> {
  /** Connections to the server, from 1. One of two or more is for look-ups alone. */
  readonly pool: number
  /** False behind a transaction-mode pooler such as PgBouncer. */
  readonly prepare: boolean
}

/** What a statement may take together with its wait for a connection. A request has five seconds, for all that it asks. */
const DEADLINE = createTimeouts(4000)
const PATIENT_DEADLINE = createTimeouts(600_000)

/** Connects when asked for the first time, and again whenever a connection was lost: that a server is away is no reason to fail here. */
export const connectServer = (url: string, { pool: size, prepare, hosts }: ServerOptions): Driver => {
  // Unprepared statements cannot follow each other without waiting, and would stand in line on one connection.
  const pipelines = prepare && size > 1
  const pool = createPool(pipelines ? size - 1 : size, () => openLane(url, { hosts, prepare, lookups: false }))

  // One connection, on which statements follow each other without waiting for answers: 1.86 times the rate of a pool.
  let reader: Lane | undefined
  let closed = false
  const pipelined: Run = (text, values) =>
    within(DEADLINE, async () => {
      if (closed) throw closing()
      if (reader === undefined || reader.lost) reader = openLane(url, { hosts, prepare, lookups: true })
      return reader.run(text, values)
    })

  const write: Run = (text, values) =>
    within(DEADLINE, () => pool.use(text, DEADLINE.milliseconds, lane => lane.run(text, values)))

  return {
    read: pipelines ? pipelined : write,
    write,
    transaction: (name, work, { patient } = { patient: false }) => {
      const deadline = patient ? PATIENT_DEADLINE : DEADLINE
      return within(deadline, () => pool.use(name, deadline.milliseconds, lane => transact(lane, patient, work)))
    },
    async close() {
      closed = true
      await Promise.all([reader?.end(), pool.close()])
    }
  }
}

const transact = async <T>(lane: Lane, patient: boolean, work: (run: Run) => Promise<T>): Promise<T> => {
  const run: Run = (text, values) => lane.run(text, values, patient ? PATIENT_DEADLINE : undefined)
  // The second statement of a transaction sees what others have committed during the first. No patience with a
  // server that does not even begin.
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
    const end = deadline.begin(() => {
      reject(unavailable(new StatementError(`no answer within ${deadline.milliseconds} ms`, undefined)))
    })
    work().then(
      result => {
        end()
        resolve(result)
      },
      (error: unknown) => {
        end()
        reject(translate(error))
      }
    )
  })
