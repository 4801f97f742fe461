import { getTableColumns } from 'drizzle-orm'
import { secondsAfter } from '../../core/instants.js'
import type { Digest } from '../../core/model.js'
import type { AttemptStore, FullWindow } from '../../core/ports.js'
import type { Driver } from './connection/driver.js'
import { isDuplicate, retrying, unavailable } from './connection/errors.js'
import type { Lookups } from './lookups.js'
import { attempts, knownLogins } from './schema.js'
import { bytes, counting, countOf, listOf, mapped, readAll, requested, type Selection, selection } from './sql.js'

const { key, endsAt, countedAt, failures } = getTableColumns(attempts)
const window: Selection<FullWindow> = selection({ key, endsAt, countedAt, failures })

const known = getTableColumns(knownLogins)
const knownLogin = mapped(selection(known), ({ until }) => until)
const knownRows = requested(known, 3)

// Counts need not survive a crash of the server, so no statement waits until its counts are on the disk.
const WITHOUT_FLUSH = "set_config('synchronous_commit', 'off', true)"

// Every statement locks its rows in the order of their keys: in other orders two statements could deadlock (40P01).
const LOCKED = `locked as (
  select attempt.* from attempt join wanted using (key) order by key for update of attempt
)`

/**
 * Counts an attempt at $3 under all keys or under none, and returns the full windows. What is full is seen without a lock at
 * first, so that a flood of attempts on one key writes nothing and makes nobody wait. A window that another instance begins
 * meanwhile ends the statement with 23505.
 */
const COUNT = `
with wanted as (
  select * from unnest($1::bytea[], $2::int4[]) as wanted (key, most)
), seen as (
  select attempt.* from attempt join wanted using (key) where ends_at > $3 and count >= most
), locked as (
  select attempt.*, most from attempt join wanted using (key)
  where not exists (select from seen)
  order by key for update of attempt
), filled as (
  select * from locked where ends_at > $3 and count >= most
), verdict as (
  select not exists (select from seen) and not exists (select from filled) as is_counted, ${WITHOUT_FLUSH}
), counted as (
  update attempt set
    count = case when locked.ends_at > $3 then locked.count + 1 else 1 end,
    ends_at = case when locked.ends_at > $3 then locked.ends_at else $4 end,
    counted_at = $3,
    failures = case when locked.ends_at > $3 then locked.failures else 0 end
  from locked, verdict where attempt.key = locked.key and is_counted
), begun as (
  insert into attempt (key, count, ends_at, counted_at, failures)
  select key, 1, $4, $3, 0 from wanted, verdict
  where is_counted and key <> all (array(select key from locked))
  order by key
), full_windows as (
  select key, ends_at, counted_at, failures from seen
  union all select key, ends_at, counted_at, failures from filled
)
select ${window.text} from full_windows as attempt`

const FAIL = `
with wanted as (select unnest($1::bytea[]) as key), ${LOCKED}
update attempt set failures = least(locked.failures + 1, locked.count)
from locked where attempt.key = locked.key
returning ${WITHOUT_FLUSH}`

/** Takes one attempt back from each of $1, and all from $2. A row whose count would be 0 is removed. */
const giveBack = (further = ''): string => `
with wanted as (select unnest($1::bytea[] || $2::bytea) as key), ${LOCKED}, removed as (
  delete from attempt using locked where attempt.key = locked.key and (locked.key = $2 or locked.count <= 1)
), given as (
  update attempt set count = locked.count - 1
  from locked where attempt.key = locked.key and locked.key is distinct from $2 and locked.count > 1
)${further}
select ${WITHOUT_FLUSH}`

const GIVE_BACK = giveBack()

/** Stores a known login as well. */
const SUCCEED = giveBack(`, known as (
  insert into known_login (${knownRows.names}) select ${knownRows.values} from ${knownRows.from}
  on conflict (key) do update set known_until = excluded.known_until
  where known_login.known_until < excluded.known_until
)`)

// An array and no `in`: a plan for all values does not know the limit, and for `in` it would read the whole table to
// join it.
const removeBefore = (table: string, end: string): string =>
  counting(`
  delete from ${table} where key = any (array(
    select key from ${table} where ${end} < $1 order by ${end} limit $2 for update skip locked
  ))`)

const REMOVE_WINDOWS = removeBefore('attempt', 'ends_at')
const REMOVE_KNOWN = removeBefore('known_login', 'known_until')

const keyList = (keys: readonly Digest[]): string => listOf(keys.map(bytes))

export const createAttemptStore = ({ query }: Pick<Driver, 'query'>, lookups: Lookups): AttemptStore => ({
  async take(limits, at, windowSeconds) {
    const keys = keyList(limits.map(({ key }) => key))
    const values = [keys, listOf(limits.map(({ most }) => most)), at, secondsAfter(at, windowSeconds)]
    // After a duplicate it sees the row.
    const rows = await retrying(isDuplicate, () => query(COUNT, values)).catch((error: unknown) => {
      throw isDuplicate(error) ? unavailable(error) : error
    })
    const full = readAll(window, rows)
    return full.length > 0 ? full : undefined
  },

  async fail(keys) {
    await query(FAIL, [keyList(keys)])
  },

  async giveBack(counted, cleared, known) {
    const values = [keyList(counted), cleared === undefined ? null : bytes(cleared)]
    await (known === undefined ? query(GIVE_BACK, values) : query(SUCCEED, [...values, ...knownRows.lists([known])]))
  },

  findKnown: lookups.create({ selection: knownLogin, from: 'from known_login where key = $1', type: 'bytea' }),

  async removeExpired(at, limit) {
    const removed = await countOf(query(REMOVE_WINDOWS, [at, limit]))
    return removed + (await countOf(query(REMOVE_KNOWN, [at, limit - removed])))
  }
})
