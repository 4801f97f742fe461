import { performance } from 'node:perf_hooks'
import { DomainError } from '../../core/errors.js'

/** Runs `work` when a place is free. Rejects with `overloaded` when too many calls wait for a place. */
export type Gate = <T>(work: () => Promise<T>) => Promise<T>

/**
 * How long a place rests after its work: this factor times the duration of the work times the average utilization of
 * the event loop. Hashes take memory and cores from other requests, so the busier the process is, the longer it rests.
 */
const REST = 6
/** Below this average utilization of the event loop no place rests. */
const IDLE = 0.3
/**
 * The weight of the latest piece of work in the average utilization. A single piece tells little: an idle event loop
 * that shares its core with hashes seems half busy now and then, because waiting for the core counts as busy.
 */
const WEIGHT = 1 / 3
/** In milliseconds. A shorter rest is not worth a timer. */
const SHORTEST_REST = 2

/** Has places for `concurrency` pieces of work at once and lets `queue` more wait, first come, first served. */
export const createGate = (concurrency: number, queue: number): Gate => {
  const waiting: (() => void)[] = []
  let running = 0
  /** The utilization of the event loop while work ran, averaged with {@link WEIGHT}. */
  let utilization = 0

  // The place goes straight to the next call in the queue: a new call cannot overtake it.
  const passPlaceOn = (): void => {
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
      const { utilization: latest } = performance.eventLoopUtilization(loop)
      utilization += WEIGHT * (latest - utilization)
      const rest = REST * utilization * (performance.now() - startedAt)
      if (utilization < IDLE || rest < SHORTEST_REST) passPlaceOn()
      else setTimeout(passPlaceOn, rest)
    }
  }
}
