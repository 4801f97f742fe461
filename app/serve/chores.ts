import type { Logger } from 'pino'
import { DomainError, type UseCases } from '../../core/index.js'
import type { Database } from '../database.js'

/** By how many seconds this machine's clock may differ from the database's before an operator is told. */
const CLOCK_TOLERANCE_SECONDS = 5

export interface Chores {
  /** Ends the chores. Resolves once none of them is running, or after nine seconds. */
  stop(): Promise<void>
}

/** By a sweep twice a minute, the nonce of a spent refresh token is erased within a minute of the end of its grace. */
const SWEEP_SECONDS = 30
const CLOCK_SECONDS = 60
/** As long as the drain takes at most: a chore may wait minutes for a table that is locked. */
const STOP_MILLISECONDS = 9000

/**
 * Starts housekeeping and the comparison of clocks, at once and then at intervals. A failure is logged, of an outage the
 * first one, and the next turn tries again.
 */
export const startChores = (
  useCases: Pick<UseCases, 'sweep'>,
  database: Pick<Database, 'clock'>,
  log: Pick<Logger, 'warn'>
): Chores => {
  const stopping = new AbortController()
  const chores = [
    every(SWEEP_SECONDS, stopping.signal, log, () => useCases.sweep(stopping.signal)),
    every(CLOCK_SECONDS, stopping.signal, log, () => compareClocks(database, log))
  ]
  return {
    async stop() {
      stopping.abort()
      const limit = new Promise<void>(resolve => setTimeout(resolve, STOP_MILLISECONDS).unref())
      await Promise.race([Promise.all(chores.map(chore => chore.idle())), limit])
    }
  }
}

interface Chore {
  idle(): Promise<void>
}

const every = (seconds: number, signal: AbortSignal, log: Pick<Logger, 'warn'>, work: () => Promise<void>): Chore => {
  let running: Promise<void> | undefined
  let isAway = false
  const runOnce = async (): Promise<void> => {
    try {
      await work()
      isAway = false
    } catch (error) {
      const wasAway = isAway
      isAway = error instanceof DomainError && error.code === 'unavailable'
      if (!isAway || !wasAway) log.warn(error, 'a background chore failed')
    }
  }
  const turn = (): void => {
    // Turns of one chore never overlap: a turn that comes while the one before it is under way is left out.
    running ??= runOnce().finally(() => {
      running = undefined
    })
  }
  turn()
  const timer = setInterval(turn, seconds * 1000)
  timer.unref()
  signal.addEventListener('abort', () => clearInterval(timer))
  return { idle: async () => running }
}

/**
 * Warns when this machine's clock is more than {@link CLOCK_TOLERANCE_SECONDS} off the database's. Each instance issues
 * and judges tokens by its own clock, so an instance whose clock is far off accepts tokens that the others refuse, or
 * the reverse.
 */
const compareClocks = async (database: Pick<Database, 'clock'>, log: Pick<Logger, 'warn'>): Promise<void> => {
  const offSeconds = database.clock?.offsetSeconds() ?? 0
  if (Math.abs(offSeconds) > CLOCK_TOLERANCE_SECONDS) {
    log.warn({ offSeconds }, "this machine's clock and the database's differ")
  }
}
