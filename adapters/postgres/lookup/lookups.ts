import { sql } from 'drizzle-orm'
import type { Driver } from '../connection/driver.js'
import { hadNoEffect, isLocked } from '../connection/errors.js'
import { type Columns, type Row, rowsOf } from '../sql/columns.js'
import { padded } from '../sql/values.js'
import { createQueue, gaveUp, type Waiting } from './queue.js'
import { compose, type Find, MANY, ONE } from './statement.js'

/** What a look-up asks with, in the select of a {@link Lookup}. */
export const key = sql.placeholder('key')

/** How rows of one kind are found by a key. */
export interface Lookup<Key, Found> extends Pick<Find, 'name' | 'type'> {
  /** Finds one row or none by {@link key}. The first column is never null. Columns are cast, so that a plan outlives a change of their types. */
  readonly select: { toSQL(): { readonly sql: string } }
  readonly columns: Columns
  /** PostgreSQL's literal of a key inside a list. */
  literal(key: Key): string
  read(row: Row): Found
  /** Look-ups that name the same company are asked for by the same requests, and travel in one statement. */
  readonly company?: string
}

export interface Lookups {
  /** Undefined when there is no row. */
  create<Key, Found>(lookup: Lookup<Key, Found>): (key: Key) => Promise<Found | undefined>
}

/** The kinds of look-ups that travel together. */
interface Company {
  /** Those that the batch which is being made up asks for. */
  kinds: Kind[]
}

/** A kind of look-up as the queue sees it. */
interface Kind extends Find {
  readonly company: Company
  /** Who asks for it in the batch which is being made up. */
  asked: Asked[]
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

interface Group {
  readonly kind: Kind
  readonly asked: readonly Asked[]
}

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
  const send = async (groups: readonly Group[], run = read): Promise<void> => {
    const text = textOf(
      groups.map(({ kind }) => kind),
      groups.every(({ asked }) => asked.length === 1)
    )
    const lists = groups.map(({ asked }, index) => {
      const list = `{${asked.map(({ item }) => item.literal).join()}}`
      return index === 0 ? padded(list) : list
    })
    const rows = await run(text, lists)
    let column = 1
    for (const { kind, asked } of groups) {
      const end = column + kind.width
      for (const row of rows) {
        asked[Number(row[0]) - 1]?.resolve(row[column] === null ? undefined : row.slice(column, end))
      }
      column = end
    }
  }

  /** Sends some kinds together, and after a failure that had no effect apart. Never rejects. */
  const serve = async (groups: readonly Group[]): Promise<void> => {
    try {
      await send(groups)
    } catch (error) {
      const everyone = groups.flatMap(({ asked }) => asked)
      const [first] = groups
      if (!hadNoEffect(error)) for (const { reject } of [...everyone, ...queue.clear()]) reject(error)
      else if (groups.length > 1) await Promise.all(groups.map(group => serve([group])))
      else if (first !== undefined && isLocked(error)) void detour(first)
      else if (first !== undefined && everyone.length > 1) {
        await Promise.all(everyone.map(each => serve([{ kind: first.kind, asked: [each] }])))
      } else for (const { reject } of everyone) reject(error)
    }
  }

  /** Serves a kind over the pool, away from the others, until a statement of it has found its tables free. */
  const detour = async ({ kind, asked }: Group): Promise<void> => {
    kind.locked = true
    kind.apart.push(...asked)
    if (kind.busy) return
    kind.busy = true
    while (kind.locked && kind.apart.length > 0) {
      const next = kind.apart.splice(0, MOST).filter(each => !gaveUp(each))
      try {
        if (next.length > 0) await send([{ kind, asked: next }], write)
        kind.locked = next.length === 0
      } catch (error) {
        for (const { reject } of next) reject(error)
      }
    }
    kind.busy = false
    for (const each of kind.apart.splice(0)) queue.add(each)
  }

  const carry = async (batch: readonly Asked[]): Promise<void> => {
    const companies: Company[] = []
    for (const each of batch) {
      const { kind } = each.item
      if (kind.locked) {
        void detour({ kind, asked: [each] })
        continue
      }
      if (kind.asked.length === 0) {
        if (kind.company.kinds.length === 0) companies.push(kind.company)
        kind.company.kinds.push(kind)
      }
      kind.asked.push(each)
    }
    await Promise.all(companies.map(company => serve(takeGroups(company))))
  }

  const queue = createQueue({ atOnce: AT_ONCE, most: MOST, carry })

  const companies = new Map<string, Company>()
  return {
    create({ name, select, columns, type, literal, read, company = name }) {
      const width = Object.keys(columns).length
      const readRow = rowsOf(columns)
      const travelling = companies.get(company) ?? { kinds: [] }
      companies.set(company, travelling)
      const state = { company: travelling, asked: [], locked: false, apart: [], busy: false }
      const kind: Kind = { name, text: select.toSQL().sql, type, width, ...state }
      return key =>
        new Promise((resolve, reject) => {
          queue.add({
            item: { kind, literal: literal(key) },
            askedAt: performance.now(),
            resolve: values => resolve(values && read(readRow(values))),
            reject
          })
        })
    }
  }
}

const takeGroups = (company: Company): readonly Group[] => {
  const groups = company.kinds.map(kind => ({ kind, asked: kind.asked }))
  for (const kind of company.kinds) kind.asked = []
  company.kinds = []
  return groups
}
