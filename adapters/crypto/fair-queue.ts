/** A call that waits. */
export interface Waiting {
  readonly address: string
  readonly isLogin: boolean
}

/** Calls that wait for a place, logins and registrations. Iterates over them in the order in which they came. */
export interface FairQueue<T extends Waiting> extends Iterable<T> {
  readonly size: number
  /** Returns the call that has to leave because the queue is full: this one or another. Undefined when there is room. */
  join(call: T): T | undefined
  /**
   * Takes the call whose turn it is out of the queue. Undefined when the queue is empty. A call for which `isOver` is true
   * leaves without having had a turn, and the next one of its kind has it.
   */
  next(isOver: (call: T) => boolean): T | undefined
  /** How many calls would be served before this one if it joined and no other call came. */
  ahead(call: Waiting): number
}

/**
 * While both wait, every eighth place goes to a registration. In a full queue, registrations yield to logins as far as
 * they are more than an eighth of it.
 */
const ONE_IN = 8

/** Holds `capacity` calls. */
export const createFairQueue = <T extends Waiting>(capacity: number): FairQueue<T> => {
  const arrivals = new Set<T>()
  const logins = createLine<T>()
  const registrations = createLine<T>()
  const share = Math.floor(capacity / ONE_IN)
  /** How many logins were served in a row while a registration waited. */
  let loginsInARow = 0

  const lineOf = ({ isLogin }: Waiting): Line<T> => (isLogin ? logins : registrations)

  /** Takes the call that leaves a full queue for `newcomer` out of it. Undefined when nobody leaves for it. */
  const makeRoom = (newcomer: Waiting): T | undefined => {
    const wanted = registrations.length() + (newcomer.isLogin ? 0 : 1)
    const line = wanted > share ? registrations : logins
    const yields = newcomer.isLogin && line === registrations
    return yields || line.lastRound() > lineOf(newcomer).roundOf(newcomer.address) ? line.dropLast() : undefined
  }

  return {
    get size() {
      return arrivals.size
    },

    [Symbol.iterator]: () => arrivals.values(),

    join(call) {
      let leaves: T | undefined
      if (arrivals.size >= capacity) {
        leaves = makeRoom(call)
        if (leaves === undefined) return call
        arrivals.delete(leaves)
      }
      arrivals.add(call)
      lineOf(call).add(call)
      return leaves
    },

    next(isOver) {
      for (;;) {
        const isLoginsTurn = registrations.length() === 0 || (logins.length() > 0 && loginsInARow < ONE_IN - 1)
        const call = (isLoginsTurn ? logins : registrations).next()
        if (call === undefined) return undefined
        arrivals.delete(call)
        if (isOver(call)) continue
        loginsInARow = isLoginsTurn && registrations.length() > 0 ? loginsInARow + 1 : 0
        return call
      }
    },

    ahead(call) {
      const own = lineOf(call).ahead(call.address)
      return call.isLogin
        ? own + Math.min(registrations.length(), Math.ceil((own + 1) / (ONE_IN - 1)))
        : own + Math.min(logins.length(), (own + 1) * (ONE_IN - 1))
    }
  }
}

interface Line<T> {
  length(): number
  add(call: T): void
  next(): T | undefined
  /** The round of the last call; 0 is the present round. */
  lastRound(): number
  /** The round in which a new call of this address would be. */
  roundOf(address: string): number
  /** Takes the last call of the last round. No address has more calls in the line than the address of this one. */
  dropLast(): T | undefined
  /** How many calls would be served before a new call of this address. */
  ahead(address: string): number
}

/** An address with calls in a line. */
interface Caller {
  readonly address: string
  calls: number
  /** The number of the round of its last call. Its calls are in successive rounds. */
  last: number
}

interface Entry<T> {
  readonly call: T
  readonly caller: Caller
}

/**
 * Serves the addresses in turn, round by round. Each round has at most one call of an address, and all calls of a round
 * are served before the next round. No call joins the present round, so a stream of new addresses cannot prolong it.
 */
const createLine = <T extends Waiting>(): Line<T> => {
  /** What is left of the present round. */
  let present: Entry<T>[] = []
  const later: Entry<T>[][] = []
  /** The number of the first of the later rounds. */
  let first = 0
  let length = 0
  const callers = new Map<string, Caller>()

  /** The index of the round, among the later ones, in which a new call of this address would be. */
  const indexOf = (address: string): number => (callers.get(address)?.last ?? first - 1) + 1 - first

  const leave = ({ call, caller }: Entry<T>): T => {
    length -= 1
    caller.calls -= 1
    if (caller.calls === 0) callers.delete(caller.address)
    return call
  }

  return {
    length: () => length,

    add(call) {
      const { address } = call
      const index = indexOf(address)
      const caller = callers.get(address) ?? { address, calls: 0, last: 0 }
      callers.set(address, caller)
      caller.calls += 1
      caller.last = first + index
      length += 1
      const entry = { call, caller }
      const round = later[index]
      if (round === undefined) later.push([entry])
      else round.push(entry)
    },

    next() {
      for (;;) {
        const entry = present.shift()
        if (entry !== undefined) return leave(entry)
        const round = later.shift()
        if (round === undefined) return undefined
        present = round
        first += 1
      }
    },

    lastRound: () => later.length,

    roundOf: address => indexOf(address) + 1,

    dropLast() {
      const entry = (later.at(-1) ?? present).pop()
      if (later.at(-1)?.length === 0) later.pop()
      if (entry !== undefined) entry.caller.last -= 1
      return entry && leave(entry)
    },

    ahead(address) {
      const rounds = later.slice(0, indexOf(address) + 1)
      return rounds.reduce((sum, round) => sum + round.length, present.length)
    }
  }
}
