import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Driver } from '../../../adapters/postgres/connection/driver.js'
import { StatementError, unavailable } from '../../../adapters/postgres/connection/errors.js'
import { connectServer } from '../../../adapters/postgres/connection/server.js'
import { copyAll } from '../../../adapters/postgres/copy.js'
import { type Database, openEmbedded, openServer } from '../../../adapters/postgres/database.js'
import { openFolder } from '../../../adapters/postgres/embedded/embedded.js'
import { TABLES } from '../../../adapters/postgres/migrations.js'
import { migratedDatabase } from '../../support/databases.js'
import { madeFolder } from '../../support/embedded.js'
import { createDatabase, execute } from '../../support/postgres.js'
import { basic, createInhabited, createService, opens } from '../../support/service.js'
import { openSql } from '../../support/sql.js'
import { ADA } from '../../support/world.js'

const ONCE = { again: false, onBatch: () => {} }
const AGAIN = { ...ONCE, again: true }

const IS_SOURCE = 'the target cannot be used: it is the source, or another copy is about to begin in it'

const HALF_COPIED = {
  name: 'UnfitDatabaseError',
  message:
    'a copy into the database is not whole; `npx heroes copy TARGET --again`, run where it was copied from, begins it anew'
}

/** A new database on the server, and a connection of the test's own. */
const createTarget = async (t: Test) => {
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  return { url, run: openSql(t, url) }
}

/** A migrated database on the server with as many heroes. */
const createSource = async (t: Test, heroes: number) => {
  const url = await migratedDatabase(t)
  const source = await open(t, url)
  await source.stores.heroes.insertAll(Array.from({ length: heroes }, (_, i) => ({ name: `Hero ${i}` })))
  return { url, run: openSql(t, url), source }
}

const open = async (t: Test, url: string): Promise<Database> => {
  const database = await openServer(url, { pool: 4 })
  t.teardown(database.close)
  return database
}

/** Every row of every table, as text. */
const rowsOf = async (run: (text: string) => Promise<unknown[][]>) => {
  const tables = TABLES.filter(name => name !== 'attempt')
  const texts = tables.map(name => `select '${name}' as name, to_jsonb(x)::text as text from "${name}" x`)
  return (await run(`${texts.join(' union all ')} order by name, text`)).map(row => row.join(' '))
}

t.test('a copy has every row but attempts, with its id, and whoever was logged in goes on', async t => {
  const folder = await madeFolder(t)
  const source = await openEmbedded(folder)
  t.teardown(source.close)
  await source.migrate()
  const before = await createInhabited({ stores: source.stores })
  const { useCases, login, code } = before
  const names = ['\ufeffmarked', '"quoted" \\ {a,b}', 'NULL', '\u{1f9b8}']
  const many = Array.from({ length: 2500 - names.length }, (_, i) => ({ name: `Hero ${i}` }))
  await source.stores.heroes.insertAll([...names.map(name => ({ name })), ...many])
  await source.stores.heroes.remove(2500)
  await useCases.setScopeText({ name: 'a', text: 'everything that begins with "a"' })
  await useCases.rotateSecret('app', 'another-secret-of-24-characters', 60)
  const live = await login('a')
  const spent = await login()
  const refreshed = await before.form('/auth/token', refresh(spent.refresh_token), basic('app'))
  const ended = await login()
  await before.form('/auth/revoke', { token: ended.refresh_token }, basic('app'))
  const unredeemed = await code()
  await before.form('/auth/token', { grant_type: 'password', ...ADA, password: 'wrong' }, basic('app'))

  const { url, run } = await createTarget(t)
  const told: string[] = []
  const onBatch = ({ table, rows }: { table: string; rows: number }) => told.push(`${table} ${rows}`)
  const copied = await source.copyTo({ url }, { again: false, onBatch })
  t.strictSame(
    copied.map(({ table }) => table).sort(),
    [...TABLES].filter(name => name !== 'attempt')
  )
  t.ok(
    copied.every(({ rows }) => rows > 0),
    'the source has rows in each of them'
  )
  t.strictSame(
    told.filter(line => line.startsWith('hero ')),
    ['hero 1000', 'hero 2000', 'hero 2499']
  )

  await t.rejects(source.copyTo({ folder }, ONCE), {
    message: `the folder ${folder} is the source, or in use by another process`
  })
  await t.rejects(source.copyTo({ folder: '/dev/null/x' }, ONCE), { name: 'FolderError' })
  await source.close()
  const { query, close } = await openFolder(folder)
  t.strictSame(await rowsOf(text => query(text, [])), await rowsOf(run), 'every row is the same')
  await close()

  const target = await open(t, url)
  await target.requireSchema()
  const after = createService({ stores: target.stores, clock: before.clock })
  t.ok(await opens(after, live.access_token))
  t.notOk(await opens(after, ended.access_token))
  t.match(await after.form('/auth/token', refresh(live.refresh_token), basic('app')), { statusCode: 200 })
  const repeated = await after.form('/auth/token', refresh(spent.refresh_token), basic('app'))
  t.strictSame(repeated.json(), refreshed.json(), 'a refresh that is repeated gets the same tokens')
  const redeem = { grant_type: 'authorization_code', code: unredeemed }
  t.match(await after.form('/auth/token', redeem, basic('app', 'another-secret-of-24-characters')), { statusCode: 200 })
  t.match(await after.form('/auth/token', { grant_type: 'password', ...ADA }, basic('app')), { statusCode: 200 })
  t.strictSame(await run('select * from attempt where failures > 0'), [], 'attempts stay behind')
  t.match(await target.stores.heroes.insert({ name: 'New' }), { id: 2501 }, 'the next id is free, and was never used')
  t.match(await target.stores.users.insert('new', { hash: 'x', salt: 'x' }), { id: 2 })
})

const refresh = (token: string) => ({ grant_type: 'refresh_token', refresh_token: token })

t.test('a copy that ended half-way is refused as a database until it is begun again, and is whole then', async t => {
  const { source, run } = await createSource(t, 2500)
  const target = await createTarget(t)
  const onBatch = () => {
    throw new Error('the disk is full')
  }
  await t.rejects(source.copyTo(target, { again: false, onBatch }), {
    message: 'the copy is not whole, and --again begins it anew: the disk is full'
  })
  t.strictSame(await target.run('select count(*)::int4 from hero'), [[1000]])
  const half = await open(t, target.url)
  await t.rejects(half.migrate(), HALF_COPIED)
  await t.rejects(half.requireSchema(), HALF_COPIED)
  t.match(await half.inspect(), { schema: { halfCopied: true, later: false } })
  await t.rejects(source.copyTo(target, ONCE), {
    message: 'the target cannot be used: it has a copy that is not whole; --again empties it and begins anew'
  })

  await source.copyTo(target, AGAIN)
  await half.requireSchema()
  t.strictSame(await rowsOf(target.run), await rowsOf(run))
  t.match(await half.stores.heroes.insert({ name: 'New' }), { id: 2501 })
  await t.rejects(source.copyTo(target, AGAIN), { message: /: it is not empty, / }, 'and not emptied any more')
})

/** A target in which a copy of one scope waits until `release` is called. `run` is a statement there. */
const createHeldTarget = async (t: Test) => {
  const { url, run } = await createTarget(t)
  await (await open(t, url)).migrate()
  await run('begin')
  await run('lock table scope in exclusive mode')
  return { url, run, release: () => run('commit') }
}

/** A source with one scope. */
const createHeldSource = async (t: Test) => {
  const { source } = await createSource(t, 1)
  await source.stores.scopes.set({ name: 'a', text: 'A' })
  return source
}

/** Runs the statement until it has a row. */
const untilFound = async (run: (text: string) => Promise<unknown[][]>, text: string): Promise<void> => {
  while ((await run(text)).length === 0) await sleep(5)
}

/** A driver whose connection is lost behind a transaction with such a statement, or `before` it is committed. */
const losing = (driver: Driver, statement: string, before = false): Driver => ({
  ...driver,
  async transaction(options, work) {
    let isIn = false
    const lose = (at: boolean): void => {
      if (isIn && at) throw unavailable(new StatementError('the connection was lost', 'CONNECTION_CLOSED'))
    }
    const result = await driver.transaction(options, async run => {
      const worked = await work((text, values) => {
        isIn ||= text.startsWith(statement)
        return run(text, values)
      })
      lose(before)
      return worked
    })
    lose(true)
    return result
  }
})

t.test(
  'a copy that is whole is no failure, although the connection to source or target is lost at its end',
  async t => {
    const { url } = await createSource(t, 3)
    const connect = (url: string): Driver => {
      const driver = connectServer(url, { pool: 1, prepare: true })
      t.teardown(driver.close)
      return driver
    }
    for (const [ofSource, ofTarget] of [
      ['declare', 'nothing'],
      ['nothing', 'analyze']
    ] as const) {
      const target = await createTarget(t)
      const copied = await copyAll(losing(connect(url), ofSource), losing(connect(target.url), ofTarget), ONCE)
      t.strictSame(
        copied.filter(({ rows }) => rows > 0),
        [{ table: 'hero', rows: 3 }]
      )
      await (await open(t, target.url)).requireSchema()
    }
    const target = await createTarget(t)
    const lost = losing(connect(target.url), 'analyze', true)
    const another: Driver = {
      ...lost,
      async query(text, values) {
        await target.run(`update heroes_migration set hash = 'copy of another' where starts_with(hash, 'copy ')`)
        return lost.query(text, values)
      }
    }
    for (const driver of [lost, another]) {
      await t.rejects(copyAll(connect(url), driver, AGAIN), {
        message: /^the copy is not whole, and --again begins it anew: .*the connection was lost$/
      })
    }
  }
)

t.test('a copy whose target is lost says why', async t => {
  const source = await createHeldSource(t)
  const { url, release } = await createHeldTarget(t)
  const copying = t.rejects(source.copyTo({ url }, ONCE), {
    message: /^the copy is not whole, and --again begins it anew: the database cannot be reached: ./
  })
  const waiting = "from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
  await untilFound(openSql(t, url), `select pg_terminate_backend(pid) ${waiting}`)
  await copying
  await release()
})

t.test('a copy that another one has begun anew meanwhile is not taken for whole', async t => {
  const source = await createHeldSource(t)
  const { url, run, release } = await createHeldTarget(t)
  const copying = t.rejects(source.copyTo({ url }, ONCE), {
    message: /: another copy into the target has begun meanwhile$/
  })
  await untilFound(
    run,
    "update heroes_migration set hash = 'copy of another' where starts_with(hash, 'copy ') returning 1"
  )
  await release()
  await copying
  await t.rejects((await open(t, url)).requireSchema(), HALF_COPIED)
})

t.test('of copies that begin at once in a target one is made, and the others are refused', async t => {
  const { source, run } = await createSource(t, 1500)
  for (let round = 0; round < 3; round++) {
    const target = await createTarget(t)
    const copies = Array.from({ length: 3 }, () => source.copyTo(target, ONCE))
    const settled = await Promise.allSettled(copies)
    const refused = settled.flatMap(copy => (copy.status === 'rejected' ? copy.reason.message : []))
    t.equal(refused.length, 2)
    for (const message of refused) t.match(message, /^the target cannot be used: /)
    t.strictSame(await rowsOf(target.run), await rowsOf(run))
    await (await open(t, target.url)).requireSchema()
  }
})

t.test('what is copied is the state of one instant, whatever is written meanwhile', async t => {
  const { source, url } = await createSource(t, 1500)
  const { useCases } = createService({ stores: source.stores })
  const target = await createTarget(t)
  let written: Promise<unknown> | undefined
  const write = async () => {
    await useCases.addClient({ id: 'late', secret: undefined, allowedScopes: [], name: undefined, requirePkce: true })
    await execute(url, 'delete from hero')
  }
  const onBatch = (): void => {
    written ??= write()
  }
  await source.copyTo(target, { again: false, onBatch })
  await written
  t.strictSame(await target.run('select count(*)::int4 from hero'), [[1500]])
  t.strictSame(await target.run('select id from client'), [])
})

t.test('a target that is the source or has a row in any table is refused, and a source of a later version', async t => {
  const { source, url, run } = await createSource(t, 0)
  await t.rejects(source.copyTo({ url }, ONCE), { message: IS_SOURCE })
  await t.rejects(source.copyTo({ url }, AGAIN), { message: IS_SOURCE })
  await source.stores.heroes.insert({ name: 'Ant' })
  const other = await createSource(t, 0)
  await other.source.stores.attempts.take([{ key: 'A'.repeat(43), most: 1 }], new Date(), 60)
  const before = await other.run('select * from attempt')
  for (const options of [ONCE, AGAIN]) {
    await t.rejects(source.copyTo(other, options), {
      message: 'the target cannot be used: it is not empty, as the table "attempt" has rows'
    })
  }
  t.strictSame(await other.run('select * from attempt'), before)
  await t.rejects(source.copyTo({ url: 'postgres://127.0.0.1:1/none' }, ONCE), {
    message: /^the target cannot be used: .*ECONNREFUSED/
  })

  await run("insert into heroes_migration (hash) values ('later')")
  await t.rejects(source.copyTo(await createTarget(t), ONCE), {
    message: 'a later version has migrated the source: copy it with that one'
  })
  await run("delete from heroes_migration where hash = 'later'")
  await source.copyTo({ url: `${url}?options=-c%20search_path%3Delsewhere` }, ONCE)
  t.strictSame(await run('select name from elsewhere.hero'), [['Ant']], 'another schema is another place')
})
