import type { Driver, Run } from './driver.js'
import { hadNoEffect } from './errors.js'
import { compose, type Find, MANY, ONE } from './joined-statement.js'
import { padded } from './values.js'

/** What each of `count` keys finds, a list of its columns; `keys` is PostgreSQL's literal of their list. */
export type Join = (find: Find, keys: string, count: number) => Promise<readonly (readonly unknown[] | undefined)[]>

export interface JoiningDriver extends Driver {
  readonly join: Join
}

interface Asked {
  readonly find: Find
  readonly keys: string
  readonly count: number
  resolve(found: readonly (readonly unknown[] | undefined)[]): void
  reject(reason: unknown): void
}

/**
 * Sends selects of several kinds that are asked for at once as one statement, the bearer check and the read of a request say: a
 * statement costs Node and PostgreSQL as much as several rows. Each is answered as it would have been alone: when a statement of
 * several fails, each is tried by itself.
 */
export const createJoin = (run: Run): Join => {
  const texts = new Map<string, string>()
  let waiting: Asked[] = []

  const depart = (): void => {
    const departing = waiting
    waiting = []
    // Each kind once in a statement: the texts stay few.
    for (const group of groupsOf(departing)) void send(group)
  }

  const send = async (group: readonly Asked[]): Promise<void> => {
    try {
      const values = group.map(({ keys }, index) => (index === 0 ? padded(keys) : keys))
      answer(group, await run(textOf(group), values))
    } catch (error) {
      if (group.length > 1 && hadNoEffect(error)) for (const asked of group) void send([asked])
      else for (const { reject } of group) reject(error)
    }
  }

  const textOf = (group: readonly Asked[]): string => {
    const form = group.every(({ count }) => count === 1) ? ONE : MANY
    const finds = group.map(({ find }) => find)
    const name = form.name + finds.map(({ name }) => name).join()
    const text = texts.get(name) ?? compose(finds, form)
    texts.set(name, text)
    return text
  }

  return (find, keys, count) =>
    new Promise((resolve, reject) => {
      // A tick runs once all microtasks have: after everyone whom one answer let go on has asked for the next.
      if (waiting.push({ find, keys, count, resolve, reject }) === 1) process.nextTick(depart)
    })
}

const groupsOf = (departing: readonly Asked[]): readonly (readonly Asked[])[] => {
  const groups: Asked[][] = []
  for (const asked of departing) {
    const group = groups.find(others => others.every(({ find }) => find !== asked.find))
    if (group === undefined) groups.push([asked])
    else group.push(asked)
  }
  return groups
}

const answer = (group: readonly Asked[], rows: readonly (readonly unknown[])[]): void => {
  let column = 1
  for (const { find, count, resolve } of group) {
    const found = new Array<readonly unknown[] | undefined>(count).fill(undefined)
    for (const row of rows) {
      if (row[column] !== null) found[Number(row[0]) - 1] = row.slice(column, column + find.width)
    }
    column += find.width
    resolve(found)
  }
}
