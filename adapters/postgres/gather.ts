import { hadNoEffect } from './errors.js'

/** Does what is asked with all items in one statement. The results are in the order of the items. */
type Many<Item, Result> = (items: readonly Item[]) => Promise<readonly Result[]>

/** Statements of a kind on the way at once: with one, PostgreSQL would wait for Node between two; a third gains nothing. */
const AT_ONCE = 2
/** Items in one statement. */
const MOST = 256
/** After so many items in a row that each found nobody before it, one more need not wait. After a single one, that cost a tenth under load. */
const LONG_ALONE = 16

interface Waiting<Item, Result> {
  readonly item: Item
  resolve(result: Result): void
  reject(reason: unknown): void
}

/**
 * Sends what is asked for in one turn of the event loop in one statement, and lets what comes while two are on their way wait for the
 * next; who has long been alone does not wait for the end of the turn. Items of one key never travel together: what `many` could not
 * tell apart. Each item gets exactly what it would have got alone: when a statement of several fails, each is tried by itself, but not
 * after a lost connection: what a write did is unknown then, and whoever waits has waited long enough.
 */
export const gather = <Item, Result>(
  many: Many<Item, Result>,
  keyOf?: (item: Item) => string
): ((item: Item) => Promise<Result>) => {
  let waiting: Waiting<Item, Result>[] = []
  let underWay = 0
  let scheduled = false
  let alone = 0
  /** An item of this turn has not waited for its end. */
  let hurried = false

  const depart = (): void => {
    scheduled = false
    while (waiting.length > 0 && underWay < AT_ONCE) {
      underWay += 1
      void carry(nextBatch())
    }
  }

  /** The longest waiting, at most {@link MOST} of them and of each key the first. */
  const nextBatch = (): readonly Waiting<Item, Result>[] => {
    if (keyOf === undefined) return waiting.splice(0, MOST)
    const first = new Map<string, Waiting<Item, Result>>()
    for (const each of waiting) {
      const key = keyOf(each.item)
      if (!first.has(key) && first.size < MOST) first.set(key, each)
    }
    const batch = new Set(first.values())
    waiting = waiting.filter(each => !batch.has(each))
    return [...batch]
  }

  const carry = async (batch: readonly Waiting<Item, Result>[]): Promise<void> => {
    try {
      await send(batch)
    } catch (error) {
      if (!hadNoEffect(error)) {
        for (const { reject } of [...batch, ...waiting.splice(0)]) reject(error)
      } else if (batch.length === 1) {
        for (const { reject } of batch) reject(error)
      } else {
        await Promise.all(batch.map(each => send([each]).catch(each.reject)))
      }
    }
    underWay -= 1
    depart()
  }

  const send = async (batch: readonly Waiting<Item, Result>[]): Promise<void> => {
    const results = await many(batch.map(({ item }) => item))
    for (const [index, result] of results.entries()) batch[index]?.resolve(result)
  }

  const hurry = (): void => {
    // Until the turn is over: an engine in this process has answered before the others of the turn have asked.
    hurried = true
    setImmediate(() => {
      hurried = false
    })
    onceSettled(depart)
  }

  return item =>
    new Promise((resolve, reject) => {
      alone = underWay + waiting.length === 0 && !hurried ? alone + 1 : 0
      waiting.push({ item, resolve, reject })
      if (scheduled || underWay === AT_ONCE) return
      scheduled = true
      if (alone > LONG_ALONE) hurry()
      else inOneCall(depart)
    })
}

/** After everyone whom the same event let go on has asked: a tick runs once all microtasks have. */
const onceSettled = (depart: () => void): void => queueMicrotask(() => process.nextTick(depart))

let departing: (() => void)[] = []

/** Runs what is asked for in one turn of the event loop in one call at its end: what {@link createJoin} joins departs together. */
const inOneCall = (depart: () => void): void => {
  if (departing.push(depart) > 1) return
  setImmediate(() => {
    const all = departing
    departing = []
    for (const each of all) each()
  })
}
