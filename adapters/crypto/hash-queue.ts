import { type Performance, performance } from 'node:perf_hooks'
import { DomainError } from '../../core/errors.js'
import type { HashCaller } from '../../core/ports.js'

/** Runs hashes when it is their turn. */
export interface HashQueue {
  /**
   * Runs `work` when a place is free. Without `caller` it counts as a login. Rejects with `overloaded`, without the work,
   * on the terms of PasswordHasher.
   */
  run<T>(work: () => Promise<T>, caller?: HashCaller): Promise<T>
  /** Runs `work` once nobody else waits, however long that takes. */
  runInSpareTime<T>(work: () => Promise<T>): Promise<T>
  /** How many calls of {@link run} wait for a place. */
  waiting(): number
}

export interface HashQueueOptions {
  /** How many pieces of work run at once. */
  readonly concurrency: number
  /** How many more calls of {@link HashQueue.run} may wait. */
  readonly capacity: number
  /**
   * The networks of an address, from the widest to the narrowest and as many for each: the widest take turns, and within
   * each of them its parts do. By default each address is a network of its own.
   */
  readonly networksOf?: (address: string) => readonly string[]
  /** False for work that is over so soon that nobody would notice a pause after it. True by default. */
  readonly pauses?: boolean
  /** Gets the milliseconds that a piece of work has waited. */
  readonly onBegin?: ((waited: number) => void) | undefined
  /** Measures time and load. */
  readonly gauge?: Pick<Performance, 'now' | 'eventLoopUtilization'>
}

/** In milliseconds. A call that has waited for longer is refused, because the answer to its request would be late. */
const PATIENCE = 4400
/** In milliseconds. Pauses end where one of those that wait would not begin within this time. */
const AIM = 3900
/** Each eighth turn belongs to the last class that waits, so that logins do not keep registrations out for ever. */
const ONE_IN = 8
/**
 * How long a place pauses after its work: this factor times the duration of the work times the utilization of the event
 * loop. Hashes take memory and cores from other requests, so the busier the process is, the longer it pauses.
 */
const PAUSE = 6
/** Below this utilization of the event loop no place pauses. */
const IDLE = 0.3
/**
 * The weight of the latest piece of work in the average utilization. A single piece tells little: an idle event loop
 * that shares its core with hashes seems half busy now and then, because waiting for the core counts as busy.
 */
const WEIGHT = 1 / 3
/** In milliseconds. A shorter pause is not worth a timer, and a longer one would hold up whoever comes next. */
const SHORTEST_PAUSE = 2
const LONGEST_PAUSE = 250

/** A call that waits. */
interface Waiting {
  readonly networks: readonly string[]
  /** The class: calls of a lower one come first. */
  readonly rank: number
  readonly arrivedAt: number
  begin(): void
  refuse(): void
}

interface Network {
  /** How many of its calls wait. */
  waiting: number
  /** The number of its latest turn, or of its first call: the network with the smallest is next. */
  turn: number
}

const RANKS: Readonly<Record<HashCaller['priority'], number>> = { login: 0, rehash: 0, registration: 1 }

// No library has it: the queues and semaphores of npm know priorities, and neither turns by network nor who leaves.
export const createHashQueue = ({
  concurrency,
  capacity,
  networksOf = address => [address],
  pauses = true,
  onBegin,
  gauge = performance
}: HashQueueOptions): HashQueue => {
  let running = 0
  /** In the order in which they came. A search through all of them takes a thousandth of a hash. */
  const calls = new Set<Waiting>()
  const inSpareTime: (() => void)[] = []
  /** The networks of all that wait. */
  const networks = new Map<string, Network>()
  let turn = 0
  let served = 0
  /** The utilization of the event loop while work ran, averaged with {@link WEIGHT}. */
  let utilization = 0

  const networkOf = (name: string): Network => networks.get(name) ?? { waiting: 0, turn: ++turn }

  const count = (call: Waiting, by: 1 | -1): void => {
    for (const name of call.networks) {
      const network = networkOf(name)
      network.waiting += by
      if (network.waiting > 0) networks.set(name, network)
      else networks.delete(name)
    }
  }

  const join = (call: Waiting): void => {
    calls.add(call)
    count(call, 1)
  }

  const leave = (call: Waiting): void => {
    calls.delete(call)
    count(call, -1)
  }

  const refuse = (call: Waiting): void => {
    leave(call)
    call.refuse()
  }

  const sizesOf = (call: Waiting): readonly number[] => call.networks.map(name => -networkOf(name).waiting)

  /**
   * The call that leaves a full queue for a newcomer: the last one of the network that has most, where the newcomer's has
   * fewer even with him, or else the last one of a class that comes after his. Undefined when nobody leaves.
   */
  const displacedBy = (newcomer: Waiting): Waiting | undefined => {
    const lastFirst = [...calls].reverse()
    const heaviest = smallest(lastFirst, call => [...sizesOf(call), -call.rank])
    const least = smallest(lastFirst, call => [-call.rank, ...sizesOf(call)])
    if (heaviest && outnumbers(heaviest, newcomer)) return heaviest
    return least && least.rank > newcomer.rank ? least : undefined
  }

  const outnumbers = (call: Waiting, newcomer: Waiting): boolean => {
    const parting = call.networks.findIndex((name, level) => name !== newcomer.networks[level])
    const [theirs = '', own = ''] = [call.networks[parting], newcomer.networks[parting]]
    return parting !== -1 && networkOf(theirs).waiting > networkOf(own).waiting + 1
  }

  const waitForPlace = ({ address = '', priority }: HashCaller): Promise<void> =>
    new Promise((begin, reject) => {
      const call: Waiting = {
        networks: networksOf(address),
        rank: RANKS[priority],
        arrivedAt: gauge.now(),
        begin,
        refuse: () => reject(new DomainError('overloaded', 'too many logins are waiting', { retryAfterSeconds: 1 }))
      }
      if (priority === 'rehash' && calls.size > 0) return call.refuse()
      if (calls.size >= capacity) {
        const displaced = displacedBy(call)
        if (displaced === undefined) return call.refuse()
        refuse(displaced)
      }
      join(call)
    })

  /** Takes the call whose turn it is out of the queue. */
  const takeNext = (): Waiting | undefined => {
    for (const call of calls) if (gauge.now() - call.arrivedAt > PATIENCE) refuse(call)
    const direction = served % ONE_IN === ONE_IN - 1 ? -1 : 1
    const next = smallest(calls, call => [direction * call.rank, ...call.networks.map(name => networkOf(name).turn)])
    if (next === undefined) return undefined
    served += 1
    for (const name of next.networks) networkOf(name).turn = ++turn
    leave(next)
    return next
  }

  /** The place goes straight to the call whose turn it is: a new call cannot overtake it. */
  const passPlaceOn = (): void => {
    const begin = takeNext()?.begin ?? inSpareTime.shift()
    if (begin === undefined) running -= 1
    else begin()
  }

  /** The longest pause after every piece of work with which all that wait begin within {@link AIM}, first come, first served. */
  const spareTime = (took: number): number => {
    const now = gauge.now()
    const spare = [...calls].map(
      ({ arrivedAt }, index) => (arrivedAt + AIM - now) / Math.ceil((index + 1) / concurrency) - took
    )
    return Math.min(LONGEST_PAUSE, ...spare)
  }

  const runInPlace = async <T>(work: () => Promise<T>): Promise<T> => {
    const startedAt = gauge.now()
    const loop = gauge.eventLoopUtilization()
    try {
      return await work()
    } finally {
      const took = gauge.now() - startedAt
      utilization += WEIGHT * (gauge.eventLoopUtilization(loop).utilization - utilization)
      const pause = pauses && utilization > IDLE ? Math.min(PAUSE * utilization * took, spareTime(took)) : 0
      if (pause < SHORTEST_PAUSE) passPlaceOn()
      else setTimeout(passPlaceOn, pause)
    }
  }

  return {
    async run(work, caller = { priority: 'login' }) {
      const arrivedAt = gauge.now()
      if (running < concurrency) running += 1
      else await waitForPlace(caller)
      onBegin?.(gauge.now() - arrivedAt)
      return runInPlace(work)
    },

    async runInSpareTime(work) {
      if (running < concurrency) running += 1
      else await new Promise<void>(begin => inSpareTime.push(begin))
      return runInPlace(work)
    },

    waiting: () => calls.size
  }
}

/** The call with the smallest key, which is compared element by element: the first one of several. */
const smallest = (calls: Iterable<Waiting>, keyOf: (call: Waiting) => readonly number[]): Waiting | undefined => {
  let best: { readonly call: Waiting; readonly key: readonly number[] } | undefined
  for (const call of calls) {
    const key = keyOf(call)
    if (best === undefined || compare(key, best.key) < 0) best = { call, key }
  }
  return best?.call
}

const compare = (a: readonly number[], b: readonly number[]): number => {
  const index = a.findIndex((value, index) => value !== b[index])
  return (a[index] ?? 0) - (b[index] ?? 0)
}
