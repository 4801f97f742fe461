import { StatementError, unavailable } from '../connection/errors.js'
import { startTimer } from '../connection/limits.js'

/** An item in the queue and the promise of the caller that waits for its result. */
export interface Waiting<Item, Result> {
  readonly item: Item
  /** When the caller asked, by `performance.now()`. */
  readonly askedAt: number
  resolve(result: Result): void
  reject(reason: unknown): void
}

export interface QueueOptions<Item, Result> {
  /** How many batches may be under way at once. */
  readonly maxBatches: number
  /** How many of them may have taken less time than {@link SLOW}; {@link maxBatches} by default. */
  readonly usualBatches?: number
  /** While fewer items are under way, one batch more than `usualBatches` may be; 0 by default. */
  readonly fewItems?: number
  /** How many items one batch may hold. */
  readonly maxItems: number
  /** As soon as so many items wait, they leave without waiting for others; {@link maxItems} by default. */
  readonly enoughItems?: number
  /** They do so only while fewer batches are under way; {@link maxBatches} by default. */
  readonly earlyBatches?: number
  /** Items with the same key are never in the same batch. */
  readonly keyOf?: (item: Item) => string
  /** Sends a batch and settles each of its items. Resolves when another batch may take its place; never rejects. */
  sendBatch(batch: readonly Waiting<Item, Result>[], queue: Queue<Item, Result>): Promise<unknown>
}

export interface Queue<Item, Result> {
  add(waiting: Waiting<Item, Result>): void
  /** Empties the queue and returns the items that waited in it. */
  clear(): readonly Waiting<Item, Result>[]
}

/** In milliseconds: as long as the driver gives a statement. */
const LONGEST_WAIT = 4000

/** A batch that takes longer waits for a lock or for a disk that is slow. */
const SLOW = 50

/** Rejects an item that has waited for {@link LONGEST_WAIT}. True if it did so. */
export const rejectIfLate = ({ askedAt, reject }: Pick<Waiting<unknown, never>, 'askedAt' | 'reject'>): boolean => {
  if (performance.now() - askedAt < LONGEST_WAIT) return false
  reject(unavailable(new StatementError(`waited for ${LONGEST_WAIT} ms to be sent`, undefined)))
  return true
}

/**
 * Collects items and sends them in batches. An item waits in the queue for two reasons:
 *
 * - It waits until all callbacks of promises that are due have run, so that all who ask because of one answer, or
 *   because of requests that begin together, share a batch. When `enoughItems` wait and fewer than
 *   `earlyBatches` batches are under way, they leave at once.
 * - While `usualBatches` batches are under way, it waits until one of them is done. All items that are added meanwhile go
 *   into the next batch. A slow batch counts no longer, so that nobody waits for it, unless `maxBatches` are under way.
 *   While all that are under way hold fewer than `fewItems` items together, one batch more may leave.
 */
export const createQueue = <Item, Result>({
  maxBatches,
  usualBatches = maxBatches,
  fewItems = 0,
  maxItems,
  enoughItems = maxItems,
  earlyBatches = maxBatches,
  keyOf,
  sendBatch
}: QueueOptions<Item, Result>): Queue<Item, Result> => {
  let waiting: Waiting<Item, Result>[] = []
  let batchesUnderWay = 0
  let slowBatches = 0
  let itemsUnderWay = 0
  /** Whether a slow batch makes room for another one. */
  const heedsSlow = usualBatches < maxBatches
  /** `queueMicrotask` takes twice as long as `then`. */
  const settled = Promise.resolve()
  /** True while a call of `sendScheduled` is scheduled. */
  let scheduled = false

  const sendBatches = (): void => {
    // The items that have waited longest come first.
    while (waiting[0] !== undefined && rejectIfLate(waiting[0])) waiting.shift()
    while (waiting.length > 0 && mayBegin()) void send(takeBatch())
  }

  const mayBegin = (): boolean => {
    const one = itemsUnderWay < fewItems ? 1 : 0
    return batchesUnderWay < maxBatches && batchesUnderWay - slowBatches - one < usualBatches
  }

  const send = async (batch: readonly Waiting<Item, Result>[]): Promise<void> => {
    batchesUnderWay += 1
    itemsUnderWay += batch.length
    let isSlow = false
    const endTimeout = heedsSlow
      ? startTimer(SLOW, () => {
          isSlow = true
          slowBatches += 1
          sendBatches()
        })
      : undefined
    await sendBatch(batch, queue)
    endTimeout?.()
    batchesUnderWay -= 1
    itemsUnderWay -= batch.length
    if (isSlow) slowBatches -= 1
    if (waiting.length > 0) schedule()
  }

  const schedule = (): void => {
    if (scheduled) return
    scheduled = true
    settled.then(sendNextTick)
  }

  // Node runs all promise callbacks before what one of them hands to `nextTick`.
  const sendNextTick = (): void => process.nextTick(sendScheduled)

  const sendScheduled = (): void => {
    scheduled = false
    sendBatches()
  }

  /** Takes the items that have waited longest out of the queue: at most `maxItems`, and the first of each key. */
  const takeBatch = (): readonly Waiting<Item, Result>[] => {
    if (keyOf === undefined) return waiting.splice(0, maxItems)
    const firstOfKey = new Map<string, Waiting<Item, Result>>()
    for (const each of waiting) {
      const key = keyOf(each.item)
      if (!firstOfKey.has(key) && firstOfKey.size < maxItems) firstOfKey.set(key, each)
    }
    const batch = new Set(firstOfKey.values())
    waiting = waiting.filter(each => !batch.has(each))
    return [...batch]
  }

  const queue: Queue<Item, Result> = {
    add(each) {
      waiting.push(each)
      if (!mayBegin()) return
      if (waiting.length < enoughItems || batchesUnderWay >= earlyBatches) schedule()
      else sendBatches()
    },
    clear: () => waiting.splice(0)
  }
  return queue
}
