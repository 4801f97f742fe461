import { inBatches } from './batches.js'
import type { Driver, Run, Value } from './connection/driver.js'
import { hadNoEffect, isLocked } from './connection/errors.js'
import { bytes, listOf, type Selection } from './sql.js'

/** How one kind of look-up finds its row. */
interface Lookup<Record> {
  /** Kinds of one group share a statement, because the same requests need them. A kind without a group has its own. */
  readonly group?: string
  /** Its first column is never null: a null there means that no row was found. */
  readonly selection: Selection<Record>
  /** What stands behind `select …`, and finds one row or none by the key $1. */
  readonly from: string
  /** The type of the key. A key for `bytea` is base64url. */
  readonly type: 'bigint' | 'bytea' | 'text' | 'uuid'
}

export type Lookups = ReturnType<typeof createLookups>

type Values = readonly unknown[]

interface Item {
  readonly kind: Kind
  readonly value: Value
}

interface Kind {
  readonly type: string
  readonly text: string
  readonly width: number
  /** Finds it over the pool, in statements of this kind alone. */
  readonly findAlone: (item: Item) => Promise<Values | undefined>
  /** True from the failure of a shared statement until a statement of this kind alone succeeds. */
  isAlone: boolean
}

/** A statement for kinds of look-ups, each with a list of keys. `unnest` fills shorter lists with nulls: they find nothing. */
const composed = (kinds: readonly Kind[]): string => {
  const lists = kinds.map(({ type }, index) => `$${index + 1}::${type}[]`)
  const keys = kinds.map((_, index) => `key_${index}`)
  const columns = kinds.map((_, index) => `found_${index}.*`)
  const finds = kinds.map(
    ({ text }, index) =>
      `left join lateral (${text.replaceAll('$1', `requested.key_${index}`)}) as found_${index} on true`
  )
  return `select position::int4, ${columns.join()}
from unnest(${lists.join()}) with ordinality as requested (${keys.join()}, position)
${finds.join('\n')}`
}

/**
 * Look-ups of one turn of the event loop travel in one statement for each {@link Lookup.group}, over the connections
 * for look-ups. When PostgreSQL refuses such a statement, each of its kinds goes on by itself, over the pool, until a
 * statement of it succeeds: so whoever waits for a locked table holds up no other kind.
 *
 * `onBatch` is called with the number of look-ups of each shared statement.
 */
export const createLookups = (
  { lookUp, query }: Pick<Driver, 'lookUp' | 'query'>,
  onBatch?: (size: number) => void
) => {
  /** Sends all items in one statement. Resolves with the values of each item's row, from its kind's first column on. */
  const find = async (kinds: readonly Kind[], items: readonly Item[], run: Run) => {
    const groups = kinds.map(kind => ({ kind, asked: items.filter(item => item.kind === kind) }))
    const present = groups.filter(({ asked }) => asked.length > 0)
    const rows = await run(
      composed(present.map(({ kind }) => kind)),
      present.map(({ asked }) => listOf(asked.map(({ value }) => value)))
    )
    const found = new Map<Item, Values>()
    let start = 1
    for (const { kind, asked } of present) {
      for (const values of rows) {
        const item = asked[Number(values[0]) - 1]
        if (item !== undefined && values[start] !== null) found.set(item, values.slice(start))
      }
      start += kind.width
    }
    return items.map(item => found.get(item))
  }

  const createStatement = () => {
    const kinds: Kind[] = []
    const findTogether = inBatches<Item, Values | undefined>(
      async items => {
        onBatch?.(items.length)
        try {
          return await find(kinds, items, lookUp)
        } catch (error) {
          if (!hadNoEffect(error)) throw error
          return items.map(item => {
            item.kind.isAlone = true
            return item.kind.findAlone(item)
          })
        }
      },
      // One at a time: a statement takes Node as long as three look-ups in it.
      { most: 512, atOnce: 1 }
    )
    return { kinds, findTogether }
  }
  const groups = new Map<string, ReturnType<typeof createStatement>>()

  return {
    /** Returns the function that looks a key up: it resolves with undefined when there is no row. */
    create<Key extends string | number, Record>({ type, selection, from, group = from }: Lookup<Record>) {
      const statement = groups.get(group) ?? createStatement()
      groups.set(group, statement)
      const kind: Kind = {
        type,
        text: `select ${selection.text} ${from}`,
        width: selection.width,
        isAlone: false,
        findAlone: inBatches<Item, Values | undefined>(
          async items => {
            const found = await find([kind], items, query)
            kind.isAlone = false
            return found
          },
          // All keys of a locked table wait alike.
          { most: 512, atOnce: 1, mayRetry: error => hadNoEffect(error) && !isLocked(error) }
        )
      }
      statement.kinds.push(kind)
      return async (key: Key): Promise<Record | undefined> => {
        const item = { kind, value: type === 'bytea' ? bytes(String(key)) : key }
        const values = await (kind.isAlone ? kind.findAlone(item) : statement.findTogether(item))
        return values && selection.read(values)
      }
    }
  }
}
