import { sql } from 'drizzle-orm'
import type { Driver } from '../driver.js'
import { hadNoEffect, isLocked } from '../errors.js'
import { createQueue, gaveUp, type Waiting } from '../queue.js'
import { padded } from '../values.js'
import { compose, type Find, MANY, ONE } from './statement.js'

/** What a look-up asks with, in the select of a {@link Lookup}. */
export const key = sql.placeholder('key')

/** How rows of one kind are found by a key. */
export interface Lookup<Key, Row> extends Pick<Find, 'name' | 'type'> {
  /** Finds one row or none by {@link key}. The first column is never null. Columns are cast, so that a plan outlives a change of their types. */
  readonly select: { toSQL(): { readonly sql: string } }
  readonly columns: object
  /** PostgreSQL's literal of a key inside a list. */
  literal(key: Key): string
  /** The values are in the order of the columns. */
  read(values: readonly unknown[]): Row
  /** Look-ups that name the same company are asked for by the same requests, and travel in one statement. */
  readonly company?: string
}

export interface Lookups {
  /** Undefined when there is no row. */
  create<Key, Row>(lookup: Lookup<Key, Row>): (key: Key) => Promise<Row | undefined>
}

/** A kind of look-up as the queue sees it. */
interface Kind extends Find {
  readonly company: string
  /** True from the first time that its table was found locked until it is found free. */
  locked: boolean
  /** Who is to be served apart while {@link locked}. */
  readonly apart: Asked[]
  /** True while a statement that serves some of them is under way. */
  busy: boolean
}

interface Item {
  readonly kind: Kind
  readonly literal: string
}

type Values = readonly unknown[]
type Asked = Waiting<Item, Values | undefined>

/** With one statement under way, PostgreSQL would wait for Node between two; a third gains nothing. */
const AT_ONCE = 2
/** 256 requests, each with its bearer check and its read. */
const MOST = 512

/**
 * Sends look-ups of all kinds through one queue, on the connection that is for them alone (`read`). Each is answered as it
 * would have been alone: when a statement of several fails, each kind and then each key is tried by itself. A look-up that
 * finds its table locked goes on over the pool (`write`) and holds nobody else up. See README.md in this folder.
 */
export const createLookups = ({ read, write }: Pick<Driver, 'read' | 'write'>): Lookups => {
  const texts = new Map<string, string>()

  const textOf = (finds: readonly Find[], single: boolean): string => {
    const form = single ? ONE : MANY
    const name = form.name + finds.map(({ name }) => name).join()
    const text = texts.get(name) ?? compose(finds, form)
    texts.set(name, text)
    return text
  }

  /** Sends the look-ups of some kinds in one statement and answers them. */
  const send = async (groups: ReadonlyMap<Kind, readonly Asked[]>, run = read): Promise<void> => {
    const lists = [...groups.values()]
    const text = textOf(
      [...groups.keys()],
      lists.every(({ length }) => length === 1)
    )
    const values = lists.map(list => `{${list.map(({ item }) => item.literal).join()}}`)
    const rows = await run(
      text,
      values.map((list, index) => (index === 0 ? padded(list) : list))
    )
    let column = 1
    for (const [{ width }, asked] of groups) {
      for (const row of rows) {
        const each = asked[Number(row[0]) - 1]
        each?.resolve(row[column] === null ? undefined : row.slice(column, column + width))
      }
      column += width
    }
  }

  /** Sends some kinds together, and after a failure that had no effect apart. Never rejects. */
  const serve = async (groups: ReadonlyMap<Kind, readonly Asked[]>): Promise<void> => {
    try {
      await send(groups)
    } catch (error) {
      const apart = [...groups]
      const [[kind, asked] = [undefined, []]] = apart
      if (!hadNoEffect(error)) {
        for (const { reject } of [...apart.flatMap(([, asked]) => asked), ...queue.clear()]) reject(error)
      } else if (apart.length > 1) await Promise.all(apart.map(([kind, asked]) => serve(new Map([[kind, asked]]))))
      else if (kind !== undefined && isLocked(error)) void detour(kind, asked)
      else if (kind !== undefined && asked.length > 1) {
        await Promise.all(asked.map(each => serve(new Map([[kind, [each]]]))))
      } else for (const { reject } of asked) reject(error)
    }
  }

  /** Serves a kind over the pool, away from the others, until a statement of it has found its tables free. */
  const detour = async (kind: Kind, asked: readonly Asked[]): Promise<void> => {
    kind.locked = true
    kind.apart.push(...asked)
    if (kind.busy) return
    kind.busy = true
    while (kind.locked && kind.apart.length > 0) {
      const next = kind.apart.splice(0, MOST).filter(each => !gaveUp(each))
      try {
        if (next.length > 0) await send(new Map([[kind, next]]), write)
        kind.locked = next.length === 0
      } catch (error) {
        for (const { reject } of next) reject(error)
      }
    }
    kind.busy = false
    for (const each of kind.apart.splice(0)) queue.add(each)
  }

  const carry = async (batch: readonly Asked[]): Promise<void> => {
    const companies = new Map<string, Map<Kind, Asked[]>>()
    for (const each of batch) {
      const { kind } = each.item
      const groups = companies.get(kind.company) ?? new Map<Kind, Asked[]>()
      const group = groups.get(kind)
      if (kind.locked) void detour(kind, [each])
      else if (group !== undefined) group.push(each)
      else companies.set(kind.company, groups.set(kind, [each]))
    }
    await Promise.all(Array.from(companies.values(), serve))
  }

  const queue = createQueue({ atOnce: AT_ONCE, most: MOST, carry })

  return {
    create({ name, select, columns, type, literal, read, company = name }) {
      const width = Object.keys(columns).length
      const kind: Kind = { name, text: select.toSQL().sql, type, width, company, locked: false, apart: [], busy: false }
      return key =>
        new Promise((resolve, reject) => {
          queue.add({
            item: { kind, literal: literal(key) },
            askedAt: performance.now(),
            resolve: values => resolve(values && read(values)),
            reject
          })
        })
    }
  }
}
