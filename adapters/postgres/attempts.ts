import { eq } from 'drizzle-orm'
import { latest, secondsAfter } from '../../core/instants.js'
import type { AttemptLimit, AttemptStore } from '../../core/ports.js'
import type { Driver } from './connection/driver.js'
import { key, type Lookups } from './lookup/lookups.js'
import { attempts } from './schema.js'
import { typed } from './sql/columns.js'
import { builder } from './sql/statements.js'
import { bytesElement, bytesList, bytesOrNull, optional, readInstant } from './sql/values.js'

// Counts need not survive a crash of the server, so no statement waits until its counts are on the disk.
const WITHOUT_FLUSH = "set_config('synchronous_commit', 'off', true)"

// Every statement locks its rows in the order of their keys. In other orders two statements could deadlock (40P01).

// Locks the rows of the keys. A missing key gets a row whose window has already ended.
const LOCK = `
insert into attempt (key, count, ends_at)
select key, 0, $2 from unnest($1::bytea[]) as wanted (key) order by key
on conflict (key) do update set key = excluded.key`

const COUNT = `
with wanted as (
  select key, most from unnest($1::bytea[], $2::int8[]) as wanted (key, most)
), filled as (
  select max(ends_at) as until from attempt join wanted using (key) where ends_at > $3 and count >= most
), counted as (
  update attempt set
    count = case when ends_at > $3 then count + 1 else 1 end,
    ends_at = case when ends_at > $3 then ends_at else $4 end
  from wanted, filled
  where attempt.key = wanted.key and filled.until is null
)
select until::timestamptz, ${WITHOUT_FLUSH} from filled`

const GIVE_BACK = `
with locked as (
  select key from attempt where key = any($1::bytea[]) or key = $2 order by key for update
), cleared as (
  delete from attempt using locked where attempt.key = locked.key and locked.key = $2
), reduced as (
  update attempt set count = greatest(count - 1, 0) from locked
  where attempt.key = locked.key and locked.key is distinct from $2
)
select ${WITHOUT_FLUSH}`

// An array and no `in`: a plan for all values does not know the limit, and for `in` it would read the whole table to
// join it.
const REMOVE_EXPIRED = `
with removed as (
  delete from attempt where key = any (array(
    select key from attempt where ends_at < $1 order by ends_at limit $2 for update skip locked
  )) returning true
)
select count(*)::int4 from removed`

const columns = { key: typed(attempts.key), count: typed(attempts.count), endsAt: typed(attempts.endsAt) }

export const createAttemptStore = ({ write, transaction }: Driver, lookups: Lookups): AttemptStore => {
  const find = lookups.create({
    name: 'attempt',
    columns,
    select: builder(write).select(columns).from(attempts).where(eq(attempts.key, key)),
    type: 'bytea',
    literal: bytesElement,
    read: ({ count, endsAt }) => ({ count: Number(count), endsAt: readInstant(endsAt) })
  })

  /** The instant at which the last of the full windows ends; undefined when none is full. */
  const fullUntil = async (limits: readonly AttemptLimit[], at: Date): Promise<Date | undefined> => {
    const found = await Promise.all(limits.map(({ key }) => find(key)))
    const ends = limits.flatMap(({ most }, index) => {
      const attempt = found[index]
      return attempt !== undefined && attempt.endsAt > at && attempt.count >= most ? [attempt.endsAt] : []
    })
    const [first, ...others] = ends
    return first && latest(first, ...others)
  }

  return {
    async take(limits, at, windowSeconds) {
      // A full window is refused without a lock, so that a flood of attempts on one key takes no connection from
      // others.
      const full = await fullUntil(limits, at)
      if (full !== undefined) return full
      const keys = bytesList(limits.map(({ key }) => key))
      const most = `{${limits.map(({ most }) => most).join()}}`
      return transaction('attempt.take', async run => {
        await run(LOCK, [keys, at])
        // A separate statement: it sees the counts of the transactions for which the first statement had to wait.
        const [row] = await run(COUNT, [keys, most, at, secondsAfter(at, windowSeconds)])
        return optional(row?.[0], readInstant)
      })
    },

    async giveBack(counted, cleared) {
      await write(GIVE_BACK, [bytesList(counted), bytesOrNull(cleared)])
    },

    async removeExpired(at, limit) {
      const [row] = await write(REMOVE_EXPIRED, [at, limit])
      return Number(row?.[0])
    }
  }
}
