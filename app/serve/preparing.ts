import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { AwayError } from '../compose.js'
import type { Stop } from './stop.js'

/** What an attempt to prepare the database came to: its result, or why there is none yet. */
export type Prepared<T> = { readonly result: T } | { readonly failure: AwayError }

/** Time as it is, or as a test lets it pass. In milliseconds. */
export interface Time {
  now(): number
  pass(milliseconds: number): Promise<unknown>
}

export const REAL_TIME: Time = {
  now: () => performance.now(),
  pass: milliseconds => sleep(milliseconds, undefined, { ref: false })
}

/** With a connection's two seconds, a database that comes is noticed within three. */
const PAUSE_MILLISECONDS = 500
const REMINDER_MILLISECONDS = 60_000

/** Rejects unless the database may become usable. `patient`: a server that refuses the service counts as one that may. */
export const tryToPrepare = async <T>(attempt: () => Promise<T>, patient: boolean): Promise<Prepared<T>> => {
  try {
    return { result: await attempt() }
  } catch (error) {
    if (error instanceof AwayError && (error.passes || patient)) return { failure: error }
    throw error
  }
}

/**
 * Tries again until the database can be used, and resolves with what the attempt that succeeds has come to. Undefined after a
 * signal. Logs why the database cannot be used, once and then once a minute, and the end of it. Rejects as `attempt` does.
 */
export const prepareLater = async <T>(
  first: Prepared<T>,
  attempt: () => Promise<Prepared<T>>,
  stop: Pick<Stop, 'asked'>,
  log: Pick<Logger, 'info' | 'warn'> | undefined,
  time = REAL_TIME
): Promise<T | undefined> => {
  const startedAt = time.now()
  const seconds = (): number => Math.round((time.now() - startedAt) / 1000)
  let prepared = first
  let reminders = 0
  while ('failure' in prepared) {
    const { fault, reason } = prepared.failure
    if (time.now() - startedAt >= reminders * REMINDER_MILLISECONDS) {
      reminders += 1
      const text = `the database ${fault}; meanwhile requests that need it are answered with 503`
      log?.warn({ seconds: seconds(), err: reason }, text)
    }
    await time.pass(PAUSE_MILLISECONDS)
    if (stop.asked()) return undefined
    prepared = await attempt()
  }
  if (prepared !== first) log?.info({ seconds: seconds() }, 'the database takes writes')
  return prepared.result
}
