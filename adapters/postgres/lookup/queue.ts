import { StatementError, unavailable } from '../connection/errors.js'

/** One who waits for an answer. */
export interface Waiting<Item, Result> {
  readonly item: Item
  /** By `performance.now()`. */
  readonly askedAt: number
  resolve(result: Result): void
  reject(reason: unknown): void
}

export interface QueueOptions<Item, Result> {
  /** Batches under way at once. */
  readonly atOnce: number
  /** Items in one batch. */
  readonly most: number
  /** Items of one key never travel in the same batch. */
  readonly keyOf?: (item: Item) => string
  /** Settles every item of the batch. Resolves when the next batch may take its place; never rejects. */
  carry(batch: readonly Waiting<Item, Result>[], queue: Queue<Item, Result>): Promise<void>
}

export interface Queue<Item, Result> {
  add(waiting: Waiting<Item, Result>): void
  /** Takes everyone who waits out of the queue. */
  clear(): readonly Waiting<Item, Result>[]
}

/** After this many items in a row that found the queue empty, the next is sent at once. After a single one, that cost a tenth of the rate under load. */
const LONG_ALONE = 16
/** In milliseconds: as long as the driver gives a statement. */
const LONGEST_WAIT = 4000

/** True for an item that has waited too long and has been told so. */
export const gaveUp = ({ askedAt, reject }: Pick<Waiting<unknown, never>, 'askedAt' | 'reject'>): boolean => {
  if (performance.now() - askedAt < LONGEST_WAIT) return false
  reject(unavailable(new StatementError(`waited for ${LONGEST_WAIT} ms`, undefined)))
  return true
}

/**
 * Sends the items that one turn of the event loop brings as one batch. While `atOnce` batches are under way, newcomers wait
 * for the next one. An item that has been the only one for long does not wait for the end of the turn.
 */
export const createQueue = <Item, Result>({
  atOnce,
  most,
  keyOf,
  carry
}: QueueOptions<Item, Result>): Queue<Item, Result> => {
  let waiting: Waiting<Item, Result>[] = []
  let underWay = 0
  let scheduled = false
  let alone = 0
  /** True from the early departure of an item to the end of that turn of the event loop. */
  let hurried = false

  const depart = (): void => {
    scheduled = false
    // The longest waiting stand first.
    while (waiting[0] !== undefined && gaveUp(waiting[0])) waiting.shift()
    while (waiting.length > 0 && underWay < atOnce) {
      underWay += 1
      void carry(nextBatch(), queue).then(arrive)
    }
  }

  const arrive = (): void => {
    underWay -= 1
    if (scheduled) return
    scheduled = true
    // A tick runs after all promise callbacks: whoever asks next because of these answers is in the next batch.
    process.nextTick(depart)
  }

  /** The longest waiting, at most `most` of them and of each key the first. */
  const nextBatch = (): readonly Waiting<Item, Result>[] => {
    if (keyOf === undefined) return waiting.splice(0, most)
    const first = new Map<string, Waiting<Item, Result>>()
    for (const each of waiting) {
      const key = keyOf(each.item)
      if (!first.has(key) && first.size < most) first.set(key, each)
    }
    const batch = new Set(first.values())
    waiting = waiting.filter(each => !batch.has(each))
    return [...batch]
  }

  const hurry = (): void => {
    hurried = true
    // An engine in this process has answered before the others of the turn have asked: they are no less together.
    setImmediate(() => {
      hurried = false
    })
    // After all promise callbacks of this event, so that callers which it resumed together travel together.
    queueMicrotask(() => process.nextTick(depart))
  }

  const queue: Queue<Item, Result> = {
    add(each) {
      alone = underWay + waiting.length === 0 && !hurried ? alone + 1 : 0
      waiting.push(each)
      if (scheduled || underWay === atOnce) return
      scheduled = true
      if (alone > LONG_ALONE) hurry()
      else setImmediate(depart)
    },
    clear: () => waiting.splice(0)
  }
  return queue
}
