import { orConnectTimeout } from './limits.js'
import type { Client } from './postgres-js.js'

/** Whether a pooler gives a connection one backend for good, or for one transaction at a time. */
export type Pooling = 'session' | 'transaction'

/** The code of the error with which a pooler is refused that loses prepared statements between two transactions. */
export const STATEMENTS_LOST = 'PREPARED_STATEMENTS_LOST'

/** A pooler hands out the backend that was used last, as a rule: so one round tells, unless others use it as well. */
const ROUNDS = 3

/** A parameter makes postgres.js prepare it. */
const BACKEND = 'select pg_backend_pid() + $1::int'

/**
 * Finds out how a pooler works: while `other`, which it opens and ends, keeps a backend inside a transaction, the next
 * statement of `client`, which has just used a backend, gets another one, unless each has its own. Rejects with
 * {@link STATEMENTS_LOST} when that backend does not have the prepared statement, or when there is no other backend within
 * `limit` milliseconds. It also rejects when any other of its statements takes longer than that.
 */
export const findPooling = async (client: Client, other: Client, limit: number): Promise<Pooling> => {
  const onOther = (statement: string): Promise<unknown> => orConnectTimeout(limit, other.run(statement))
  try {
    try {
      await onOther('select')
    } catch (error) {
      // In transaction mode the backend that `client` does not need would have been given to `other`.
      if (Object(error).code === 'CONNECT_TIMEOUT') return 'session'
      throw error
    }
    let prepared: string | undefined
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = await askPrepared(client, limit, prepared)
      prepared = before.name
      await onOther('begin')
      await onOther('select')
      const after = await askPrepared(client, limit, prepared)
      await onOther('rollback')
      if (before.backend !== after.backend) return 'transaction'
    }
    return 'session'
  } finally {
    other.destroy()
  }
}

/** `expected`: the name of the statement. postgres.js gives it another name when it has to prepare it once more. */
const askPrepared = async (client: Client, limit: number, expected: string | undefined) => {
  try {
    const { rows, name } = await orConnectTimeout(limit, client.run(BACKEND, [0]))
    if (name !== (expected ?? name)) throw statementsLost()
    return { backend: rows[0]?.[0], name }
  } catch (error) {
    throw LOST.test(String(Object(error).code)) ? statementsLost() : error
  }
}

/** What a pooler or the backend answers to a prepared statement that it does not have, or does not know at all, or never. */
const LOST = /^(?:08P01|0A000|26000|42P05|CONNECT_TIMEOUT)$/

const statementsLost = (): Error =>
  Object.assign(new Error('a pooler is in between that loses prepared statements, as in transaction mode'), {
    code: STATEMENTS_LOST
  })
