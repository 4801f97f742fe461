import type { Logger } from 'pino'
import { DomainError, type UseCases } from '../../core/index.js'
import type { Database } from '../database.js'
import { MOST_OFFSET_SECONDS } from '../doctor/advice.js'

/** By a sweep twice a minute, the nonce of a spent refresh token is erased within a minute of the end of its grace. */
const SWEEP_MILLISECONDS = 30_000
const CLOCK_MILLISECONDS = 60_000
/** No longer than the drain: a sweep may take minutes. */
const STOP_MILLISECONDS = 9000

/**
 * Starts housekeeping and the look at the clocks, at once and then at intervals. A failure is logged, of an outage the
 * first one, and the next turn tries again. `onFailure` gets every one of the housekeeping. Returns what ends them: it
 * resolves once none is running, or after nine seconds.
 */
export const startBackgroundJobs = (
  useCases: Pick<UseCases, 'sweep'>,
  { clock }: Pick<Database, 'clock'>,
  log: Pick<Logger, 'warn'>,
  onFailure: (error: unknown) => unknown = () => {}
): (() => Promise<void>) => {
  const stopping = new AbortController()
  let sweeping: Promise<void> | undefined
  let isAway = false
  const sweepOnce = async (): Promise<void> => {
    try {
      await useCases.sweep(stopping.signal)
      isAway = false
    } catch (error) {
      const wasAway = isAway
      isAway = error instanceof DomainError && error.code === 'unavailable'
      if (!isAway || !wasAway) log.warn(error, 'a background job failed')
      onFailure(error)
    }
  }
  const sweep = (): void => {
    // Sweeps never overlap: a turn that comes while one is under way is left out.
    sweeping ??= sweepOnce().finally(() => {
      sweeping = undefined
    })
  }

  let isOff = false
  const lookAtClocks = (): void => {
    const offsetSeconds = clock?.offsetSeconds() ?? 0
    const wasOff = isOff
    isOff = Math.abs(offsetSeconds) > MOST_OFFSET_SECONDS
    if (isOff && !wasOff) log.warn({ offsetSeconds }, "this machine's clock and the database's differ")
  }

  sweep()
  lookAtClocks()
  const timers = [setInterval(sweep, SWEEP_MILLISECONDS).unref(), setInterval(lookAtClocks, CLOCK_MILLISECONDS).unref()]
  return async () => {
    for (const timer of timers) clearInterval(timer)
    stopping.abort()
    await Promise.race([sweeping, new Promise(resolve => setTimeout(resolve, STOP_MILLISECONDS).unref())])
  }
}
