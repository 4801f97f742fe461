import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import { type Database, openServer } from '../../../adapters/postgres/database.js'
import type { Grant, Hero, NewHero, Stores } from '../../../core/index.js'
import {
  at,
  authorize,
  logIn,
  type Parties,
  register,
  someDigest,
  someSpend,
  tokenUnder
} from '../../contract/records.js'
import { migratedDatabase } from '../../support/databases.js'

const SETTINGS = { pool: 3, prepare: true }

interface Instances {
  readonly one: Database
  readonly other: Database
  readonly sql: postgres.Sql
  /**
   * How many deadlocks PostgreSQL has ended in this database. Nothing else shows them, because the service tries again.
   */
  deadlocks(): Promise<number>
}

/** After how long PostgreSQL looks for deadlocks. */
const DEADLOCK_TIMEOUT = '10ms'

/** Two instances on one database. */
const openTwo = async (t: Test): Promise<Instances> => {
  const url = await migratedDatabase(t)
  const sql = postgres(url, { max: 2, onnotice: () => {} })
  t.teardown(() => sql.end())
  await sql.unsafe(`alter database ${new URL(url).pathname.slice(1)} set deadlock_timeout = '${DEADLOCK_TIMEOUT}'`)
  // The test itself lets waiting statements go on. A busy machine could reach a shorter limit before that.
  const patient = `${url}?lock_timeout=3000`
  const [one, other] = await Promise.all([openServer(patient, SETTINGS), openServer(patient, SETTINGS)])
  t.teardown(() => Promise.all([one.close(), other.close()]))
  return {
    one,
    other,
    sql,
    async deadlocks() {
      await Promise.all([one.close(), other.close()])
      // A process of PostgreSQL reports its counts before it ends.
      while ((await sql`select from pg_stat_activity where ${OURS(sql)}`).length > 0) await sleep(5)
      const [row] = await sql`select deadlocks::int4 from pg_stat_database where datname = current_database()`
      return row?.deadlocks
    }
  }
}

const OURS = (sql: postgres.Sql) => sql`application_name = 'heroes' and datname = current_database()`

/** The statements that wait for a lock. */
const waiters = (sql: postgres.Sql) => sql`select from pg_stat_activity where wait_event_type = 'Lock' and ${OURS(sql)}`

/** Runs `query` in a transaction and leaves it open. The returned function rolls it back. */
const hold = async (sql: postgres.Sql, query: string): Promise<() => Promise<void>> => {
  const holder = await sql.reserve()
  await holder.unsafe('begin')
  await holder.unsafe(query)
  return async () => {
    await holder.unsafe('rollback')
    holder.release()
  }
}

/**
 * Begins `work` while a transaction holds the lock that `query` takes, and frees the lock once two statements wait. If
 * two instances lock rows in opposite orders and the held row is in the middle, each of them has locked half of the
 * rows by then.
 */
const meeting = async <T>({ sql }: Instances, query: string, work: () => Promise<T>): Promise<T> => {
  const letGo = await hold(sql, query)
  let settled = false
  const working = work().finally(() => {
    settled = true
  })
  while (!settled && (await waiters(sql)).length < 2) await sleep(5)
  await letGo()
  return working
}

const hex = (digest = ''): string => `'\\x${Buffer.from(digest, 'base64url').toString('hex')}'`

interface Spendable {
  readonly digest: string
  readonly grant: Grant
}

/** What is spent once: how it is made and spent, and the row that is locked for that. */
interface Single {
  readonly make: (stores: Stores, parties: Parties) => Promise<Spendable>
  readonly spend: (stores: Stores, spendable: Spendable) => Promise<boolean>
  readonly row: string
}

const SINGLES: Readonly<Record<string, Single>> = {
  'rotations of the same tokens': {
    make: async (stores, parties) => {
      const { refreshDigest: digest, grant } = await logIn(stores, parties)
      return { digest, grant }
    },
    spend: ({ tokens }, { digest, grant }) => tokens.rotate(digest, someSpend(), tokenUnder(grant)),
    row: 'token where refresh_digest'
  },
  'redemptions of the same codes': {
    make: authorize,
    spend: ({ codes }, { digest, grant }) => codes.redeem(digest, tokenUnder(grant)),
    row: 'code where digest'
  }
}

for (const [what, { make, spend, row }] of Object.entries(SINGLES)) {
  t.test(`${what} on two instances, in opposite orders, do not deadlock`, async t => {
    const instances = await openTwo(t)
    const { one, other, deadlocks } = instances
    const parties = await register(one.stores)
    for (let round = 0; round < 3; round++) {
      const all = await Promise.all([0, 1, 2].map(() => make(one.stores, parties)))
      const spendAll = ({ stores }: Database, order: typeof all) =>
        Promise.all(order.map(spendable => spend(stores, spendable)))
      // Whatever the rows are sorted by, one of the three is in the middle.
      const query = `select from ${row} = ${hex(all[round]?.digest)} for update`
      const won = await meeting(instances, query, () =>
        Promise.all([spendAll(one, all), spendAll(other, all.toReversed())])
      )
      t.equal(won.flat().filter(Boolean).length, 3, 'each is spent once')
    }
    t.equal(await deadlocks(), 0)
  })
}

t.test(
  'refreshes of the same tokens on two instances, in opposite orders, do not deadlock, and one of two wins',
  async t => {
    const instances = await openTwo(t)
    const { one, other, deadlocks } = instances
    const parties = await register(one.stores)
    // One token travels in a statement of its own, and three travel together.
    for (const size of [1, 3]) {
      const all = await Promise.all(Array.from({ length: size }, () => logIn(one.stores, parties)))
      const refreshAll = ({ stores }: Database, order: typeof all) =>
        Promise.all(
          order.map(({ refreshDigest, grant }) => stores.tokens.rotate(refreshDigest, someSpend(), tokenUnder(grant)))
        )
      const middle = all[Math.floor(size / 2)]
      const query = `select from token where refresh_digest = ${hex(middle?.refreshDigest)} for update`
      const [first, second] = await meeting(instances, query, () =>
        Promise.all([refreshAll(one, all), refreshAll(other, all.toReversed())])
      )
      for (const [index, won] of first.entries()) t.not(second.toReversed()[index], won)
    }
    t.equal(await deadlocks(), 0)
  }
)

/** The ways in which heroes are stored. */
const INSERTS: Readonly<
  Record<string, (stores: Stores, heroes: readonly NewHero[]) => Promise<readonly (Hero | undefined)[]>>
> = {
  inserts: ({ heroes }, all) => Promise.all(all.map(hero => heroes.insert(hero))),
  imports: ({ heroes }, all) => heroes.insertAll(all)
}

for (const [what, insert] of Object.entries(INSERTS)) {
  t.test(`${what} of the same names on two instances, in opposite orders, do not deadlock`, async t => {
    const instances = await openTwo(t)
    const { one, other, deadlocks } = instances
    for (const order of [
      ['a', 'b', 'c'],
      ['c', 'b', 'a']
    ]) {
      const heroes = order.map(name => ({ name: `${name} ${randomUUID()}` }))
      const query = `insert into hero (name, name_lower) values ('${heroes[1]?.name}', '')`
      const inserted = await meeting(instances, query, () =>
        Promise.all([insert(one.stores, heroes), insert(other.stores, heroes.toReversed())])
      )
      const stored = inserted.flat().flatMap(hero => hero?.name ?? [])
      t.strictSame(stored.sort(), heroes.map(({ name }) => name).sort(), 'each is stored once')
    }
    t.equal(await deadlocks(), 0)
  })
}

t.test('attempts under the same keys on two instances, in opposite orders, do not deadlock', async t => {
  const instances = await openTwo(t)
  const { one, other, deadlocks } = instances
  for (let round = 0; round < 3; round++) {
    const limits = [0, 1, 2].map(() => ({ key: someDigest(), most: 3 }))
    const keys = limits.map(({ key }) => key)
    await one.stores.attempts.take(limits, at(0), 900)
    const query = `select from attempt where key = ${hex(keys[1])} for update`
    await meeting(instances, query, () =>
      Promise.all([
        one.stores.attempts.take(limits, at(1), 900),
        other.stores.attempts.take(limits.toReversed(), at(1), 900)
      ])
    )
    t.match(await one.stores.attempts.take(limits, at(2), 900), [{}, {}, {}], 'both are counted')
    await meeting(instances, query, () =>
      Promise.all([one.stores.attempts.fail(keys), other.stores.attempts.fail(keys.toReversed())])
    )
    await meeting(instances, query, () =>
      Promise.all([
        one.stores.attempts.giveBack(keys, undefined),
        other.stores.attempts.giveBack(keys.toReversed(), undefined)
      ])
    )
    t.equal(await one.stores.attempts.take(limits, at(3), 900), undefined)
  }
  t.equal(await deadlocks(), 0)
})

t.test('twenty attempts on each of two instances at once are counted up to the limit', async t => {
  const { one, other } = await openTwo(t)
  for (const most of [1, 7, 30]) {
    for (let round = 0; round < 5; round++) {
      const limits = [someDigest(), someDigest()].map(key => ({ key, most }))
      const take = ({ stores }: Database, rival: number) =>
        stores.attempts.take(rival % 2 === 0 ? limits : limits.toReversed(), at(0), 900)
      const answers = await Promise.all(
        [one, other].flatMap(each => Array.from({ length: 20 }, (_, i) => take(each, i)))
      )
      t.equal(answers.filter(answer => answer === undefined).length, most)
    }
  }
})

t.test('an attempt whose window another instance begins meanwhile is counted in that window', async t => {
  const instances = await openTwo(t)
  const { one, sql } = instances
  const limits = [0, 1, 2].map(() => ({ key: someDigest(), most: 2 }))
  const holder = await sql.reserve()
  await holder.unsafe('begin')
  await holder.unsafe(
    `insert into attempt (key, count, ends_at) values (${hex(limits[1]?.key)}, 1, '${at(500).toISOString()}')`
  )
  const taken = one.stores.attempts.take(limits, at(1), 900)
  while ((await waiters(sql)).length < 1) await sleep(5)
  await holder.unsafe('commit')
  holder.release()
  t.equal(await taken, undefined)
  t.match(await one.stores.attempts.take(limits, at(2), 900), [{ key: limits[1]?.key, endsAt: at(500) }])
  t.equal(await one.stores.attempts.take(limits.slice(2), at(3), 900), undefined, 'the refused one counted nowhere')
})

t.test('an attempt whose window becomes full while it waits for the window is refused', async t => {
  const { one, sql } = await openTwo(t)
  const { attempts } = one.stores
  const limits = [0, 1].map(() => ({ key: someDigest(), most: 2 }))
  await attempts.take(limits, at(0), 900)
  const holder = await sql.reserve()
  await holder.unsafe('begin')
  await holder.unsafe(
    `update attempt set count = 2, counted_at = '${at(5).toISOString()}' where key = ${hex(limits[1]?.key)}`
  )
  const taken = attempts.take(limits, at(6), 900)
  while ((await waiters(sql)).length < 1) await sleep(5)
  await holder.unsafe('commit')
  holder.release()
  const { key } = limits[1] ?? {}
  t.strictSame(await taken, [{ key, endsAt: at(900), countedAt: at(5), failures: 0 }])
  t.equal(await attempts.take(limits.slice(0, 1), at(7), 900), undefined, 'it was counted nowhere')
})

t.test('an attempt on a full window waits for no lock on it, and takes none', async t => {
  const { one, sql } = await openTwo(t)
  const { attempts } = one.stores
  const [full, free] = [someDigest(), someDigest()].map(key => ({ key, most: 1 }))
  const limits = [full, free].flatMap(limit => limit ?? [])
  await attempts.take(limits.slice(0, 1), at(0), 900)
  await attempts.take(limits.slice(1), at(-1000), 900)
  const rows = () => sql`select xmin::text, ctid::text, * from attempt order by key`
  const before = await rows()
  const query = `select from attempt where key in (${limits.map(({ key }) => hex(key)).join()}) for update`
  const letGo = await hold(sql, query)
  t.match(await attempts.take(limits, at(1), 900), [{ key: full?.key }])
  await letGo()
  t.strictSame(await rows(), before)
})

t.test(
  'a new name that another hero has is told as taken, and a free one as unavailable, while the heroes are locked',
  async t => {
    const url = await migratedDatabase(t)
    const sql = postgres(url, { max: 1 })
    t.teardown(() => sql.end())
    const { stores, close } = await openServer(url, SETTINGS)
    t.teardown(close)
    const [first] = await Promise.all(['Narco', 'Magma'].map(name => stores.heroes.insert({ name })))
    const letGo = await hold(sql, 'select from hero for update')
    t.equal(await stores.heroes.replace(first?.id ?? 0, { name: 'Magma' }), 'taken')
    await t.rejects(stores.heroes.replace(first?.id ?? 0, { name: 'Dynama' }), { code: 'unavailable' })
    await letGo()
  }
)

t.test('a hero is stored while tokens and grants are locked', async t => {
  const { one, sql } = await openTwo(t)
  const letGo = await hold(sql, 'lock table token, "grant"')
  t.match(await one.stores.heroes.insert({ name: 'a' }), { name: 'a' })
  t.equal(await one.stores.heroes.insert({ name: 'a' }), undefined)
  await letGo()
})

t.test('the removal of expired grants does not wait for a locked grant, and removes it the next time', async t => {
  const { one, sql } = await openTwo(t)
  const { stores } = one
  const parties = await register(stores)
  const times = { expiresAt: at(1), refreshExpiresAt: at(1) }
  const expired = await Promise.all([0, 1, 2].map(() => logIn(stores, parties, times)))
  const locked = expired[1]?.grant.id
  const letGo = await hold(sql, `select from "grant" where id = '${locked}' for update`)
  t.equal(await stores.grants.removeExpired(at(2), 10), 2)
  const left = await Promise.all(expired.map(token => stores.tokens.findByRefresh(token.refreshDigest)))
  t.strictSame(
    left.map(token => token?.grant.id),
    [undefined, locked, undefined]
  )
  await letGo()
  t.equal(await stores.grants.removeExpired(at(2), 10), 1)
})

t.test('the removal of ended windows does not wait for a locked window, and removes it the next time', async t => {
  const { one, sql } = await openTwo(t)
  const { attempts } = one.stores
  const keys = [0, 1, 2].map(someDigest)
  for (const key of keys) await attempts.take([{ key, most: 1 }], at(0), 1)
  const letGo = await hold(sql, `select from attempt where key = ${hex(keys[1])} for update`)
  t.equal(await attempts.removeExpired(at(2), 10), 2)
  await letGo()
  t.equal(await attempts.removeExpired(at(2), 10), 1)
})
