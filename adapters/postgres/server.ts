import type { Driver, Run } from './driver.js'
import { isRolledBack, StatementError, translate, unavailable } from './errors.js'
import { type Lane, openLane } from './lane.js'
import { createTimeouts, type Timeouts } from './timeouts.js'

export interface ServerOptions {
  /** How many connections writes and lists share; look-ups have one more of their own. */
  readonly pool: number
  /** False behind a transaction-mode pooler such as PgBouncer. */
  readonly prepare: boolean
}

/** Every answer is there within five seconds, and these are not all that a request waits for. */
const DEADLINE = createTimeouts(4000)
const PATIENT_DEADLINE = createTimeouts(600_000)
const TRIES = 3

/** Connects when asked for the first time, and again whenever a connection was lost: that a server is away is no reason to fail here. */
export const connectServer = (url: string, { pool, prepare }: ServerOptions): Driver => {
  let closed = false
  const open = (lookups: boolean): Lane => {
    if (closed) throw unavailable(new StatementError('the database is closed', 'CONNECTION_ENDED'))
    return openLane(url, { prepare, lookups })
  }

  // One connection, on which statements follow each other without waiting for answers: 1.86 times the rate of a pool.
  let reader = open(true)
  const pipelined: Run = (text, values) =>
    within(DEADLINE, async () => {
      if (reader.lost) reader = open(true)
      return reader.run(text, values)
    })

  const idle: Lane[] = []
  const busy = new Set<Lane>()
  const waiting: { readonly until: number; readonly take: (lane: Lane) => void }[] = []

  /** A connection that nobody else uses meanwhile. */
  const acquire = (deadline: Timeouts): Promise<Lane> | Lane => {
    if (busy.size < pool) return claim(idle.pop())
    return new Promise(take => waiting.push({ until: performance.now() + deadline.milliseconds, take }))
  }
  const claim = (lane: Lane | undefined): Lane => {
    const usable = lane === undefined || lane.lost ? open(false) : lane
    busy.add(usable)
    return usable
  }
  const release = (lane: Lane): void => {
    busy.delete(lane)
    let next = waiting.shift()
    // Whoever was answered meanwhile wants no write any more.
    while (next !== undefined && next.until < performance.now()) next = waiting.shift()
    if (next !== undefined && !closed) next.take(claim(lane))
    else idle.push(lane)
  }

  const exclusively = <T>(deadline: Timeouts, work: (lane: Lane) => Promise<T>): Promise<T> =>
    within(deadline, async () => {
      const lane = await acquire(deadline)
      try {
        return await again(TRIES, () => work(lane))
      } finally {
        release(lane)
      }
    })

  const write: Run = (text, values) => exclusively(DEADLINE, lane => lane.run(text, values))

  return {
    // Unprepared statements cannot follow each other without waiting, and would stand in line on one connection.
    read: prepare ? pipelined : write,
    write,
    transaction: (work, { patient } = { patient: false }) =>
      exclusively(patient ? PATIENT_DEADLINE : DEADLINE, lane => transact(lane, patient, work)),
    async close() {
      closed = true
      await Promise.all([reader, ...idle, ...busy].map(lane => lane.end()))
    }
  }
}

const transact = async <T>(lane: Lane, patient: boolean, work: (run: Run) => Promise<T>): Promise<T> => {
  const run: Run = (text, values) => lane.run(text, values, patient ? PATIENT_DEADLINE : undefined)
  // The second statement of a transaction sees what others have committed during the first. No patience with a
  // server that does not even begin.
  await lane.run('begin isolation level read committed', [])
  try {
    if (patient) await run(`set local statement_timeout = ${PATIENT_DEADLINE.milliseconds}`, [])
    const result = await work(run)
    await run('commit', [])
    return result
  } catch (error) {
    await run('rollback', []).catch(() => lane.drop())
    throw error
  }
}

/** Tries again what PostgreSQL has rolled back. Never what a lost connection left open: that may have happened. */
const again = async <T>(tries: number, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (tries > 1 && isRolledBack(error)) return again(tries - 1, work)
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
