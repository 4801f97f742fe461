import { eq } from 'drizzle-orm'
import { latest } from '../../core/instants.js'
import type { Digest } from '../../core/model.js'
import type { AttemptStore, FullWindow, KnownLogin } from '../../core/ports.js'
import { type Attempt, countEach, fullOf, type Window } from './attempt-windows.js'
import type { Driver } from './connection/driver.js'
import { gather } from './lookup/gather.js'
import { key, type Lookups } from './lookup/lookups.js'
import { attempts, knownLogins } from './schema.js'
import { typed } from './sql/columns.js'
import { builder } from './sql/statements.js'
import { bytesElement, bytesList, instantList, numberList, readBytes, readInstant } from './sql/values.js'

// Counts need not survive a crash of the server, so no statement waits until its counts are on the disk.
const WITHOUT_FLUSH = "set_config('synchronous_commit', 'off', true)"

// Every statement locks its rows in the order of their keys. In other orders two statements could deadlock (40P01).

// Locks the rows of the keys, and reads them as they are then. A missing key gets a row whose window has already ended.
const LOCK = `
insert into attempt (key, count, ends_at)
select key, 0, $2 from unnest($1::bytea[]) as wanted (key) order by key
on conflict (key) do update set key = excluded.key
returning key::bytea, count::int4, ends_at::timestamptz, counted_at::timestamptz, failures::int4, ${WITHOUT_FLUSH}`

const STORE = `
update attempt set
  count = counted.count, ends_at = counted.ends_at, counted_at = counted.counted_at, failures = counted.failures
from unnest($1::bytea[], $2::int4[], $3::timestamptz[], $4::timestamptz[], $5::int4[])
as counted (key, count, ends_at, counted_at, failures)
where attempt.key = counted.key`

const FAIL = `
with locked as (
  select key from attempt where key = any($1::bytea[]) order by key for update
), failed as (
  update attempt set failures = least(failures + times, count)
  from locked join unnest($1::bytea[], $2::int4[]) as wanted (key, times) using (key)
  where attempt.key = locked.key
)
select ${WITHOUT_FLUSH}`

const GIVE_BACK = `
with locked as (
  select key from attempt where key = any($1::bytea[] || $3::bytea[]) order by key for update
), cleared as (
  delete from attempt using locked where attempt.key = locked.key and locked.key = any($3::bytea[])
), reduced as (
  update attempt set count = greatest(count - times, 0)
  from locked join unnest($1::bytea[], $2::int4[]) as counted (key, times) using (key)
  where attempt.key = locked.key and locked.key <> all($3::bytea[])
), known as (
  insert into known_login (key, known_until)
  select key, known_until from unnest($4::bytea[], $5::timestamptz[]) as known (key, known_until) order by key
  on conflict (key) do update set known_until = excluded.known_until
  where known_login.known_until < excluded.known_until
)
select ${WITHOUT_FLUSH}`

// An array and no `in`: a plan for all values does not know the limit, and for `in` it would read the whole table to
// join it.
const removeBefore = (table: string, end: string): string => `
with removed as (
  delete from ${table} where key = any (array(
    select key from ${table} where ${end} < $1 order by ${end} limit $2 for update skip locked
  )) returning true
)
select count(*)::int4 from removed`

const REMOVE_WINDOWS = removeBefore('attempt', 'ends_at')
const REMOVE_KNOWN = removeBefore('known_login', 'known_until')

const columns = {
  key: typed(attempts.key),
  count: typed(attempts.count),
  endsAt: typed(attempts.endsAt),
  countedAt: typed(attempts.countedAt),
  failures: typed(attempts.failures)
}

const knownColumns = { until: typed(knownLogins.until) }

const readWindow = (count: unknown, endsAt: unknown, countedAt: unknown, failures: unknown): Window => ({
  count: Number(count),
  endsAt: readInstant(endsAt),
  countedAt: readInstant(countedAt),
  failures: Number(failures)
})

/** A second batch would wait for the locks of the first. */
const ONE_BATCH = { maxBatches: 1 }

/** How often each key is in the lists, as two lists of PostgreSQL. */
const timesOf = (lists: readonly (readonly Digest[])[]): readonly [keys: string, times: string] => {
  const times = new Map<Digest, number>()
  for (const key of lists.flat()) times.set(key, (times.get(key) ?? 0) + 1)
  return [bytesList([...times.keys()]), numberList([...times.values()])]
}

interface GivenBack {
  readonly counted: readonly Digest[]
  readonly cleared: Digest | undefined
  readonly known: KnownLogin | undefined
}

export const createAttemptStore = (driver: Driver, lookups: Lookups): AttemptStore => {
  const { write, transaction } = driver
  const find = lookups.create({
    name: 'attempt',
    columns,
    select: builder(write).select(columns).from(attempts).where(eq(attempts.key, key)),
    type: 'bytea',
    literal: bytesElement,
    read: ({ count, endsAt, countedAt, failures }) => readWindow(count, endsAt, countedAt, failures)
  })

  const findKnown = lookups.create({
    name: 'known_login',
    columns: knownColumns,
    select: builder(write).select(knownColumns).from(knownLogins).where(eq(knownLogins.key, key)),
    type: 'bytea',
    literal: bytesElement,
    read: ({ until }) => readInstant(until)
  })

  const remove = async (statement: string, at: Date, limit: number): Promise<number> => {
    const [row] = await write(statement, [at, limit])
    return Number(row?.[0])
  }

  const countAll = (attempts: readonly Attempt[]): Promise<readonly (readonly FullWindow[] | undefined)[]> => {
    const keys = [...new Set(attempts.flatMap(({ limits }) => limits.map(({ key }) => key)))]
    const earliest = new Date(Math.min(...attempts.map(({ at }) => at.getTime())))
    return transaction('attempt.take', async run => {
      const rows = await run(LOCK, [bytesList(keys), earliest])
      const stored = new Map(
        rows.map(([key, count, endsAt, countedAt, failures]) => [
          readBytes(key),
          readWindow(count, endsAt, countedAt, failures)
        ])
      )
      const { counted, results } = countEach(attempts, stored)
      if (counted.size > 0) {
        const windows = [...counted.values()]
        await run(STORE, [
          bytesList([...counted.keys()]),
          numberList(windows.map(({ count }) => count)),
          instantList(windows.map(({ endsAt }) => endsAt)),
          instantList(windows.map(({ countedAt }) => countedAt)),
          numberList(windows.map(({ failures }) => failures))
        ])
      }
      return results
    })
  }

  // Logins from one address count under the same key, whose row one transaction after the other can lock: so all who come
  // meanwhile travel together.
  const count = gather(driver, countAll, ONE_BATCH)

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
        ...timesOf(given.map(({ counted }) => counted)),
        bytesList(given.flatMap(({ cleared }) => cleared ?? [])),
        bytesList([...known.keys()]),
        instantList([...known.values()])
      ])
      return given.map(() => undefined)
    },
    ONE_BATCH
  )

  return {
    async take(limits, at, windowSeconds) {
      // A full window is refused without a lock, so that a flood of attempts on one key takes no connection from
      // others.
      const windows = new Map(await Promise.all(limits.map(async ({ key }) => [key, await find(key)] as const)))
      const full = fullOf({ limits, at }, key => windows.get(key))
      return full.length > 0 ? full : count({ limits, at, windowSeconds })
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
