import type { Driver } from '../connection/driver.js'
import { hadNoEffect } from '../connection/errors.js'
import { createQueue, type Queue, rejectIfLate, type Waiting } from './queue.js'

/** Writes all items in one statement. The results are in the order of the items. */
type WriteAll<Item, Result> = (items: readonly Item[]) => Promise<readonly Result[]>

interface GatherOptions<Item, Result> {
  /** Writes an item that has come alone: a statement without lists costs PostgreSQL and Node less. */
  readonly writeOne?: (item: Item) => Promise<Result>
  /** Items with the same key are never in the same batch. */
  readonly keyOf?: (item: Item) => string
  /** How many batches may be under way at once. */
  readonly maxBatches?: number
  /** How many of them may be under way that are not slow: 1 or 2. */
  readonly usualBatches?: number
  /** While fewer items are under way, one batch more may be. */
  readonly fewItems?: number
}

/**
 * With one batch under way, PostgreSQL would wait for Node between two statements. More than two are smaller, and each
 * statement has costs of its own.
 */
const USUAL_BATCHES = 2
/**
 * While batches are small, a third one may be under way. Otherwise, with four connections, one request would wait until
 * two batches of others are committed. With a third batch PostgreSQL commits all of them together, and at 4 and 8
 * connections Node takes 0.8 to 0.9 of its time for a write.
 */
const FEW_ITEMS = 8
/** The part of the connections on which batches of one kind are under way. The rest is for everything else. */
const PART = 1 / 2
const MAX_ITEMS = 256
/**
 * PostgreSQL begins with these while Node works on the requests behind them: refreshes at 64 connections come at 1.13 to
 * 1.17 of the rate. A statement has costs of its own: with eight items the rate is as if all had waited for each other.
 */
const ENOUGH_ITEMS = 24
/** Few, as each takes a connection that other statements need. */
const RETRIES_AT_ONCE = 4

/**
 * Collects single writes and sends each batch of them in one statement; {@link createQueue} says when. Each item gets
 * exactly the result that it would get alone: when PostgreSQL rolled back a statement of several items, each item is
 * sent by itself. After a lost connection nothing is sent again, as it is unknown what the writes did, and the items
 * that wait in the queue are rejected as well.
 */
export const gather = <Item, Result>(
  { writers }: Pick<Driver, 'writers'>,
  writeAll: WriteAll<Item, Result>,
  {
    writeOne,
    keyOf,
    usualBatches = USUAL_BATCHES,
    fewItems = FEW_ITEMS,
    maxBatches = Math.max(USUAL_BATCHES, Math.floor(writers * PART))
  }: GatherOptions<Item, Result> = {}
): ((item: Item) => Promise<Result>) => {
  type Batch = readonly Waiting<Item, Result>[]

  const send = async (batch: Batch): Promise<void> => {
    const [first] = batch
    if (writeOne !== undefined && first !== undefined && batch.length === 1) {
      first.resolve(await writeOne(first.item))
      return
    }
    const results = await writeAll(batch.map(({ item }) => item))
    for (const [index, result] of results.entries()) batch[index]?.resolve(result)
  }

  const sendEachAlone = async (batch: Batch): Promise<void> => {
    const left = [...batch]
    const sendOneByOne = async (): Promise<void> => {
      for (let each = left.shift(); each !== undefined; each = left.shift()) {
        if (!rejectIfLate(each)) await send([each]).catch(each.reject)
      }
    }
    await Promise.all(Array.from({ length: RETRIES_AT_ONCE }, sendOneByOne))
  }

  const sendBatch = async (batch: Batch, queue: Queue<Item, Result>): Promise<void> => {
    try {
      await send(batch)
    } catch (error) {
      if (!hadNoEffect(error)) for (const { reject } of [...batch, ...queue.clear()]) reject(error)
      else if (batch.length === 1) for (const { reject } of batch) reject(error)
      else await sendEachAlone(batch)
    }
  }

  const queue = createQueue({
    maxBatches,
    usualBatches,
    fewItems,
    maxItems: MAX_ITEMS,
    enoughItems: ENOUGH_ITEMS,
    ...(keyOf && { keyOf }),
    sendBatch
  })
  return item => new Promise((resolve, reject) => queue.add({ item, askedAt: performance.now(), resolve, reject }))
}
