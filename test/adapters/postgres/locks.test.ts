import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import { type Database, openServer } from '../../../adapters/postgres/database.js'
import { at, logIn, register, someDigest, someSpend, tokenUnder } from '../../contract/records.js'
import { createDatabase } from '../../support/postgres.js'

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

/**
 * PostgreSQL looks for deadlocks after 10 ms and finds rows by their keys, as in large tables: if it read a small table
 * whole, all statements would lock its rows in the same order.
 */
const DATABASE = { deadlock_timeout: '10ms', enable_seqscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off' }

/** Two instances on one database. */
const openTwo = async (t: Test): Promise<Instances> => {
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  const sql = postgres(url, { max: 2, onnotice: () => {} })
  t.teardown(() => sql.end())
  for (const [name, value] of Object.entries(DATABASE)) {
    await sql.unsafe(`alter database ${new URL(url).pathname.slice(1)} set ${name} = '${value}'`)
  }
  // The test itself lets waiting statements go on. A busy machine could reach a shorter limit before that.
  const patient = `${url}?lock_timeout=3000`
  const [one, other] = await Promise.all([openServer(patient, SETTINGS), openServer(patient, SETTINGS)])
  t.teardown(() => Promise.all([one.close(), other.close()]))
  await one.migrate()
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
  const waiters = () => sql`select from pg_stat_activity where wait_event_type = 'Lock' and ${OURS(sql)}`
  while (!settled && (await waiters()).length < 2) await sleep(1)
  await letGo()
  return working
}

const hex = (digest = ''): string => `'\\x${Buffer.from(digest, 'base64url').toString('hex')}'`

t.test('rotations of the same tokens on two instances, in opposite orders, do not deadlock', async t => {
  const instances = await openTwo(t)
  const { one, other, deadlocks } = instances
  const parties = await register(one.stores)
  for (let round = 0; round < 3; round++) {
    const tokens = await Promise.all([0, 1, 2].map(() => logIn(one.stores, parties)))
    const rotate = ({ stores }: Database, order: typeof tokens) =>
      Promise.all(
        order.map(({ refreshDigest, grant }) => stores.tokens.rotate(refreshDigest, someSpend(), tokenUnder(grant)))
      )
    // Whatever the tokens are sorted by, one of the three is in the middle.
    const query = `select from token where refresh_digest = ${hex(tokens[round]?.refreshDigest)} for update`
    const won = await meeting(instances, query, () =>
      Promise.all([rotate(one, tokens), rotate(other, tokens.toReversed())])
    )
    t.equal(won.flat().filter(Boolean).length, 3, 'each is rotated once')
  }
  t.equal(await deadlocks(), 0)
})

t.test('inserts of the same names on two instances, in opposite orders, do not deadlock', async t => {
  const instances = await openTwo(t)
  const { one, other, deadlocks } = instances
  for (const order of [
    ['a', 'b', 'c'],
    ['c', 'b', 'a']
  ]) {
    const names = order.map(name => `${name} ${randomUUID()}`)
    const insert = ({ stores }: Database, order: readonly string[]) =>
      Promise.all(order.map(name => stores.heroes.insert({ name })))
    const query = `insert into hero (name, name_lower) values ('${names[1]}', '')`
    const inserted = await meeting(instances, query, () =>
      Promise.all([insert(one, names), insert(other, names.toReversed())])
    )
    const stored = inserted.flat().flatMap(hero => hero?.name ?? [])
    t.strictSame(stored.sort(), names.toSorted(), 'each is stored once')
  }
  t.equal(await deadlocks(), 0)
})

t.test('imports of the same names on two instances, in opposite orders, do not deadlock', async t => {
  const instances = await openTwo(t)
  const { one, other, deadlocks } = instances
  for (const order of [
    ['a', 'b', 'c'],
    ['c', 'b', 'a']
  ]) {
    const heroes = order.map(name => ({ name: `${name} ${randomUUID()}` }))
    const query = `insert into hero (name, name_lower) values ('${heroes[1]?.name}', '')`
    const inserted = await meeting(instances, query, () =>
      Promise.all([one.stores.heroes.insertAll(heroes), other.stores.heroes.insertAll(heroes.toReversed())])
    )
    const stored = inserted.flat().flatMap(hero => hero?.name ?? [])
    t.strictSame(stored.sort(), heroes.map(({ name }) => name).sort(), 'each is stored once')
  }
  t.equal(await deadlocks(), 0)
})

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
