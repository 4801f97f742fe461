import { eq } from 'drizzle-orm'
import { latest } from '../../core/instants.js'
import type { Digest } from '../../core/model.js'
import type { AttemptStore, FullWindow, KnownLogin } from '../../core/ports.js'
import { COUNT, FAIL, GIVE_BACK, REMOVE_KNOWN, REMOVE_WINDOWS } from './attempt-statements.js'
import { type Attempt, fullOfEach, judgeEach, totalsOf, type Window } from './attempt-windows.js'
import type { Driver } from './connection/driver.js'
import { isDuplicate, unavailable } from './connection/errors.js'
import { gather } from './lookup/gather.js'
import { key, type Lookups } from './lookup/lookups.js'
import { knownLogins } from './schema.js'
import { typed } from './sql/columns.js'
import { builder } from './sql/statements.js'
import { bytes, bytesList, instantList, numberList, readBytes, readInstant } from './sql/values.js'

const knownColumns = { until: typed(knownLogins.until) }

const readWindow = (count: unknown, endsAt: unknown, countedAt: unknown, failures: unknown): Window => ({
  count: Number(count),
  endsAt: readInstant(endsAt),
  countedAt: readInstant(countedAt),
  failures: Number(failures)
})

/** A second batch would wait for the locks of the first. */
const ONE_BATCH = { maxBatches: 1 }

const TRIES = 3

/** The full windows of an attempt that is refused; undefined for one that is counted. */
type Outcome = readonly FullWindow[] | 'again' | undefined

/** How often each key is in the lists, as two lists of PostgreSQL. The times of a key that is cleared are null. */
const timesOf = (
  lists: readonly (readonly Digest[])[],
  cleared: readonly Digest[] = []
): readonly [keys: string, times: string] => {
  const times = new Map<Digest, number | undefined>()
  for (const key of lists.flat()) times.set(key, (times.get(key) ?? 0) + 1)
  for (const key of cleared) times.set(key, undefined)
  return [bytesList([...times.keys()]), numberList([...times.values()])]
}

interface GivenBack {
  readonly counted: readonly Digest[]
  readonly cleared: Digest | undefined
  readonly known: KnownLogin | undefined
}

export const createAttemptStore = (driver: Pick<Driver, 'write' | 'writers'>, lookups: Lookups): AttemptStore => {
  const { write } = driver
  const findKnown = lookups.create({
    name: 'known_login',
    columns: knownColumns,
    select: builder(write).select(knownColumns).from(knownLogins).where(eq(knownLogins.key, key)),
    type: 'bytea',
    value: bytes,
    read: ({ until }) => readInstant(until)
  })

  const remove = async (statement: string, at: Date, limit: number): Promise<number> => {
    const [row] = await write(statement, [at, limit])
    return Number(row?.[0])
  }

  /** Counts all of them and resolves to undefined, or counts none and resolves to the windows of their keys. */
  const countTogether = async (attempts: readonly Attempt[]): Promise<ReadonlyMap<Digest, Window> | undefined> => {
    const totals = [...totalsOf(attempts).entries()]
    const times = attempts.map(({ at }) => at.getTime())
    const values = [
      bytesList(totals.map(([key]) => key)),
      numberList(totals.map(([, { times }]) => times)),
      numberList(totals.map(([, { most }]) => most)),
      instantList(totals.map(([, { countedAt }]) => countedAt)),
      instantList(totals.map(([, { endsAt }]) => endsAt)),
      new Date(Math.min(...times)),
      new Date(Math.max(...times))
    ]
    const rows = await againIfDuplicate(TRIES, () => write(COUNT, values))
    if (rows[0]?.[0] === true) return undefined
    return new Map(
      rows
        .filter(([, key]) => key !== null)
        .map(([, key, count, endsAt, countedAt, failures]) => [
          readBytes(key),
          readWindow(count, endsAt, countedAt, failures)
        ])
    )
  }

  /**
   * Counts attempts that fit, maybe not all of them. The others have the outcome `again` and are sent once more. Only the
   * last statement counts anything, so a failure has no effect.
   */
  const countSome = async (attempts: readonly Attempt[]): Promise<readonly Outcome[]> => {
    const outcomes = new Map<Attempt, Outcome>(attempts.map(attempt => [attempt, 'again']))
    let part = attempts
    while (part.length > 0) {
      const windows = await countTogether(part)
      if (windows === undefined) {
        for (const attempt of part) outcomes.set(attempt, undefined)
        break
      }
      const refused = part.length === 1 ? fullOfEach(part, windows) : judgeEach(part, windows)
      for (const [attempt, full] of refused) outcomes.set(attempt, full)
      const others = part.filter(attempt => !refused.has(attempt))
      // Where all fit one after the other, a window ends between them.
      part = others.length < part.length ? others : others.slice(0, Math.ceil(others.length / 2))
    }
    return attempts.map(attempt => outcomes.get(attempt))
  }

  // Logins from one address count under the same key, whose row one transaction after the other can lock: so all who come
  // meanwhile travel together.
  const count = gather(driver, countSome, ONE_BATCH)

  const fail = gather(
    driver,
    async (failed: readonly (readonly Digest[])[]) => {
      await write(FAIL, timesOf(failed))
      return failed.map(() => undefined)
    },
    ONE_BATCH
  )

  const giveBack = gather(
    driver,
    async (given: readonly GivenBack[]) => {
      const known = new Map<Digest, Date>()
      for (const { known: login } of given) {
        if (login !== undefined) known.set(login.key, latest(login.until, known.get(login.key)))
      }
      await write(GIVE_BACK, [
        ...timesOf(
          given.map(({ counted }) => counted),
          given.flatMap(({ cleared }) => cleared ?? [])
        ),
        bytesList([...known.keys()]),
        instantList([...known.values()])
      ])
      return given.map(() => undefined)
    },
    ONE_BATCH
  )

  return {
    async take(limits, at, windowSeconds) {
      for (;;) {
        const outcome = await count({ limits, at, windowSeconds })
        if (outcome !== 'again') return outcome
      }
    },

    fail: keys => fail(keys),

    giveBack: (counted, cleared, known) => giveBack({ counted, cleared, known }),

    findKnown,

    async removeExpired(at, limit) {
      const removed = await remove(REMOVE_WINDOWS, at, limit)
      return removed + (await remove(REMOVE_KNOWN, at, limit - removed))
    }
  }
}

/** Runs `work` again when it met a duplicate (23505): the next time it sees the row. */
const againIfDuplicate = async <T>(tries: number, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (!isDuplicate(error)) throw error
    if (tries === 1) throw unavailable(error)
    return againIfDuplicate(tries - 1, work)
  }
}
