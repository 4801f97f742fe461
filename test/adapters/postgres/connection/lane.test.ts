import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import { createHosts } from '../../../../adapters/postgres/connection/hosts.js'
import { type LaneOptions, openLane } from '../../../../adapters/postgres/connection/lane.js'
import { openServer } from '../../../../adapters/postgres/database.js'
import { at, logIn, register } from '../../../contract/records.js'
import { createDatabase } from '../../../support/postgres.js'

/** A migrated database with heroes 1 to 64, `hero 1` to `hero 64`. */
const openHeroes = async (t: Test) => {
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  const database = await openServer(url, { pool: 10, prepare: true })
  t.teardown(() => database.close())
  await database.migrate()
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  t.teardown(() => sql.end())
  await sql`insert into hero (name, name_lower) select 'hero ' || i, '' from generate_series(1, 64) i`
  return { url, sql, stores: database.stores }
}

const FIND = 'select id::int8, name from hero where id = $1'

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

for (const lookups of [true, false]) {
  const which = lookups ? 'for look-ups' : 'of the pool'
  const options: LaneOptions = { prepare: true, lookups }

  t.test(`a plan that is gone ends a connection ${which}, and every answer goes to its own caller`, async t => {
    const { url, sql } = await openHeroes(t)
    let lane = openLane(createHosts(url, {}), options)
    let lanes = 1
    const { wrong, refusals } = await readMeanwhile(
      async id => {
        if (lane.lost) {
          lane = openLane(createHosts(url, {}), options)
          lanes += 1
        }
        const [row] = await lane.run(FIND, [id])
        return row?.[1]
      },
      async answered => {
        await answered()
        await changeType(sql, answered)
      }
    )
    t.strictSame(wrong, [])
    t.ok(lanes > 1 && refusals.length > 0, 'the plan was gone, and connections ended by it')
    await lane.end()
  })
}

t.test('the statement behind one that failed amid its rows gets its own rows alone', async t => {
  const { url } = await openHeroes(t)
  const FAILING = 'select id::int8, 1 / ($1 - id)::int4 from hero order by id'
  for (const lookups of [true, false]) {
    const lane = openLane(createHosts(url, {}), { prepare: true, lookups })
    await lane.run(FIND, [1])
    for (const failures of [[5], [10, 20]]) {
      const failed = failures.map(value => t.rejects(lane.run(FAILING, [value]), { code: '22012' }))
      const answers = [
        lane.run(FIND, [7]),
        lane.run('select id::int8 from hero where id = $1', [0]),
        lane.run(FIND, [8])
      ]
      const got = (await Promise.all(answers)).map(rows => Array.from(rows))
      t.strictSame(got, [[['7', 'hero 7']], [], [['8', 'hero 8']]], `${failures}, lookups: ${lookups}`)
      await Promise.all(failed)
    }
    await lane.end()
  }
})

t.test('a prepared statement that is gone ends the connection and is not sent again', async t => {
  const { url } = await openHeroes(t)
  const lane = openLane(createHosts(url, {}), { prepare: true, lookups: true })
  await lane.run(FIND, [1])
  await lane.run('discard all', [])
  const asked = await Promise.allSettled([lane.run(FIND, [1]), lane.run(FIND, [2])])
  t.match(asked, [{ status: 'rejected' }, { status: 'rejected' }])
  t.equal(lane.lost, true)
})

t.test('what was planned for an empty table is planned anew once the table has rows', async t => {
  const { url, sql } = await openHeroes(t)
  await sql`create table item (id int primary key, kind int not null)`
  await sql`vacuum analyze item`
  const lane = openLane(createHosts(url, {}), { prepare: true, lookups: false })
  const planOf = async (statement: string) => {
    const [prepared] = await lane.run('select name from pg_prepared_statements where statement = $1', [statement])
    return (await lane.run(`explain execute "${prepared?.[0]}" ('{1}')`, [])).flat().join('\n')
  }
  const LOOK_UP = `select found.kind from unnest($1::int4[]) as wanted (id)
    left join lateral (select kind from item where item.id = wanted.id) as found on true`
  const JOIN = 'select item.kind from unnest($1::int4[]) as wanted (id) join item using (id)'
  const BY_KEY = 'Index Cond: (id = wanted.id)'
  t.same(await lane.run(LOOK_UP, ['{1}']), [[null]])
  t.same(await lane.run(JOIN, ['{1}']), [])
  t.ok((await planOf(LOOK_UP)).includes(BY_KEY), 'a look-up reads by the key even so')
  t.notOk((await planOf(JOIN)).includes(BY_KEY), 'a join reads the whole table')
  await sql`insert into item select i, i from generate_series(1, 1000) i`
  while (!(await planOf(JOIN)).includes(BY_KEY)) await sleep(10)
  t.same(await lane.run(JOIN, ['{7}']), [[7]])
  await lane.end()
})

t.test('statements of other code that uses postgres.js are parsed anew as usual', async t => {
  const { sql, stores } = await openHeroes(t)
  await stores.heroes.find(1)
  const find = async () => (await sql`select id, name from hero where id = ${2}`)[0]?.name
  t.equal(await find(), 'hero 2')
  await sql`select pg_sleep(0)`
  await changeType(sql)
  t.equal(await find(), 'hero 2')
})

t.test('an invalid date fails its own statement and no other', async t => {
  const { url } = await openHeroes(t)
  const lane = openLane(createHosts(url, {}), { prepare: true, lookups: true })
  const SELECT = 'select $1::timestamptz::text, $2::text'
  await lane.run(SELECT, [at(0), 'first'])
  const asked = await Promise.allSettled([
    lane.run(SELECT, [at(0), 'sound']),
    lane.run(SELECT, [new Date(Number.NaN), 'broken']),
    lane.run(SELECT, [at(0), 'behind'])
  ])
  t.match(asked, [{ value: [[String, 'sound']] }, { reason: TypeError }, { value: [[String, 'behind']] }])
  await lane.end()
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
