import { hadNoEffect } from '../connection/errors.js'
import { createQueue, gaveUp, type Queue, type Waiting } from './queue.js'

/** Does what is asked with all items in one statement. The results are in the order of the items. */
type Many<Item, Result> = (items: readonly Item[]) => Promise<readonly Result[]>

/** With one statement under way, PostgreSQL would wait for Node between two. */
const AT_ONCE = 2
const MOST = 256
/** Few, as each takes a connection that others want. */
const RETRIES_AT_ONCE = 4

/**
 * Sends writes that are asked for at once in one statement (see {@link createQueue}). Each item gets exactly what it would
 * have got alone: when PostgreSQL rolled a statement of several back, each is tried by itself. After a lost connection
 * nothing is tried again, as what the write did is unknown, and whoever waits is told as well.
 */
export const gather = <Item, Result>(
  many: Many<Item, Result>,
  keyOf: (item: Item) => string
): ((item: Item) => Promise<Result>) => {
  type Batch = readonly Waiting<Item, Result>[]

  const send = async (batch: Batch): Promise<void> => {
    const results = await many(batch.map(({ item }) => item))
    for (const [index, result] of results.entries()) batch[index]?.resolve(result)
  }

  const sendEachAlone = async (batch: Batch): Promise<void> => {
    const left = [...batch]
    const sendOneByOne = async (): Promise<void> => {
      for (let each = left.shift(); each !== undefined; each = left.shift()) {
        if (!gaveUp(each)) await send([each]).catch(each.reject)
      }
    }
    await Promise.all(Array.from({ length: RETRIES_AT_ONCE }, sendOneByOne))
  }

  const carry = async (batch: Batch, queue: Queue<Item, Result>): Promise<void> => {
    try {
      await send(batch)
    } catch (error) {
      if (!hadNoEffect(error)) for (const { reject } of [...batch, ...queue.clear()]) reject(error)
      else if (batch.length === 1) for (const { reject } of batch) reject(error)
      else await sendEachAlone(batch)
    }
  }

  const queue = createQueue({ atOnce: AT_ONCE, most: MOST, keyOf, carry })
  return item => new Promise((resolve, reject) => queue.add({ item, askedAt: performance.now(), resolve, reject }))
}
