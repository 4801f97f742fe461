import { performance } from 'node:perf_hooks'
import { DomainError } from '../../core/errors.js'

/** Runs `work` in its turn. Rejects with `overloaded` when too many wait. */
export type Gate = <T>(work: () => Promise<T>) => Promise<T>

/**
 * How long a place rests after work, as a multiple of the time that the work took and of how busy the event loop has been of late:
 * hashes take memory and cores from what else is served.
 */
const REST = 6
/** Utilization of the event loop below which nothing rests. */
const IDLE = 0.3
/**
 * What the latest piece of work counts in that. A single one tells little: on a core that it shares with hashes, a loop that has
 * nothing to do seems half busy now and then, as waiting for the core counts as busy.
 */
const WEIGHT = 1 / 3
/** Milliseconds below which a rest is not worth a timer. */
const SHORTEST_REST = 2

/** Lets `concurrency` pieces of work run at once and `queue` more wait, first come, first served. */
export const createGate = (concurrency: number, queue: number): Gate => {
  const waiting: (() => void)[] = []
  let running = 0
  /** Utilization of the event loop beside the pieces of work, the latest counting most. */
  let busy = 0

  // The place is handed on, not freed: a newcomer cannot overtake whoever waits.
  const handOn = (): void => {
    const next = waiting.shift()
    if (next === undefined) running -= 1
    else next()
  }

  return async work => {
    if (running < concurrency) {
      running += 1
    } else {
      if (waiting.length >= queue) {
        throw new DomainError('overloaded', 'too many logins are waiting', { retryAfterSeconds: 1 })
      }
      await new Promise<void>(resolve => waiting.push(resolve))
    }
    const startedAt = performance.now()
    const loop = performance.eventLoopUtilization()
    try {
      return await work()
    } finally {
      const { utilization } = performance.eventLoopUtilization(loop)
      busy += WEIGHT * (utilization - busy)
      const rest = REST * busy * (performance.now() - startedAt)
      if (busy < IDLE || rest < SHORTEST_REST) handOn()
      else setTimeout(handOn, rest)
    }
  }
}
