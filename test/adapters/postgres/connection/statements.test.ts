import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import { openConnection } from '../../../../adapters/postgres/connection/connection.js'
import { translate } from '../../../../adapters/postgres/connection/errors.js'
import { createHosts } from '../../../../adapters/postgres/connection/hosts.js'
import { connectServer, type ServerOptions } from '../../../../adapters/postgres/connection/server.js'
import { openServer } from '../../../../adapters/postgres/database.js'
import { at, logIn, register } from '../../../contract/records.js'
import { migratedDatabase } from '../../../support/databases.js'
import { startFakeServer } from '../../../support/fake-server.js'

t.jobs = 2

const UNAVAILABLE = { name: 'DomainError', code: 'unavailable', retryAfterSeconds: 1 }

/** A migrated database with heroes 1 to 64, `hero 1` to `hero 64`. */
const openHeroes = async (t: Test, options: Partial<ServerOptions> = {}) => {
  const url = await migratedDatabase(t)
  const database = await openServer(url)
  t.teardown(() => database.close())
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  t.teardown(() => sql.end())
  await sql`insert into hero (name, name_lower) select 'hero ' || i, '' from generate_series(1, 64) i`
  const driver = connectServer(url, { pool: 10, prepare: true, ...options })
  t.teardown(() => driver.close())
  return { url, sql, driver, stores: database.stores }
}

const FIND = 'select id::int8, name from hero where id = $1'
const OPTIONS = { prepare: true, lookups: false, readClock: async () => {} }

/**
 * Runs 64 readers, each of its own hero, while `disturb` runs; `answered` resolves after 64 more answers. Returns the
 * wrong answers and the refusals.
 */
const readMeanwhile = async (
  read: (id: number) => Promise<unknown>,
  disturb: (answered: () => Promise<void>) => Promise<unknown>
) => {
  const wrong: unknown[] = []
  const refusals: unknown[] = []
  let done = false
  let answers = 0
  const reader = async (id: number) => {
    while (!done) {
      try {
        const answer = await read(id)
        answers += 1
        if (answer !== `hero ${id}`) wrong.push(answer)
      } catch (error) {
        refusals.push(error)
        await sleep(1)
      }
    }
  }
  const readers = Array.from({ length: 64 }, (_, index) => reader(index + 1))
  await disturb(async () => {
    const enough = answers + 64
    while (answers < enough) await sleep(1)
  })
  done = true
  await Promise.all(readers)
  return { wrong, refusals, answers }
}

const changeType = async (sql: postgres.Sql, answered = async () => {}) => {
  for (const type of ['varchar(300)', 'text', 'varchar(200)', 'text']) {
    await sql.unsafe(`alter table hero alter name type ${type}`)
    await answered()
  }
}

t.test('every answer goes to its own caller while plans become invalid', async t => {
  const { sql, driver } = await openHeroes(t)
  const { wrong, refusals, answers } = await readMeanwhile(
    async id => {
      const run = [driver.lookUp, driver.query][id % 2]
      const [row] =
        id % 3 ? ((await run?.(FIND, [id])) ?? []) : await driver.transaction({ name: 'find' }, run => run(FIND, [id]))
      return row?.[1]
    },
    async answered => {
      await answered()
      await changeType(sql, answered)
    }
  )
  t.strictSame(wrong, [])
  for (const refusal of refusals) t.match(refusal, { ...UNAVAILABLE, cause: { code: /^(?:0A000|55P03)$/ } })
  t.ok(answers > 64)
})

t.test('a statement that has to be parsed anew is sent with the same values', async t => {
  const { url } = await openHeroes(t)
  const connection = openConnection(createHosts(url, {}), OPTIONS)
  t.teardown(() => connection.drop())
  const VALUES = 'select $1::bytea, $2::boolean, $3::boolean, $4::timestamptz, $5::text, $6::int, $7::text[]'
  const values = [Buffer.from('\\x00 bytes'), true, false, at(1), 'text', 7, '{a,b}']
  const before = await connection.run(VALUES, values)
  t.strictSame(before.flat().slice(0, 6), values.slice(0, 6))
  for (const discard of ['deallocate all', 'discard all']) {
    await connection.run(discard, [])
    t.strictSame(await connection.run(VALUES, values), before, discard)
  }
})

t.test('the statement behind one that failed amid its rows gets its own rows alone', async t => {
  const { url } = await openHeroes(t)
  const FAILING = 'select id::int8, 1 / ($1 - id)::int4 from hero order by id'
  const connection = openConnection(createHosts(url, {}), OPTIONS)
  t.teardown(() => connection.drop())
  await connection.run(FIND, [1])
  for (const failure of [5, 20]) {
    await t.rejects(connection.run(FAILING, [failure]), { code: '22012' })
    t.strictSame(Array.from(await connection.run(FIND, [7])), [['7', 'hero 7']])
    await t.rejects(connection.run(FAILING, [failure]), { code: '22012' })
    t.strictSame(Array.from(await connection.run(FIND, [0])), [])
    t.strictSame(Array.from(await connection.run(FIND, [8])), [['8', 'hero 8']])
  }
})

t.test('a statement whose connection is lost is not sent again', async t => {
  const server = await startFakeServer(t)
  const driver = connectServer(server.url, { pool: 2, prepare: true })
  t.teardown(() => driver.close())
  for (const run of [driver.lookUp, driver.query, driver.probe]) {
    await run('before', [])
    server.ending = true
    await t.rejects(run('lost', []), { ...UNAVAILABLE, cause: { code: 'CONNECTION_CLOSED' } })
    server.ending = false
    await run('after', [])
  }
  t.strictSame(server.statements.join(), 'before,lost,after,before,lost,after,before,lost,after')
})

t.test('what has arrived while the process stood still is read before its connection counts as silent', async t => {
  const connection = openConnection(createHosts(process.env.TEST_DATABASE_URL ?? '', {}), OPTIONS)
  t.teardown(() => connection.drop())
  await connection.run('select 1', [])
  const answer = connection.run('select 2', [], 50)
  // postgres.js writes in the next turn.
  await setImmediate()
  await setImmediate()
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
  t.same(await answer, [[2]])
})

t.test('what is locked takes half of the connections at most, and look-ups of it give up soon', async t => {
  const { sql, driver } = await openHeroes(t, { pool: 6 })
  const LOCKED = 'select from hero limit 1'
  const UNLOCKED = 'select from client limit 1'
  const locked = { ...UNAVAILABLE, cause: { code: '55P03' } }
  await sql.begin(async held => {
    await held`lock table hero`
    await t.rejects(driver.lookUp(LOCKED, []), locked)
    await t.rejects(driver.query(LOCKED, []), locked)
    let refused = 0
    const waiting = Array.from({ length: 20 }, () =>
      driver.query(LOCKED, []).catch(() => {
        refused += 1
      })
    )
    for (let i = 0; i < 20; i++) await driver.query(UNLOCKED, [])
    t.ok(refused < 20, 'others go before those that wait for the lock')
    await held.unsafe('commit; begin')
    await Promise.all(waiting)
  })
  await Promise.all(Array.from({ length: 20 }, () => driver.query(LOCKED, [])))
})

t.test('one connection serves look-ups, writes, locked ones too, and the check, which goes first', async t => {
  const { sql, driver } = await openHeroes(t, { pool: 1 })
  await sql.begin(async held => {
    await held`lock table hero`
    await t.rejects(driver.lookUp(FIND, [1]), UNAVAILABLE)
    const order: string[] = []
    const done = (name: string) => () => order.push(name)
    await Promise.all([
      driver.lookUp(FIND, [1]).catch(done('locked')),
      driver.query('select 1', []).then(done('write')),
      driver.probe('select 1', []).then(done('check'))
    ])
    t.strictSame(order, ['locked', 'check', 'write'])
  })
  t.strictSame(Array.from(await driver.lookUp(FIND, [1])), [['1', 'hero 1']])
  t.equal(driver.connections?.().lookups, 0)
})

t.test('what waits when the database is closed is refused, and what comes later as well', async t => {
  const { driver } = await openHeroes(t, { pool: 1 })
  await driver.query('select 1', [])
  const first = driver.query('select pg_sleep(0.05)', [])
  const refused = { ...UNAVAILABLE, cause: { message: 'the database is closed' } }
  await setImmediate()
  const second = t.rejects(driver.query('select 1', []), refused)
  const closed = driver.close()
  await second
  await t.rejects(driver.lookUp('select 1', []), refused)
  t.equal((await first).length, 1, 'what is under way has a second')
  await closed
})

t.test('what the database reports while its schema changes is unavailable, and the connection serves on', async t => {
  const { sql, driver } = await openHeroes(t, { pool: 1 })
  await sql`create table item (a text[], b text[])`
  const [pid] = await driver.query('select pg_backend_pid()', [])
  const failing = {
    '42703': 'select c from item',
    '42883': 'select a <@ b from item',
    '42804': 'insert into item (a) values (now())',
    '42P18': 'select $1 is null'
  }
  await driver.query(failing['42883'], [])
  await sql`alter table item alter a type varchar(10)[]`
  for (const [code, text] of Object.entries(failing)) {
    await t.rejects(driver.query(text, code === '42P18' ? [null] : []), { ...UNAVAILABLE, cause: { code } })
  }
  t.same(await driver.query('select pg_backend_pid()', []), [pid])
  const internal = (message: string) => translate(Object.assign(new Error(message), { code: 'XX000' }))
  t.match(internal('cache lookup failed for type 4711'), UNAVAILABLE)
  t.match(internal('something else'), { name: 'StatementError' })
})

/** Until it is restored, the monotonic clock is so far ahead that every plan is old. */
const moveOn = (t: Test) => {
  const { now } = performance
  return t.intercept(performance, 'now', { value: () => now.call(performance) + 5000 })
}

t.test('what was planned for an empty table is planned anew once the table has rows', async t => {
  const { url, sql } = await openHeroes(t)
  await sql`create table item (id int primary key, kind int not null)`
  await sql`vacuum analyze item`
  const connection = openConnection(createHosts(url, {}), OPTIONS)
  const planOf = async (statement: string) => {
    const [prepared] = await connection.run('select name from pg_prepared_statements where statement = $1', [statement])
    return (await connection.run(`explain execute "${prepared?.[0]}" ('{1}')`, [])).flat().join('\n')
  }
  const LOOK_UP = `select found.kind from unnest($1::int4[]) as wanted (id)
    left join lateral (select kind from item where item.id = wanted.id) as found on true`
  const JOIN = 'select item.kind from unnest($1::int4[]) as wanted (id) join item using (id)'
  const BY_KEY = 'Index Cond: (id = wanted.id)'
  t.same(await connection.run(LOOK_UP, ['{1}']), [[null]])
  t.same(await connection.run(JOIN, ['{1}']), [])
  t.ok((await planOf(LOOK_UP)).includes(BY_KEY), 'a look-up reads by the key even so')
  t.notOk((await planOf(JOIN)).includes(BY_KEY), 'a join reads the whole table')
  await sql`insert into item select i, i from generate_series(1, 1000) i`
  const { restore } = moveOn(t)
  await connection.ready()
  restore()
  t.ok((await planOf(JOIN)).includes(BY_KEY))
  t.same(await connection.run(JOIN, ['{7}']), [[7]])
  await connection.end()
})

t.test('a transaction sets its isolation level, however old the plans of its connection are', async t => {
  const { driver } = await openHeroes(t, { pool: 1 })
  await driver.transaction({ name: 'test', patient: true }, async run => {
    const { restore } = moveOn(t)
    await run('set transaction isolation level repeatable read', [])
    restore()
    t.strictSame(Array.from(await run('show transaction_isolation', [])), [['repeatable read']])
  })
})

t.test('an invalid date fails its own statement and no other', async t => {
  const { driver } = await openHeroes(t, { pool: 1 })
  const SELECT = 'select $1::timestamptz::text, $2::text'
  await driver.lookUp(SELECT, [at(0), 'first'])
  const asked = await Promise.allSettled([
    driver.lookUp(SELECT, [at(0), 'sound']),
    driver.lookUp(SELECT, [new Date(Number.NaN), 'broken']),
    driver.lookUp(SELECT, [at(0), 'behind'])
  ])
  t.match(asked, [{ value: [[String, 'sound']] }, { reason: Error }, { value: [[String, 'behind']] }])
})

t.test('readers do not notice that the type of a column changes', async t => {
  const { sql, stores } = await openHeroes(t)
  const { wrong, refusals, answers } = await readMeanwhile(
    async id => (await stores.heroes.find(id))?.name,
    answered => changeType(sql, answered)
  )
  t.strictSame(wrong, [])
  t.strictSame(refusals, [])
  t.ok(answers > 64)
})

t.test('every store goes on when the types of all its columns change', async t => {
  const { sql, stores } = await openHeroes(t)
  const parties = await register(stores)
  const token = await logIn(stores, parties)
  const calls = {
    hero: () => stores.heroes.find(1),
    heroes: () => stores.heroes.list({ nameContains: 'hero 1', after: 0, limit: 1 }),
    rename: () => stores.heroes.replace(1, { name: 'hero 1' }),
    user: () => stores.users.find(parties.user.id),
    username: () => stores.users.findByUsername(parties.user.username),
    users: () => stores.users.list({}),
    client: () => stores.clients.find(parties.client.id),
    clients: () => stores.clients.list(),
    update: () => stores.clients.update(parties.client.id, { name: 'the same' }),
    access: () => stores.tokens.findByAccess(token.accessDigest),
    refresh: () => stores.tokens.findByRefresh(token.refreshDigest),
    grant: () => stores.grants.find(token.grant.id)
  }
  const ask = async () => {
    const answers: Record<string, unknown> = {}
    for (const [name, call] of Object.entries(calls)) {
      answers[name] = await call()?.catch((error: unknown) => error)
    }
    return answers
  }
  await ask()
  const before = await ask()
  const columns = await sql`
    select table_name as table, column_name as column, data_type as type from information_schema.columns
    where table_schema = 'public' and data_type in ('text', 'timestamp with time zone', 'integer')`
  const others: Record<string, string> = { text: 'varchar(1000)', integer: 'bigint' }
  for (const { table, column, type } of columns) {
    await sql.unsafe(`alter table "${table}" alter "${column}" type ${others[type] ?? 'timestamptz'}`)
  }
  t.ok(columns.length > 20)
  t.strictSame(await ask(), before)
})
