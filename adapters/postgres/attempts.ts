import { eq } from 'drizzle-orm'
import { secondsAfter } from '../../core/instants.js'
import type { AttemptLimit, AttemptStore, FullWindow } from '../../core/ports.js'
import type { Driver } from './connection/driver.js'
import { key, type Lookups } from './lookup/lookups.js'
import { attempts, knownLogins } from './schema.js'
import { typed } from './sql/columns.js'
import { builder } from './sql/statements.js'
import { bytesElement, bytesList, bytesOrNull, readBytes, readInstant } from './sql/values.js'

// Counts need not survive a crash of the server, so no statement waits until its counts are on the disk.
const WITHOUT_FLUSH = "set_config('synchronous_commit', 'off', true)"

// Every statement locks its rows in the order of their keys. In other orders two statements could deadlock (40P01).

// Locks the rows of the keys. A missing key gets a row whose window has already ended.
const LOCK = `
insert into attempt (key, count, ends_at)
select key, 0, $2 from unnest($1::bytea[]) as wanted (key) order by key
on conflict (key) do update set key = excluded.key
returning ${WITHOUT_FLUSH}`

const COUNT = `
with wanted as (
  select key, most from unnest($1::bytea[], $2::int8[]) as wanted (key, most)
), filled as (
  select key, ends_at, counted_at, failures from attempt join wanted using (key) where ends_at > $3 and count >= most
), counted as (
  update attempt set
    count = case when ends_at > $3 then count + 1 else 1 end,
    failures = case when ends_at > $3 then failures else 0 end,
    ends_at = case when ends_at > $3 then ends_at else $4 end,
    counted_at = $3
  from wanted
  where attempt.key = wanted.key and not exists (select from filled)
)
select key::bytea, ends_at::timestamptz, counted_at::timestamptz, failures::int4 from filled`

const FAIL = `
with locked as (
  select key from attempt where key = any($1::bytea[]) order by key for update
), failed as (
  update attempt set failures = least(failures + 1, count) from locked where attempt.key = locked.key
)
select ${WITHOUT_FLUSH}`

const GIVE_BACK = `
with locked as (
  select key from attempt where key = any($1::bytea[]) or key = $2 order by key for update
), cleared as (
  delete from attempt using locked where attempt.key = locked.key and locked.key = $2
), reduced as (
  update attempt set count = greatest(count - 1, 0) from locked
  where attempt.key = locked.key and locked.key is distinct from $2
), known as (
  insert into known_login (key, known_until) select $3::bytea, $4::timestamptz where $3 is not null
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

const readWindow = (key: unknown, endsAt: unknown, countedAt: unknown, failures: unknown): FullWindow => ({
  key: readBytes(key),
  endsAt: readInstant(endsAt),
  countedAt: readInstant(countedAt),
  failures: Number(failures)
})

export const createAttemptStore = ({ write, transaction }: Driver, lookups: Lookups): AttemptStore => {
  const find = lookups.create({
    name: 'attempt',
    columns,
    select: builder(write).select(columns).from(attempts).where(eq(attempts.key, key)),
    type: 'bytea',
    literal: bytesElement,
    read: ({ key, count, endsAt, countedAt, failures }) => ({
      count: Number(count),
      window: readWindow(key, endsAt, countedAt, failures)
    })
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

  const findFull = async (limits: readonly AttemptLimit[], at: Date): Promise<readonly FullWindow[]> => {
    const found = await Promise.all(limits.map(({ key }) => find(key)))
    return limits.flatMap(({ most }, index) => {
      const attempt = found[index]
      return attempt !== undefined && attempt.window.endsAt > at && attempt.count >= most ? [attempt.window] : []
    })
  }

  return {
    async take(limits, at, windowSeconds) {
      // A full window is refused without a lock, so that a flood of attempts on one key takes no connection from
      // others.
      const full = await findFull(limits, at)
      if (full.length > 0) return full
      const keys = bytesList(limits.map(({ key }) => key))
      const most = `{${limits.map(({ most }) => most).join()}}`
      return transaction('attempt.take', async run => {
        await run(LOCK, [keys, at])
        // A separate statement: it sees the counts of the transactions for which the first statement had to wait.
        const rows = await run(COUNT, [keys, most, at, secondsAfter(at, windowSeconds)])
        if (rows.length === 0) return undefined
        return rows.map(([key, endsAt, countedAt, failures]) => readWindow(key, endsAt, countedAt, failures))
      })
    },

    async fail(keys) {
      await write(FAIL, [bytesList(keys)])
    },

    async giveBack(counted, cleared, known) {
      const keys = [bytesList(counted), bytesOrNull(cleared), bytesOrNull(known?.key)]
      await write(GIVE_BACK, [...keys, known?.until ?? null])
    },

    findKnown,

    async removeExpired(at, limit) {
      const removed = await remove(REMOVE_WINDOWS, at, limit)
      return removed + (await remove(REMOVE_KNOWN, at, limit - removed))
    }
  }
}
