// Calls to a database that may be away.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../adapters/postgres/database.js'
import { at, someDigest } from '../contract/records.js'
import { startStopwatch } from './stopwatch.js'

export const UNAVAILABLE = { name: 'DomainError', code: 'unavailable', retryAfterSeconds: 1 }

/**
 * Calls for every way in which a statement is sent: on the connection for look-ups, over the pool, and in a
 * transaction.
 */
const calls = ({ stores }: Database): Promise<unknown>[] => [
  stores.heroes.find(1),
  stores.heroes.insert({ name: randomUUID() }),
  stores.users.list({}),
  stores.attempts.take([{ key: someDigest(), most: 10 }], at(0), 60)
]

/** What became of each of the {@link calls}: `served`, or the code of the error. */
export const settle = async (database: Database): Promise<unknown[]> => {
  const results = await Promise.allSettled(calls(database))
  return results.map(result => (result.status === 'fulfilled' ? 'served' : result.reason.code))
}

export const isServed = async (database: Database): Promise<boolean> =>
  (await settle(database)).every(outcome => outcome === 'served')

export const secondsUntil = async (condition: () => Promise<boolean>): Promise<number> => {
  const counted = startStopwatch()
  while (!(await condition())) await sleep(20)
  return counted()
}
