import type postgres from 'postgres'
import { orConnectTimeout } from './connect-timeout.js'
import { neverResent } from './resending.js'
import { startTimer } from './timer.js'

/** Whether a pooler gives a connection one backend for good, or for one transaction at a time. */
export type Pooling = 'session' | 'transaction'

/** A connection beside the one that is looked at. */
interface Other {
  readonly opened: Promise<unknown>
  readonly client: postgres.Sql
}

/** The code of the error with which a pooler is refused that loses prepared statements between two transactions. */
export const STATEMENTS_LOST = 'PREPARED_STATEMENTS_LOST'

/** A pooler hands out the backend that was used last, as a rule: so one round tells, unless others use it as well. */
const ROUNDS = 3

/** A parameter makes postgres.js prepare it. */
const BACKEND = 'select pg_backend_pid() + $1::int'

/**
 * Finds out how a pooler works: while `other` keeps a backend inside a transaction, the next statement of `client`,
 * which has just used a backend, gets another one, unless each has its own. Rejects with {@link STATEMENTS_LOST} when
 * that backend does not have the prepared statement, or when there is no other backend within `seconds`. It also rejects
 * when any other of its statements takes longer than that.
 */
export const findPooling = async (client: postgres.Sql, other: Other, seconds: number): Promise<Pooling> => {
  try {
    await other.opened
  } catch (error) {
    // In transaction mode the backend that `client` does not need would have been given to `other`.
    if (Object(error).code === 'CONNECT_TIMEOUT') return 'session'
    throw error
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = await askPrepared(client, seconds)
    await orConnectTimeout(seconds, other.client.unsafe('begin; select'))
    const after = await askPrepared(client, seconds)
    await orConnectTimeout(seconds, other.client.unsafe('rollback'))
    if (before !== after) return 'transaction'
  }
  return 'session'
}

const askPrepared = (client: postgres.Sql, seconds: number): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const stop = startTimer(seconds * 1000, () => reject(statementsLost()))
    const statement = client.unsafe(BACKEND, [0], { prepare: true }).values()
    neverResent(statement, () => reject(statementsLost()))
    statement
      .then(
        ([row]) => resolve(row?.[0]),
        (error: unknown) => reject(LOST.test(String(Object(error).code)) ? statementsLost() : error)
      )
      .finally(stop)
  })

/** What a pooler or the backend answers to a prepared statement that it does not have, or does not know at all. */
const LOST = /^(?:08P01|0A000|26000|42P05)$/

const statementsLost = (): Error =>
  Object.assign(new Error('a pooler is in between that loses prepared statements, as in transaction mode'), {
    code: STATEMENTS_LOST
  })
