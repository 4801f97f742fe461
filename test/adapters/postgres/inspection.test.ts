import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import type { Driver } from '../../../adapters/postgres/connection/driver.js'
import { connectServer } from '../../../adapters/postgres/connection/server.js'
import { openEmbedded, openServer } from '../../../adapters/postgres/database.js'
import { inspect } from '../../../adapters/postgres/inspection.js'
import { migratedDatabase } from '../../support/databases.js'
import { createEarlierDatabase } from '../../support/earlier-database.js'
import { madeFolder } from '../../support/embedded.js'
import { createDatabase, execute } from '../../support/postgres.js'

const { url, drop } = await createDatabase()
t.teardown(drop)

const connect = (pool = 2, address = url): Driver => {
  const driver = connectServer(address, { pool, prepare: true })
  t.teardown(() => driver.close())
  return driver
}

t.test('an inspection tells what the server says of itself', async t => {
  const driver = connect()
  const [row = []] = await driver.query(
    `select current_setting('server_version'), current_setting('max_connections')`,
    []
  )
  const before = await inspect(driver)
  t.match(before, { version: String(row[0]), encoding: 'UTF8', takesWrites: true, encrypted: false })
  t.match(before, { schema: { applied: false, later: false }, mayMigrate: true, missing: [] })
  t.ok(Number(before.schema?.pending) > 0)
  t.ok(before.sharedBufferBytes >= 128 * 1024)
  t.ok(before.connections.most > 0 && before.connections.most < Number(row[1]))
  t.ok(before.connections.others >= 0)

  const database = await openServer(url, { pool: 2, prepare: true })
  t.teardown(database.close)
  await database.migrate()
  const schema = { applied: true, pending: 0, later: false, absent: [], searchPath: '"$user", public' }
  t.match(await database.inspect(), { schema, missing: [] })
})

t.test('connections of other programs are counted, and limits of the role and the database hold', async t => {
  const role = `role_${randomBytes(4).toString('hex')}`
  const name = new URL(url).pathname.slice(1)
  await execute(url, `create role ${role} login password 'secret' connection limit 7`)
  t.teardown(() => execute(url, `drop role ${role}`))
  const address = new URL(url)
  address.username = role
  address.password = 'secret'
  const driver = connect(2, address.href)
  t.equal((await inspect(driver)).connections.most, 7)
  await execute(url, `alter database ${name} connection limit 5`)
  t.equal((await inspect(driver)).connections.most, 5)
  await execute(url, `alter database ${name} connection limit -1`)
})

t.test('a schema of a later or an earlier version is told from one that is up to date', async t => {
  const driver = connect()
  await execute(url, "insert into heroes_migration (hash) values ('later')")
  t.match(await inspect(driver), { schema: { pending: 0, later: true } })
  await execute(url, "delete from heroes_migration where hash = 'later'")
  await execute(url, 'delete from heroes_migration where ctid = (select max(ctid) from heroes_migration)')
  t.match(await inspect(driver), { schema: { applied: true, pending: 1, later: false } })
})

t.test('a role lacks nothing on tables that pending migrations are yet to make', async t => {
  const { url } = await createEarlierDatabase(t, 3)
  t.match(await inspect(connect(1, url)), {
    schema: { applied: true, pending: 4, absent: [] },
    missing: [],
    mayMigrate: true
  })
})

t.test('a table that no pending migration makes is absent where it is gone', async t => {
  const url = await migratedDatabase(t)
  const database = await openServer(url, { pool: 1, prepare: true })
  t.teardown(database.close)
  await execute(url, 'drop table scope')
  const { schema, missing } = await database.inspect()
  t.strictSame(schema?.absent, ['scope'])
  t.strictSame(missing, [])
})

/** Whether a role that has almost no privileges may migrate, behind each change of them. */
const watchRole = async (t: Test, url: string, sql: postgres.Sql) => {
  const role = `role_${randomBytes(4).toString('hex')}`
  await sql.unsafe(`create role ${role} login password 'secret'`)
  t.teardown(() => execute(url, `drop owned by ${role} cascade; drop role ${role}`))
  const address = new URL(url)
  address.username = role
  address.password = 'secret'
  const database = await openServer(address.href, { pool: 1, prepare: true })
  t.teardown(database.close)
  const mayMigrate = async (change: string): Promise<boolean> => {
    await sql.unsafe(change)
    return (await database.inspect()).mayMigrate
  }
  return { role, database, mayMigrate }
}

t.test('a role may migrate that owns what pending migrations change, and may write what it has applied', async t => {
  const { url, sql } = await createEarlierDatabase(t, 5)
  const { role, database, mayMigrate } = await watchRole(t, url, sql)
  await sql`create table heroes_migration (hash text primary key, applied_at timestamptz not null default now())`
  await sql`insert into heroes_migration (hash) select hash from drizzle.__drizzle_migrations`
  t.notOk(await mayMigrate(`grant usage on schema public to ${role}`), 'the record cannot be read')
  t.match(await database.inspect(), { schema: undefined, missing: [{}], mayMigrate: false })
  t.notOk(await mayMigrate(`grant select on heroes_migration to ${role}`))
  t.notOk(await mayMigrate(`alter table "grant" owner to ${role}; alter table client owner to ${role}`))
  t.ok(await mayMigrate(`grant insert on heroes_migration to ${role}`), 'nothing is made, so it need not create')
  t.notOk(await mayMigrate('alter table client owner to current_user'))
  t.ok(await mayMigrate(`alter table client owner to ${role}`))
  await database.migrate()
  t.match(await database.inspect(), { schema: { pending: 0 } })
})

t.test('where a pending migration makes a table, or none was applied, a role that may migrate may create', async t => {
  const earlier = await createEarlierDatabase(t, 4)
  const owned = `alter table "grant" owner to ROLE; alter table client owner to ROLE; grant usage on schema drizzle to ROLE;
    grant select on all tables in schema drizzle to ROLE`
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  t.teardown(() => sql.end())
  for (const [place, change] of [
    [earlier, owned],
    [{ url, sql }, 'grant usage on schema public to ROLE']
  ] as const) {
    const { role, database, mayMigrate } = await watchRole(t, place.url, place.sql)
    t.notOk(await mayMigrate(change.replaceAll('ROLE', role)))
    await t.rejects(database.migrate(), { code: '42501' })
    t.ok(await mayMigrate(`grant create on schema public to ${role}`))
    await database.migrate()
    t.match(await database.inspect(), { schema: { pending: 0 } })
  }
})

t.test('a failure that says nothing of privileges is told as it is', async t => {
  const driver = connect()
  await execute(url, 'alter table heroes_migration rename column hash to digest')
  await t.rejects(inspect(driver), { name: 'DomainError', cause: { code: '42703' } })
  await execute(url, 'alter table heroes_migration rename column digest to hash')
})

t.test('the embedded engine tells the same of itself, and of each statement how long it took', async t => {
  const statements: number[] = []
  const database = await openEmbedded(await madeFolder(t), { onStatement: seconds => statements.push(seconds) })
  t.teardown(database.close)
  await t.rejects(database.stores.heroes.find(1), { code: '42P01' })
  t.ok(statements.length > 0, 'of one that fails too')
  await database.migrate()
  t.ok(statements.length > 1 && statements.every(seconds => seconds >= 0))
  t.match(await database.inspect(), {
    version: /^\d+\.\d+/,
    encoding: 'UTF8',
    takesWrites: true,
    schema: { applied: true, pending: 0, later: false },
    missing: []
  })
})
