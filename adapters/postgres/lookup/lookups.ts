import { sql } from 'drizzle-orm'
import type { Driver, Run, Value } from '../connection/driver.js'
import { hadNoEffect, isLocked } from '../connection/errors.js'
import { type Columns, type Row, rowReader } from '../sql/columns.js'
import { driverValueList } from '../sql/values.js'
import { createQueue, rejectIfLate, type Waiting } from './queue.js'
import { composeStatement, type Find, MANY, ONE } from './statement.js'

/** The place of the key in the select of a {@link Lookup}. */
export const key = sql.placeholder('key')

/** How one kind of look-up finds its row. */
export interface Lookup<Key extends Value, Found> extends Pick<Find, 'type'> {
  /** A name that no other kind has. */
  readonly name: string
  /**
   * Finds one row or none by {@link key}. The first column is never null. The columns are cast (`typed`), so that a
   * plan outlives a change of their types. Each takes a hundredth of the time of a read, so none repeats the key.
   */
  readonly select: { toSQL(): { readonly sql: string } }
  readonly columns: Columns
  /** The value of the key for the driver, if it is not the key itself. */
  value?(key: Key): Value
  read(row: Row, key: Key): Found
  /**
   * Kinds with the same name here share one statement, because the same requests need them. Without it, a kind has a
   * statement of its own.
   */
  readonly sharedStatement?: string
}

export interface Lookups {
  /** Returns the function that looks a key up: it resolves with undefined when there is no row. */
  create<Key extends Value, Found>(lookup: Lookup<Key, Found>): (key: Key) => Promise<Found | undefined>
}

/** One or more kinds of look-ups that are sent in one statement. */
interface SharedStatement {
  readonly kinds: Kind[]
}

/** A kind of look-up, as the queue sees it. */
interface Kind extends Find {
  readonly statement: SharedStatement
  /** A power of two from 2 on, which no other kind has. */
  readonly bit: number
  /** Makes a row of the values from the place of its first column on. */
  readRow(values: readonly unknown[], start: number): Row
  /** Its look-ups in the batch that is being sent. */
  batch: WaitingLookup[]
  /** True from the first time that a statement found a table of this kind locked until one over the pool succeeds. */
  locked: boolean
  /** The look-ups that wait for the pool while {@link locked}. */
  readonly forPool: WaitingLookup[]
  /** True while `sendOverPool` runs for this kind. */
  onPool: boolean
}

interface Item {
  readonly kind: Kind
  /** The key. */
  readonly value: Value
}

type WaitingLookup = Waiting<Item, Row | undefined>

/** Look-ups of one kind. */
interface Group {
  readonly kind: Kind
  readonly lookups: readonly WaitingLookup[]
}

/** With one batch under way, PostgreSQL would wait for Node between two statements; a third batch gains nothing. */
const MAX_BATCHES = 2
/** Enough for 256 requests, each with its bearer check and its read. */
const MAX_ITEMS = 512
/**
 * Two for each of 32 requests. While PostgreSQL has nothing to do, it begins with these, and Node works on the requests
 * behind them meanwhile: reads at 64 connections come at 1.1 times the rate among a million heroes, and at the same rate among
 * a thousand. With 48, or also while PostgreSQL has a batch, the statements are more and smaller: what Node spends on them is
 * missed beside thousands of refused logins.
 */
const ENOUGH_ITEMS = 64
const EARLY_BATCHES = 1
/**
 * The last parameter of each statement. postgres.js sends a kilobyte at once, and less than that one turn of the event
 * loop later: at 16 connections that costs a twentieth of the rate. `repeat` would make a text of many parts, whose length in
 * bytes takes V8 eight times as long.
 */
const PADDING = Buffer.alloc(1024, ' ').toString()

/**
 * All look-ups of a process wait in one queue; {@link createQueue} says for what. A batch becomes one statement for
 * each {@link Lookup.sharedStatement}, sent over the connection for look-ups (`read`).
 *
 * Each look-up gets the answer that it would get alone: when a statement of several look-ups fails, each kind and then
 * each key is sent by itself. A look-up that finds its table locked is sent over the pool (`write`) and delays no other
 * kind. See README.md in this folder.
 *
 * `onBatch` is called with the number of look-ups of each batch.
 */
export const createLookups = (
  { read, write }: Pick<Driver, 'read' | 'write'>,
  onBatch?: (size: number) => void
): Lookups => {
  /** By the bits of the kinds, and 1 for a single key of each. */
  const texts = new Map<number, string>()

  const textOf = (groups: readonly Group[], single: boolean): string => {
    let bits = single ? 1 : 0
    for (const { kind } of groups) bits += kind.bit
    const known = texts.get(bits)
    if (known !== undefined) return known
    const kinds = groups.map(({ kind }) => kind)
    const text = composeStatement(kinds, single ? ONE : MANY)
    texts.set(bits, text)
    return text
  }

  /** Sends the look-ups of all groups in one statement. Resolves with its rows. */
  const send = (groups: readonly Group[], run: Run): Promise<unknown[][]> => {
    const single = isSingle(groups)
    const values: Value[] = []
    for (const { lookups } of groups) {
      if (single) for (const { item } of lookups) values.push(item.value)
      else values.push(driverValueList(lookups.map(({ item }) => item.value)))
    }
    values.push(PADDING)
    return run(textOf(groups, single), values)
  }

  /** Resolves the look-ups of all groups with the rows of the statement in which they were sent. */
  const resolve = (groups: readonly Group[], rows: readonly unknown[][]): void => {
    const single = isSingle(groups)
    let column = single ? 0 : 1
    for (const { kind, lookups } of groups) {
      for (const values of rows) {
        const index = single ? 0 : Number(values[0]) - 1
        lookups[index]?.resolve(values[column] === null ? undefined : kind.readRow(values, column))
      }
      column += kind.width
    }
  }

  /**
   * Sends all groups in one statement. If it fails without effect, sends each group and then each key alone. Never
   * rejects.
   */
  const serve = async (groups: readonly Group[]): Promise<void> => {
    try {
      resolve(groups, await send(groups, read))
    } catch (error) {
      await recover(groups, error)
    }
  }

  const recover = async (groups: readonly Group[], error: unknown): Promise<void> => {
    const all = groups.flatMap(({ lookups }) => lookups)
    const [first] = groups
    if (!hadNoEffect(error)) for (const { reject } of [...all, ...queue.clear()]) reject(error)
    else if (groups.length > 1) await Promise.all(groups.map(group => serve([group])))
    else if (first !== undefined && isLocked(error)) void sendOverPool(first)
    else if (first !== undefined && all.length > 1) {
      await Promise.all(all.map(each => serve([{ kind: first.kind, lookups: [each] }])))
    } else for (const { reject } of all) reject(error)
  }

  /**
   * Sends the look-ups of a kind over the pool, one statement at a time, until a statement succeeds or none is left.
   * Never rejects.
   */
  const sendOverPool = async ({ kind, lookups }: Group): Promise<void> => {
    kind.locked = true
    kind.forPool.push(...lookups)
    if (kind.onPool) return
    kind.onPool = true
    while (kind.locked && kind.forPool.length > 0) {
      const next = kind.forPool.splice(0, MAX_ITEMS).filter(each => !rejectIfLate(each))
      try {
        const groups = [{ kind, lookups: next }]
        if (next.length > 0) resolve(groups, await send(groups, write))
        kind.locked = next.length === 0
      } catch (error) {
        for (const { reject } of next) reject(error)
      }
    }
    kind.onPool = false
    for (const each of kind.forPool.splice(0)) queue.add(each)
  }

  const sendBatch = (batch: readonly WaitingLookup[]): Promise<unknown> => {
    onBatch?.(batch.length)
    const statements: SharedStatement[] = []
    for (const each of batch) {
      const { kind } = each.item
      if (kind.locked) {
        void sendOverPool({ kind, lookups: [each] })
        continue
      }
      if (!statements.includes(kind.statement)) statements.push(kind.statement)
      kind.batch.push(each)
    }
    const [only] = statements
    return only !== undefined && statements.length === 1
      ? serve(takeGroups(only))
      : Promise.all(statements.map(statement => serve(takeGroups(statement))))
  }

  const queue = createQueue({
    maxBatches: MAX_BATCHES,
    maxItems: MAX_ITEMS,
    enoughItems: ENOUGH_ITEMS,
    earlyBatches: EARLY_BATCHES,
    sendBatch
  })

  const statements = new Map<string, SharedStatement>()
  let nextBit = 2
  return {
    create({ name, select, columns, type, value = key => key, read, sharedStatement = name }) {
      const width = Object.keys(columns).length
      const statement = statements.get(sharedStatement) ?? { kinds: [] }
      statements.set(sharedStatement, statement)
      const state = { statement, bit: nextBit, batch: [], locked: false, forPool: [], onPool: false }
      const kind: Kind = { text: select.toSQL().sql, type, width, readRow: rowReader(columns), ...state }
      statement.kinds.push(kind)
      nextBit *= 2
      return key =>
        new Promise((resolve, reject) => {
          queue.add({
            item: { kind, value: value(key) },
            askedAt: performance.now(),
            resolve: row => resolve(row && read(row, key)),
            reject
          })
        })
    }
  }
}

/** Whether there is one key of each kind. */
const isSingle = (groups: readonly Group[]): boolean => groups.every(({ lookups }) => lookups.length === 1)

/** Takes the look-ups of the batch that is being sent. */
const takeGroups = ({ kinds }: SharedStatement): readonly Group[] => {
  const groups: Group[] = []
  for (const kind of kinds) {
    if (kind.batch.length === 0) continue
    groups.push({ kind, lookups: kind.batch })
    kind.batch = []
  }
  return groups
}
