import { hadNoEffect } from './errors.js'

/** One piece of work in its two forms. */
export interface Gatherable<Item, Result> {
  one(item: Item): Promise<Result>
  /** The results in the order of the items. */
  many(items: readonly Item[]): Promise<readonly Result[]>
  /** Items of one key never travel together: what {@link many} could not tell apart. */
  keyOf?(item: Item): string
}

/** Statements of a kind on the way at once: with one, PostgreSQL would wait for Node between two; a third gains nothing. */
const AT_ONCE = 2
/** Items in one statement. */
const MOST = 256

interface Waiting<Item, Result> {
  readonly item: Item
  resolve(result: Result): void
  reject(reason: unknown): void
}

/**
 * Lets whoever finds nobody on the way go alone and at once, as company would only cost time; sends what else is asked for in one
 * turn of the event loop in one statement, and lets what comes while two are on their way wait for the next. Each item gets exactly
 * what it would have got alone: when a statement of many fails, each is tried singly, but not after a lost connection: what a write did
 * is unknown then, and whoever waits has waited long enough.
 */
export const gather = <Item, Result>(work: Gatherable<Item, Result>): ((item: Item) => Promise<Result>) => {
  let waiting: Waiting<Item, Result>[] = []
  let underWay = 0
  let scheduled = false
  let alone = false

  const depart = (): void => {
    scheduled = false
    while (waiting.length > 0 && underWay < AT_ONCE) {
      const batch = nextBatch(waiting, work.keyOf)
      waiting = waiting.filter(each => !batch.has(each))
      underWay += 1
      void carry([...batch])
    }
  }

  const carry = async (batch: readonly Waiting<Item, Result>[]): Promise<void> => {
    try {
      const items = batch.map(({ item }) => item)
      const results = items.length > 1 ? await work.many(items) : await Promise.all(items.map(work.one))
      for (const [index, result] of results.entries()) batch[index]?.resolve(result)
    } catch (error) {
      if (hadNoEffect(error)) {
        await Promise.all(batch.map(({ item, resolve, reject }) => work.one(item).then(resolve, reject)))
      } else {
        for (const { reject } of [...batch, ...waiting.splice(0)]) reject(error)
      }
    }
    underWay -= 1
    depart()
  }

  return item => {
    if (!alone && underWay === 0 && waiting.length === 0) {
      alone = true
      return work.one(item).finally(() => {
        alone = false
      })
    }
    return new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (scheduled || underWay === AT_ONCE) return
      scheduled = true
      inOneCall(depart)
    })
  }
}

let departing: (() => void)[] = []

/** Runs what is asked for in one turn of the event loop in one call at its end: statements of several kinds leave in one packet. */
const inOneCall = (depart: () => void): void => {
  if (departing.push(depart) > 1) return
  setImmediate(() => {
    const all = departing
    departing = []
    for (const each of all) each()
  })
}

/** The longest waiting, at most {@link MOST} of them and of each key the first. */
const nextBatch = <Item, Result>(
  waiting: readonly Waiting<Item, Result>[],
  keyOf: Gatherable<Item, Result>['keyOf']
): ReadonlySet<Waiting<Item, Result>> => {
  if (keyOf === undefined) return new Set(waiting.slice(0, MOST))
  const first = new Map<string, Waiting<Item, Result>>()
  for (const each of waiting) {
    const key = keyOf(each.item)
    if (!first.has(key) && first.size < MOST) first.set(key, each)
  }
  return new Set(first.values())
}
