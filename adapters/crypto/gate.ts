import { type Performance, performance } from 'node:perf_hooks'
import { DomainError } from '../../core/errors.js'
import type { HashCaller } from '../../core/ports.js'
import { createFairQueue, type Waiting } from './fair-queue.js'

/**
 * Runs `work` when a place is free. Without `caller` it counts as a login. Rejects with `overloaded`, without the work,
 * on the terms of PasswordHasher.
 */
export interface Gate {
  <T>(work: () => Promise<T>, caller?: HashCaller): Promise<T>
  /** How many calls wait for a place. */
  waiting(): number
}

/** In milliseconds. A call that has waited for longer is refused, because the answer to its request would be late. */
const PATIENCE = 4400
/**
 * In milliseconds. Places rest only as far as each call begins within this time, and a call that would not begin within
 * it is refused at once. The difference to {@link PATIENCE} is for work that takes longer than the work before it.
 */
const AIM = 3900
/** The weight of the latest piece of work in the average duration. A single slow piece is no reason to refuse calls. */
const DURATION_WEIGHT = 1 / 8
/**
 * How long a place rests after its work: this factor times the duration of the work times the average utilization of
 * the event loop. Hashes take memory and cores from other requests, so the busier the process is, the longer it rests.
 */
const REST = 6
/**
 * The same factor for the rest that every place keeps however many calls wait: calls that would leave no time for it
 * are refused. It is small, because a client that is refused may come again at once, and hundreds of refusals a second
 * take more from other requests than the rest would give them.
 */
const LEAST_REST = 1 / 2
/** Below this average utilization of the event loop no place rests. */
const IDLE = 0.3
/**
 * The weight of the latest piece of work in the average utilization. A single piece tells little: an idle event loop
 * that shares its core with hashes seems half busy now and then, because waiting for the core counts as busy.
 */
const WEIGHT = 1 / 3
/** In milliseconds. A shorter rest is not worth a timer. */
const SHORTEST_REST = 2
/** In milliseconds. After a piece of work that took very long, the next call must not wait for many times as long. */
const LONGEST_REST = 250

interface Waiter extends Waiting {
  readonly arrivedAt: number
  begin(): void
  refuse(): void
}

interface GateOptions {
  /** False for work that is over so soon that nobody would notice a rest after it. True by default. */
  readonly rests?: boolean
  /** Gets the milliseconds that a piece of work has waited. */
  readonly onBegin?: ((waited: number) => void) | undefined
  /** Measures time and load. */
  readonly gauge?: Pick<Performance, 'now' | 'eventLoopUtilization'>
}

/** Has places for `concurrency` pieces of work at once and lets `capacity` more wait. */
export const createGate = (
  concurrency: number,
  capacity: number,
  { rests = true, onBegin, gauge = performance }: GateOptions = {}
): Gate => {
  const waiting = createFairQueue<Waiter>(capacity)
  let running = 0
  /** The utilization of the event loop while work ran, averaged with {@link WEIGHT}. */
  let utilization = 0
  /** For how long a piece of work takes its place, in milliseconds without the rest, averaged. */
  let duration = 0

  const waitForPlace = ({ address = '', priority }: HashCaller): Promise<void> =>
    new Promise((begin, reject) => {
      const refuse = (): void =>
        reject(new DomainError('overloaded', 'too many logins are waiting', { retryAfterSeconds: 1 }))
      const waiter = { address, isLogin: priority !== 'registration', arrivedAt: gauge.now(), begin, refuse }
      // Rests become shorter as more calls wait, so that only the least rest is counted.
      const begins = (waiting.ahead(waiter) / concurrency + 1) * (duration + restAfter(duration, LEAST_REST))
      if (begins > AIM || (priority === 'rehash' && waiting.size > 0)) refuse()
      else waiting.join(waiter)?.refuse()
    })

  const restAfter = (took: number, factor: number): number => (utilization < IDLE ? 0 : factor * utilization * took)

  /** The place goes straight to the call whose turn it is: a new call cannot overtake it. */
  const passPlaceOn = (): void => {
    const oldest = gauge.now() - PATIENCE
    const next = waiting.next(({ arrivedAt, refuse }) => {
      const isLate = arrivedAt < oldest
      if (isLate) refuse()
      return isLate
    })
    if (next === undefined) running -= 1
    else next.begin()
  }

  /**
   * The longest rest, after every piece of work, with which all that wait begin within {@link AIM}, served in the order
   * in which they came.
   */
  const spareTime = (): number => {
    let spare = LONGEST_REST
    let count = 0
    const now = gauge.now()
    for (const { arrivedAt } of waiting) {
      count += 1
      spare = Math.min(spare, (arrivedAt + AIM - now) / Math.ceil(count / concurrency) - duration)
    }
    return spare
  }

  const pass = async <T>(work: () => Promise<T>, caller: HashCaller = { priority: 'login' }): Promise<T> => {
    const arrivedAt = gauge.now()
    if (running < concurrency) running += 1
    else await waitForPlace(caller)
    const startedAt = gauge.now()
    onBegin?.(startedAt - arrivedAt)
    const loop = rests ? gauge.eventLoopUtilization() : undefined
    try {
      return await work()
    } finally {
      const took = gauge.now() - startedAt
      if (loop) utilization += WEIGHT * (gauge.eventLoopUtilization(loop).utilization - utilization)
      duration += DURATION_WEIGHT * (took - duration)
      const wanted = restAfter(took, REST)
      const rest = wanted < SHORTEST_REST ? 0 : Math.min(wanted, spareTime())
      if (rest < SHORTEST_REST) passPlaceOn()
      else setTimeout(passPlaceOn, rest)
    }
  }
  return Object.assign(pass, { waiting: () => waiting.size })
}
