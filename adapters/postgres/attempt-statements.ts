// The text of the statements of attempts.ts.

// Counts need not survive a crash of the server, so no statement waits until its counts are on the disk.
const WITHOUT_FLUSH = "set_config('synchronous_commit', 'off', true)"

const WINDOW = 'key, count, ends_at, counted_at, failures'
const STORED = 'attempt.count, attempt.ends_at, attempt.counted_at, attempt.failures'

// The keys, and one more list of values for each name.
const wanted = (lists: string, names: string): string => `
with wanted as (
  select * from unnest(${lists}) as wanted (key, ${names})
)`

// Every statement locks its rows in the order of their keys: in other orders two statements could deadlock (40P01). What it
// stores in them comes from here, so that no plan has to join them once more.
const locked = (condition = 'true'): string => `locked as (
  select wanted.*, ${STORED} from wanted join attempt using (key) where ${condition}
  order by key for update of attempt
)`

// The row is there and locked, so the insert always becomes this update.
const INTO_LOCKED = `on conflict (key) do update set
    count = excluded.count, ends_at = excluded.ends_at, counted_at = excluded.counted_at, failures = excluded.failures`

// A window that was cleared has ended. The earliest and the latest of the attempts are $6 and $7: a window that ends between
// them is judged for each attempt alone.
const HAS_ENDED = "(count is null or ends_at <= $6 or counted_at = '-infinity')"
const allFit = (windows: string): string => `not exists (
    select from ${windows} where not case
      when ${HAS_ENDED} then times <= most and next_ends_at > $7
      else ends_at > $7 and count + times <= most
    end
  )`

const WANTED = wanted(
  '$1::bytea[], $2::int4[], $3::int4[], $4::timestamptz[], $5::timestamptz[]',
  'times, most, tried_at, next_ends_at'
)

/**
 * Counts all attempts or none. Its first column tells which, and where it counts none the others are the windows. What is
 * full is seen without a lock, so that a flood of attempts on one key writes nothing and makes nobody wait. A window that
 * another instance begins meanwhile ends the statement with 23505.
 */
export const COUNT = `${WANTED}, seen as (
  select wanted.*, ${STORED} from wanted left join attempt using (key)
), hope as (
  select ${allFit('seen')} as is_left
), ${locked('(select is_left from hope)')}, verdict as (
  select is_left and ${allFit('locked')} as is_counted from hope
), counted as (
  insert into attempt (${WINDOW})
  select key,
    times + case when ${HAS_ENDED} then 0 else count end,
    case when ${HAS_ENDED} then next_ends_at else ends_at end,
    tried_at,
    case when ${HAS_ENDED} then 0 else failures end
  from locked where (select is_counted from verdict)
  order by key
  ${INTO_LOCKED}
), begun as (
  insert into attempt (${WINDOW})
  select key, times, next_ends_at, tried_at, 0 from wanted
  where (select is_counted from verdict) and key <> all (array(select key from locked))
  order by key
), windows as (
  select ${WINDOW} from locked
  union all
  select ${WINDOW} from seen where count is not null and not (select is_left from hope)
)
select is_counted,
  key::bytea, count::int4, ends_at::timestamptz, counted_at::timestamptz, failures::int4, ${WITHOUT_FLUSH}
from verdict left join windows on not is_counted and counted_at > '-infinity'`

const COUNTED = wanted('$1::bytea[], $2::int4[]', 'times')

export const FAIL = `${COUNTED}, ${locked()}, failed as (
  insert into attempt (${WINDOW})
  select key, count, ends_at, counted_at, least(failures + times, count) from locked order by key
  ${INTO_LOCKED}
)
select ${WITHOUT_FLUSH}`

/** A key without its times is cleared. */
export const GIVE_BACK = `${COUNTED}, ${locked()}, given as (
  insert into attempt (${WINDOW})
  select key,
    case when times is null then 0 else greatest(count - times, 0) end,
    ends_at,
    case when times is null then '-infinity' else counted_at end,
    case when times is null then 0 else failures end
  from locked order by key
  ${INTO_LOCKED}
), known as (
  insert into known_login (key, known_until)
  select key, known_until from unnest($3::bytea[], $4::timestamptz[]) as known (key, known_until) order by key
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

export const REMOVE_WINDOWS = removeBefore('attempt', 'ends_at')
export const REMOVE_KNOWN = removeBefore('known_login', 'known_until')
