import { hadNoEffect, StatementError, unavailable } from './connection/errors.js'
import { LIMITS } from './connection/limits.js'

interface BatchOptions<Item> {
  /** How many items one batch may hold. */
  readonly most?: number
  /** How many batches may be under way at once; two by default, so that one waits for its commit while the other is sent. */
  readonly atOnce?: number
  /** As soon as so many items wait, they leave at once, and not when all promise callbacks that are due have run. */
  readonly enough?: number
  /** Items with the same key are never in the same batch. */
  readonly keyOf?: (item: Item) => string
  /** Whether the items of a batch that failed so are sent again, each alone. By default when PostgreSQL rolled it back. */
  readonly mayRetry?: (error: unknown) => boolean
}

interface Waiting<Item, Result> {
  readonly item: Item
  /** By `performance.now()`. */
  readonly askedAt: number
  readonly resolve: (result: Result | Promise<Result>) => void
  readonly reject: (reason: unknown) => void
}

/** Rejects an item that has waited too long. True if it did so. */
const rejectIfLate = ({ askedAt, reject }: Pick<Waiting<unknown, never>, 'askedAt' | 'reject'>): boolean => {
  if (performance.now() - askedAt < LIMITS.call) return false
  reject(unavailable(new StatementError(`waited for ${LIMITS.call} ms to be sent`)))
  return true
}

/**
 * Returns a function that sends items in batches, and resolves to what `send` returns in the place of the item. Items wait
 * until all promise callbacks that are due have run, so that all who ask because of one answer, or of requests that begin
 * together, share a batch; and while `atOnce` batches are under way.
 *
 * Each item gets the result that it would get alone: when PostgreSQL itself reported that it rolled a batch back, each item
 * is sent by itself. After a lost connection nothing of the batch is sent again, as it is unknown what it did.
 */
export const inBatches = <Item, Result>(
  send: (items: readonly Item[]) => Promise<readonly (Result | Promise<Result>)[]>,
  { most = 256, atOnce = 2, enough = most, keyOf, mayRetry = hadNoEffect }: BatchOptions<Item> = {}
): ((item: Item) => Promise<Result>) => {
  type Batch = readonly Waiting<Item, Result>[]
  let waiting: Waiting<Item, Result>[] = []
  let underWay = 0
  let scheduled = false

  const settle = async (batch: Batch): Promise<void> => {
    try {
      const results = await send(batch.map(({ item }) => item))
      for (const [index, result] of results.entries()) batch[index]?.resolve(result)
    } catch (error) {
      if (batch.length > 1 && mayRetry(error)) await settleEachAlone(batch)
      else for (const { reject } of batch) reject(error)
    }
  }

  /** Two at a time: each takes a connection that others need, and the first may wait for a lock. */
  const settleEachAlone = async (batch: Batch): Promise<void> => {
    const left = batch.values()
    const settleNext = async (): Promise<void> => {
      for (const each of left) if (!rejectIfLate(each)) await settle([each])
    }
    await Promise.all([settleNext(), settleNext()])
  }

  /** Takes the items that have waited longest: at most `most`, and the first of each key. */
  const take = (): Batch => {
    if (keyOf === undefined) return waiting.splice(0, most)
    const firstOfKey = new Map<string, Waiting<Item, Result>>()
    const passed: Batch[number][] = []
    let looked = 0
    // Not further than the batch is long: a user may end 100,000 logins at once.
    for (const each of waiting) {
      if (firstOfKey.size === most) break
      looked += 1
      const key = keyOf(each.item)
      if (firstOfKey.has(key)) passed.push(each)
      else firstOfKey.set(key, each)
    }
    waiting = [...passed, ...waiting.slice(looked)]
    return [...firstOfKey.values()]
  }

  const sendBatch = async (): Promise<void> => {
    underWay += 1
    await settle(take())
    underWay -= 1
    schedule()
  }

  const sendWaiting = (): void => {
    scheduled = false
    const inTime = waiting.findIndex(each => !rejectIfLate(each))
    waiting.splice(0, inTime === -1 ? waiting.length : inTime)
    while (waiting.length > 0 && underWay < atOnce) void sendBatch()
  }

  // A tick that a promise callback asks for runs after all promise callbacks, so that callers resumed by one answer have all
  // asked by then. A tick that other code asks for runs before them.
  const schedule = (): void => {
    if (scheduled) return
    scheduled = true
    queueMicrotask(() => process.nextTick(sendWaiting))
  }

  return item =>
    new Promise((resolve, reject) => {
      waiting.push({ item, askedAt: performance.now(), resolve, reject })
      if (underWay >= atOnce) return
      if (waiting.length >= enough) sendWaiting()
      else schedule()
    })
}
