import type { Logger } from 'pino'
import { CLOCK_TOLERANCE_SECONDS, type UseCases } from '../../core/index.js'
import type { Database } from '../compose.js'

export interface Chores {
  /** Resolves when nothing runs any more. */
  stop(): Promise<void>
}

/** Twice a minute: a nonce that no clock needs any more is erased within a minute of the grace's end. */
const SWEEP_SECONDS = 30
const CLOCK_SECONDS = 60

/** Housekeeping and the comparison of clocks, at once and then in the background. A failure is logged and tried again at the next turn. */
export const startChores = (
  useCases: Pick<UseCases, 'sweep'>,
  database: Pick<Database, 'now'>,
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
      await Promise.all(chores.map(chore => chore.idle()))
    }
  }
}

interface Chore {
  idle(): Promise<void>
}

const every = (seconds: number, signal: AbortSignal, log: Pick<Logger, 'warn'>, work: () => Promise<void>): Chore => {
  let running = Promise.resolve()
  const turn = (): void => {
    // A turn that is still under way is not doubled: the next one waits for it.
    running = running.then(work).catch((error: unknown) => log.warn(error, 'a background chore failed'))
  }
  turn()
  const timer = setInterval(turn, seconds * 1000)
  timer.unref()
  signal.addEventListener('abort', () => clearInterval(timer))
  return { idle: () => running }
}

/** Tokens are issued and judged by each instance's own clock: one that is far off opens and refuses what the others do not. */
const compareClocks = async (database: Pick<Database, 'now'>, log: Pick<Logger, 'warn'>): Promise<void> => {
  const before = Date.now()
  const theirs = await database.now()
  const after = Date.now()
  const offSeconds = (theirs.getTime() - (before + after) / 2) / 1000
  if (Math.abs(offSeconds) > CLOCK_TOLERANCE_SECONDS) {
    log.warn({ offSeconds }, "this machine's clock and the database's differ")
  }
}
