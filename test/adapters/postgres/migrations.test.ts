import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { drizzle } from 'drizzle-orm/postgres-js'
import { migrate as migrateOther } from 'drizzle-orm/postgres-js/migrator'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import { openServer } from '../../../adapters/postgres/database.js'
import { accessOf, at, authorize, logIn, register } from '../../contract/records.js'
import { createEarlierDatabase } from '../../support/earlier-database.js'
import { createDatabase, execute } from '../../support/postgres.js'
import { temporaryFolder } from '../../support/process.js'

const FILES = readdirSync('drizzle').filter(name => name.endsWith('.sql'))
/** Of the version before the record of the service's own. */
const EARLIER = 6
const SHARED = 'drizzle.__drizzle_migrations'
const HAS_SCHEMA = { schema: { applied: true, pending: 0, later: false, absent: [] } }

const open = async (t: Test, url: string) => {
  const database = await openServer(url, { pool: 2, prepare: true })
  t.teardown(database.close)
  return database
}

const connectTo = (t: Test, url: string): postgres.Sql => {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  t.teardown(() => sql.end())
  return sql
}

const createEmpty = async (t: Test) => {
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  return { url, sql: connectTo(t, url) }
}

const inSchema = (url: string, searchPath: string): string =>
  `${url}?options=${encodeURIComponent(`-c search_path=${searchPath}`)}`

const rowsOf = async (sql: postgres.Sql, table: string): Promise<unknown[]> => [...(await sql.unsafe(`table ${table}`))]

/** Another application with so many migrations, the last of which is the newest of all. */
const migrateNeighbour = async (t: Test, sql: postgres.Sql, count: number): Promise<void> => {
  const folder = temporaryFolder(t)
  mkdirSync(join(folder, 'meta'))
  const entries = Array.from({ length: count }, (_, idx) => ({
    idx,
    version: '7',
    when: 1_000_000 + idx * 9e12,
    tag: `000${idx}_other`,
    breakpoints: true
  }))
  for (const { idx, tag } of entries) writeFileSync(join(folder, `${tag}.sql`), `create table other_${idx} (id int)`)
  writeFileSync(join(folder, 'meta', '_journal.json'), JSON.stringify({ version: '7', dialect: 'postgresql', entries }))
  await migrateOther(drizzle(sql), { migrationsFolder: folder })
}

t.test('another application with newer migrations in the same database is no reason to apply none', async t => {
  const { url, sql } = await createEmpty(t)
  await migrateNeighbour(t, sql, 2)
  const before = await rowsOf(sql, SHARED)
  const { migrate, inspect, check, stores } = await open(t, url)
  await t.rejects(check(), { code: 'unavailable' })
  await migrate()
  await check()
  t.match(await inspect(), HAS_SCHEMA)
  await logIn(stores, await register(stores))
  t.strictSame(await rowsOf(sql, SHARED), before, 'the table of the other application is not written')
  t.equal((await rowsOf(sql, 'heroes_migration')).length, FILES.length)
})

t.test('a database of an earlier version, from a checkout with LF or CRLF, is taken over without loss', async t => {
  for (const crlf of [false, true]) {
    const { url, sql } = await createEarlierDatabase(t, EARLIER)
    for (const [index, name] of FILES.slice(0, EARLIER).entries()) {
      const text = readFileSync(join('drizzle', name), 'utf8').replaceAll('\n', '\r\n')
      if (crlf) {
        const hash = createHash('sha256').update(text).digest('hex')
        await sql`update ${sql(SHARED)} set hash = ${hash} where id = ${index + 1}`
      }
    }
    await migrateNeighbour(t, sql, 1)
    await sql`insert into client (id, allowed_scopes, require_pkce) values ('app', '{}', true)`
    await sql`insert into hero (name, name_lower) values ('Storm', 'storm')`
    const before = await rowsOf(sql, SHARED)
    const { migrate, requireSchema, inspect, check, stores } = await open(t, url)
    t.match(await inspect(), { schema: { applied: true, pending: FILES.length - EARLIER, absent: [] } })
    await t.rejects(requireSchema(), { message: /has a schema of an earlier version; run `npx heroes migrate`/ })
    await migrate()
    await requireSchema()
    await check()
    t.match(await stores.clients.find('app'), { requireState: true })
    t.match(await stores.heroes.list({}), [{ name: 'Storm' }])
    t.equal((await rowsOf(sql, 'heroes_migration')).length, FILES.length)
    t.strictSame(await rowsOf(sql, SHARED), before, 'instances of the earlier version find their rows')
    await migrateNeighbour(t, sql, 2)
    t.strictSame(await rowsOf(sql, 'other_1'), [], "the other application's next migration is applied")
  }
})

t.test('each schema of a database has tables and a record of its own', async t => {
  const { url, sql } = await createEarlierDatabase(t, EARLIER)
  const first = await open(t, url)
  await first.migrate()
  await first.stores.heroes.insert({ name: 'in public' })
  // PostgreSQL reads a name without quotes in lower case.
  for (const [searchPath, schema] of [
    ['App2', 'app2'],
    ['"App-3"', 'App-3'],
    ['\u00dcn\u00ef', '\u00dcn\u00ef'],
    ['"a,""b"', 'a,"b']
  ] as const) {
    const database = await open(t, inSchema(url, searchPath))
    await t.rejects(database.requireSchema(), { message: /lacks its schema; run/ })
    t.match(await database.inspect(), { schema: { applied: false, pending: FILES.length }, mayMigrate: true })
    await database.migrate()
    await database.check()
    t.match(await database.inspect(), HAS_SCHEMA)
    t.strictSame(await database.stores.heroes.list({}), [])
    await logIn(database.stores, await register(database.stores))
    const tables = await sql`select tablename from pg_tables where schemaname = ${schema}`
    t.ok(tables.some(({ tablename }) => tablename === 'heroes_migration'))
  }
  t.match(await first.stores.heroes.list({}), [{ name: 'in public' }])
})

t.test('a record without its tables is refused by name of the search path, at the start and by readiness', async t => {
  const { url, sql } = await createEmpty(t)
  const { migrate, requireSchema, inspect } = await open(t, url)
  await migrate()
  await sql`drop table scope`
  const message = /no table scope in the search path "\$user", public/
  await t.rejects(requireSchema(), { name: 'UnfitDatabaseError', message })
  await t.rejects(migrate(), { name: 'UnfitDatabaseError', message })
  t.match(await inspect(), { schema: { absent: ['scope'], searchPath: '"$user", public' } })
  await t.rejects((await open(t, url)).check(), { cause: { message: /the search path is "\$user", public/ } })
})

t.test("a table of Drizzle's that may not be read counts as absent", async t => {
  const { url, sql } = await createEmpty(t)
  await migrateNeighbour(t, sql, 1)
  const role = `role_${randomBytes(4).toString('hex')}`
  await sql.unsafe(`create role ${role} login password 'secret'; create schema mine authorization ${role}`)
  t.teardown(() => execute(url, `drop owned by ${role} cascade; drop role ${role}`))
  const address = new URL(inSchema(url, 'mine'))
  address.username = role
  address.password = 'secret'
  const database = await open(t, address.href)
  await database.migrate()
  t.match(await database.inspect(), HAS_SCHEMA)
})

t.test("the README's SQL makes a schema with a role that migrates and a role that serves", async t => {
  const readme = readFileSync('adapters/postgres/README.md', 'utf8')
  const [removal = '', setup = ''] = [...readme.matchAll(/```sql\n([^`]+)```/g)].map(([, text]) => String(text))
  const { url, sql } = await createEarlierDatabase(t, EARLIER)
  const suffix = randomBytes(4).toString('hex')
  const [owner, service] = [`owner_${suffix}`, `service_${suffix}`]
  await sql.unsafe(setup.replaceAll('heroes_owner', owner).replaceAll('heroes_service', service))
  t.teardown(() =>
    execute(url, `drop owned by ${owner} cascade; drop owned by ${service} cascade; drop role ${owner}, ${service}`)
  )
  const as = (role: string, password: string): string => {
    const address = new URL(url)
    address.username = role
    address.password = password
    return address.href
  }
  const migrating = await open(t, as(owner, 'one'))
  t.equal(await migrating.migrate(), undefined, 'the index of names is there')
  t.match(await migrating.inspect(), { ...HAS_SCHEMA, missing: [] })

  const { stores, requireSchema, check, inspect } = await open(t, as(service, 'another'))
  t.equal(await requireSchema(), undefined)
  await check()
  t.match(await inspect(), { ...HAS_SCHEMA, missing: [] })
  const parties = await register(stores)
  const token = await logIn(stores, parties)
  t.strictSame(await stores.tokens.findByAccess(token.accessDigest), accessOf(token))
  await stores.codes.burn((await authorize(stores, parties)).digest)
  await stores.scopes.set({ name: 'a', text: 'all' })
  await stores.attempts.take([{ key: token.accessDigest, most: 1 }], at(0), 60)
  t.ok(await stores.heroes.insert({ name: 'Storm' }))
  t.ok(await stores.users.remove(parties.user.username))
  t.strictSame([...(await sql`select name from heroes.hero`)], [{ name: 'Storm' }])

  const inPublic = await open(t, url)
  await inPublic.migrate()
  await sql.unsafe(removal)
  t.strictSame(await rowsOf(sql, SHARED), [])
  await inPublic.requireSchema()
})
