import { type Performance, performance } from 'node:perf_hooks'
import type { HashCaller } from '../../core/ports.js'
import { tooManyHashes } from '../../core/refusals.js'

export interface HashQueueOptions {
  /** How many pieces of work run at once. */
  readonly concurrency: number
  /** How many more calls of `run` may wait. */
  readonly capacity: number
  /** False for work that is over so soon that nobody would notice a pause after it. */
  readonly pauses: boolean
  /** Gets the seconds that a piece of work has waited. */
  readonly onBegin?: ((waited: number) => void) | undefined
  /** Measures time and load. */
  readonly gauge?: Pick<Performance, 'now' | 'eventLoopUtilization'>
}

/** A call that has waited for longer is refused, because the answer to its request would be late. */
const PATIENCE_MILLISECONDS = 4400
/** Pauses end where one of those that wait would not begin within this time. */
const AIM_MILLISECONDS = 3900
/** Of two classes, the one with the lower rank is served first. */
const RANKS: Readonly<Record<HashCaller['priority'], number>> = { known_login: 0, login: 1, registration: 2, rehash: 3 }
/** Of eight turns one is a login's and one a registration's, so that those before them do not keep them out for ever. */
const ROUND = 8
const FAVOURED: Readonly<Record<number, number>> = { 3: RANKS.login, 7: RANKS.registration }
// A hash takes a core from other requests, so the next one waits: for as long as this one took, times PAUSE, times the
// utilization of the event loop.
const PAUSE = 6
/** Below this utilization of the event loop no hash waits so. */
const IDLE = 0.3
/** How much the latest measurement counts in the average. An idle event loop that waits for its core seems busy, now and then. */
const WEIGHT = 1 / 3
/** A shorter pause is not worth a timer, and a longer one would hold up whoever comes next. */
const SHORTEST_PAUSE_MILLISECONDS = 2
const LONGEST_PAUSE_MILLISECONDS = 250

interface Party {
  readonly name: string
  /** How many of its calls wait. */
  waiting: number
  /** The number of its latest turn, or of its first call. The party with the smallest is next. */
  turn: number
}

/** A call that waits. */
interface Waiting {
  /** Of its class. */
  readonly rank: number
  readonly network: string
  readonly address: string
  /** Who takes turns in the class: the network, and within it the address. */
  readonly parties: readonly Party[]
  readonly arrivedAt: number
  begin(): void
  refuse(): void
}

/** Runs hashes when it is their turn. */
// No library has it: the queues and semaphores of npm know priorities, and neither turns by network nor who leaves.
export const createHashQueue = ({ concurrency, capacity, pauses, onBegin, gauge = performance }: HashQueueOptions) => {
  let running = 0
  /** In the order in which they came. A search through all of them takes a hundredth of a hash. */
  const calls = new Set<Waiting>()
  const inSpareTime: (() => void)[] = []
  /** Of all that wait. */
  const parties = new Map<string, Party>()
  let turn = 0
  let served = 0
  /** The utilization of the event loop while work ran, averaged with {@link WEIGHT}. */
  let utilization = 0

  const leave = (call: Waiting): void => {
    calls.delete(call)
    for (const party of call.parties) {
      party.waiting -= 1
      if (party.waiting === 0) parties.delete(party.name)
    }
  }

  const refuse = (call: Waiting): void => {
    leave(call)
    call.refuse()
  }

  /**
   * The call that leaves a full queue for a newcomer. It is one of the network that has most, and there of the last class,
   * and there of the address that has most: if the newcomer's network would have fewer calls than that network with this
   * one; within one network the same goes for addresses. Else it is one of the last class, if that comes after the
   * newcomer's. Undefined when none leaves.
   */
  const displacedBy = (newcomer: Waiting): Waiting | undefined => {
    const lastFirst = [...calls].reverse()
    const ofNetwork = tally(lastFirst.map(({ network }) => network))
    const ofAddress = tally(lastFirst.map(({ address }) => address))
    const isHeavier = ({ network, address }: Waiting): boolean =>
      network === newcomer.network
        ? ofAddress(address) > ofAddress(newcomer.address) + 1
        : ofNetwork(network) > ofNetwork(newcomer.network) + 1
    const key = (call: Waiting) => [-ofNetwork(call.network), -call.rank, -ofAddress(call.address)]
    const later = lastFirst.filter(({ rank }) => rank > newcomer.rank)
    return least(lastFirst.filter(isHeavier), key) ?? least(later, call => [-call.rank, ...key(call)])
  }

  const waitForTurn = ({ address = '', network = address, priority }: HashCaller): Promise<void> =>
    new Promise((begin, reject) => {
      const call: Waiting = {
        rank: RANKS[priority],
        network,
        address,
        parties: [`${priority} ${network}`, `${priority} ${network} ${address}`].map(
          name => parties.get(name) ?? { name, waiting: 0, turn: ++turn }
        ),
        arrivedAt: gauge.now(),
        begin,
        refuse: () => reject(tooManyHashes())
      }
      if (priority === 'rehash' && calls.size > 0) return call.refuse()
      for (const other of calls) if (other.rank === RANKS.rehash) refuse(other)
      if (calls.size >= capacity) {
        const displaced = displacedBy(call)
        if (displaced === undefined) return call.refuse()
        refuse(displaced)
      }
      calls.add(call)
      for (const party of call.parties) {
        party.waiting += 1
        parties.set(party.name, party)
      }
    })

  /** Takes the call whose turn it is out of the queue. */
  const takeNext = (): Waiting | undefined => {
    for (const call of calls) if (gauge.now() - call.arrivedAt > PATIENCE_MILLISECONDS) refuse(call)
    const first = FAVOURED[served % ROUND]
    const next = least(calls, ({ rank, parties }) => [rank === first ? -1 : rank, ...parties.map(({ turn }) => turn)])
    if (next === undefined) return undefined
    served += 1
    for (const party of next.parties) party.turn = ++turn
    leave(next)
    return next
  }

  /** Goes straight to the call whose turn it is: a new call cannot overtake it. */
  const release = (): void => {
    const begin = takeNext()?.begin ?? inSpareTime.shift()
    if (begin === undefined) running -= 1
    else begin()
  }

  /** The longest pause after each piece of work with which all that wait, first come, first served, begin within the aim. */
  const spareTime = (took: number): number => {
    const now = gauge.now()
    const spare = [...calls].map(
      ({ arrivedAt }, index) => (arrivedAt + AIM_MILLISECONDS - now) / Math.ceil((index + 1) / concurrency) - took
    )
    return Math.min(LONGEST_PAUSE_MILLISECONDS, ...spare)
  }

  const runAndRelease = async <T>(work: () => Promise<T>): Promise<T> => {
    const startedAt = gauge.now()
    const loop = gauge.eventLoopUtilization()
    try {
      return await work()
    } finally {
      const took = gauge.now() - startedAt
      utilization += WEIGHT * (gauge.eventLoopUtilization(loop).utilization - utilization)
      const pause = pauses && utilization > IDLE ? Math.min(PAUSE * utilization * took, spareTime(took)) : 0
      if (pause < SHORTEST_PAUSE_MILLISECONDS) release()
      else setTimeout(release, pause)
    }
  }

  return {
    /**
     * Runs `work` when its turn comes. Without `caller` it counts as a login. Rejects with `overloaded`, without the work,
     * on the terms of PasswordHasher.
     */
    async run<T>(work: () => Promise<T>, caller: HashCaller = { priority: 'login' }): Promise<T> {
      const arrivedAt = gauge.now()
      if (running < concurrency) running += 1
      else await waitForTurn(caller)
      onBegin?.((gauge.now() - arrivedAt) / 1000)
      return runAndRelease(work)
    },

    /** Runs `work` once nobody else waits, however long that takes. */
    async runInSpareTime<T>(work: () => Promise<T>): Promise<T> {
      if (running < concurrency) running += 1
      else await new Promise<void>(begin => inSpareTime.push(begin))
      return runAndRelease(work)
    },

    /** How many calls of `run` wait for their turn. */
    waiting: () => calls.size
  }
}

/** How often each name is there. */
const tally = (names: readonly string[]): ((name: string) => number) => {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return name => counts.get(name) ?? 0
}

/** The call with the smallest key, which is compared element by element: the first one of several. */
const least = (calls: Iterable<Waiting>, keyOf: (call: Waiting) => readonly number[]): Waiting | undefined => {
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
