import type { Logger } from 'pino'
import { DomainError, type UseCases } from '../../core/index.js'

export interface BackgroundJobs {
  /** Ends the jobs. Resolves once none of them is running, or after nine seconds. */
  stop(): Promise<void>
}

/** By a sweep twice a minute, the nonce of a spent refresh token is erased within a minute of the end of its grace. */
const SWEEP_SECONDS = 30
const CLOCK_SECONDS = 60
/** By how many seconds this machine's clock may differ from the database's before an operator is told. */
const CLOCK_TOLERANCE_SECONDS = 5
/** As long as the drain takes at most: a job may wait minutes for a table that is locked. */
const STOP_MILLISECONDS = 9000

/**
 * Starts housekeeping and the look at the clocks, at once and then at intervals. A failure is logged, of an outage the
 * first one, and the next turn tries again. `offsetSeconds` tells by how much the database's clock is ahead of this
 * machine's, if it has one.
 */
export const startBackgroundJobs = (
  useCases: Pick<UseCases, 'sweep'>,
  offsetSeconds: () => number | undefined,
  log: Pick<Logger, 'warn'>
): BackgroundJobs => {
  const stopping = new AbortController()
  let isOff = false
  const lookAtClocks = async (): Promise<void> => {
    const offset = offsetSeconds() ?? 0
    const wasOff = isOff
    isOff = Math.abs(offset) > CLOCK_TOLERANCE_SECONDS
    if (isOff && !wasOff) log.warn({ offsetSeconds: offset }, "this machine's clock and the database's differ")
  }
  const jobs = [
    every(SWEEP_SECONDS, stopping.signal, log, () => useCases.sweep(stopping.signal)),
    every(CLOCK_SECONDS, stopping.signal, log, lookAtClocks)
  ]
  return {
    async stop() {
      stopping.abort()
      const limit = new Promise<void>(resolve => setTimeout(resolve, STOP_MILLISECONDS).unref())
      await Promise.race([Promise.all(jobs.map(idle => idle())), limit])
    }
  }
}

/** Returns what waits until `work` is not running. */
const every = (
  seconds: number,
  signal: AbortSignal,
  log: Pick<Logger, 'warn'>,
  work: () => Promise<void>
): (() => Promise<void>) => {
  let running: Promise<void> | undefined
  let isAway = false
  const runOnce = async (): Promise<void> => {
    try {
      await work()
      isAway = false
    } catch (error) {
      const wasAway = isAway
      isAway = error instanceof DomainError && error.code === 'unavailable'
      if (!isAway || !wasAway) log.warn(error, 'a background job failed')
    }
  }
  const turn = (): void => {
    // Turns of one job never overlap: a turn that comes while the one before it is under way is left out.
    running ??= runOnce().finally(() => {
      running = undefined
    })
  }
  turn()
  const timer = setInterval(turn, seconds * 1000)
  timer.unref()
  signal.addEventListener('abort', () => clearInterval(timer))
  return async () => running
}
