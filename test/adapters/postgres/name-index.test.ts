import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import { type Database, openServer } from '../../../adapters/postgres/database.js'
import type { Stores } from '../../../core/ports.js'
import { ODD_TEXTS } from '../../contract/records.js'
import { heroes } from '../../support/command.js'
import { createDatabase, execute } from '../../support/postgres.js'
import { startProcess } from '../../support/process.js'

const INDEX = 'hero_name_trigrams'
const MANY = 10_001

interface Place {
  readonly url: string
  readonly sql: postgres.Sql
  open(): Promise<Database>
}

const createPlace = async (t: Test): Promise<Place> => {
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  t.teardown(() => sql.end())
  const open = async (): Promise<Database> => {
    const database = await openServer(url, { pool: 2, prepare: true })
    t.teardown(database.close)
    return database
  }
  return { url, sql, open }
}

const hasIndex = async (sql: postgres.Sql): Promise<boolean> =>
  (await sql`select from pg_indexes where indexname = ${INDEX}`).length === 1

t.test('of twenty instances that migrate at once, none fails, and there is one index for parts of names', async t => {
  const { sql, open } = await createPlace(t)
  const instances = await Promise.all(Array.from({ length: 20 }, open))
  t.same(new Set(await Promise.all(instances.map(({ migrate }) => migrate()))), new Set([undefined]))
  t.ok(await hasIndex(sql))
  t.equal((await instances[0]?.inspect())?.nameIndex, undefined)
})

t.test('a part of a name finds what JavaScript finds, through the index where it is rare', async t => {
  const { url, sql, open } = await createPlace(t)
  const names = [
    ...ODD_TEXTS.flatMap(text => [`${text}abc`, `ABC ${text} Ünï`, `${text}${text}${text}`]),
    ...Array.from({ length: 20_000 }, (_, i) => `hero ${i}`)
  ]
  const list = async (stores: Stores, nameContains?: string, limit?: number): Promise<readonly string[]> =>
    (await stores.heroes.list({ nameContains, after: undefined, limit })).map(({ name }) => name)
  /** Resolves once PostgreSQL has counted more reads, which it does by the end of a connection at the latest. */
  const untilRead = async (index: string, before = 0): Promise<void> => {
    while ((await reads(index)) <= before) await sleep(10)
  }
  const reads = async (index: string): Promise<number> =>
    Number((await sql`select idx_scan from pg_stat_user_indexes where indexrelname = ${index}`)[0]?.idx_scan)

  const first = await open()
  await first.migrate()
  await first.stores.heroes.insertAll(names.map(name => ({ name })))
  await sql`vacuum analyze hero`
  t.equal((await list(first.stores, 'hero', 10)).length, 10)
  await first.close()
  await untilRead('hero_pkey')
  t.equal(await reads(INDEX), 0)

  const second = await open()
  t.same(await list(second.stores, 'hero 19999', 10), ['hero 19999'])
  await second.close()
  await untilRead(INDEX)
  const before = await reads(INDEX)

  // Without the order of ids PostgreSQL has this index alone.
  await sql.unsafe(`alter database ${new URL(url).pathname.slice(1)} set enable_indexscan = off`)
  const third = await open()
  const kept = await list(third.stores)
  const parts = [...ODD_TEXTS.map(text => `${text}${text}`), 'abc', 'ÜNÏ', ' ün', 'ero 29', 'ero_', '%ro', 'ö']
  for (const part of parts) {
    t.same(
      await list(third.stores, part),
      kept.filter(name => name.toLowerCase().includes(part.toLowerCase())),
      JSON.stringify(part)
    )
  }
  await third.close()
  await untilRead(INDEX, before)
})

t.test('names that wait for their place in the index get it after they were stored, and after a search', async t => {
  const { sql, open } = await createPlace(t)
  const { migrate, stores } = await open()
  await migrate()
  await sql`create extension pgstattuple`
  const waiting = async (): Promise<number> =>
    Number((await sql`select pending_tuples from pgstatginindex(${INDEX})`)[0]?.pending_tuples)
  const insert = (): Promise<unknown> => sql`insert into hero (name, name_lower) values (random()::text, 'somebody')`
  await insert()
  t.ok((await waiting()) > 0)
  const [hero] = await stores.heroes.list({ nameContains: 'somebody', after: undefined, limit: undefined })
  while ((await waiting()) > 0) await sleep(10)
  const changes = [
    () => stores.heroes.insert({ name: 'Narco' }),
    () => stores.heroes.insertAll([{ name: 'Bombasto' }]),
    () => stores.heroes.replace(hero?.id ?? 0, { name: 'Celeritas' })
  ]
  for (const change of changes) {
    await insert()
    await change()
    while ((await waiting()) > 0) await sleep(10)
  }
  t.pass('none waits')
})

t.test('an extension that lies in a schema of its own serves as well', async t => {
  const { sql, open } = await createPlace(t)
  await sql.unsafe('create schema "The Extensions"; create extension pg_trgm schema "The Extensions"')
  t.equal(await (await open()).migrate(), undefined)
  t.ok(await hasIndex(sql))
})

t.test('where no index can be made, why is told with what the owner does, and parts of names are found', async t => {
  const { url, sql, open } = await createPlace(t)
  const { migrate, inspect, stores } = await open()
  await migrate()
  const expectLack = async (reason: RegExp): Promise<void> => {
    const lack = await migrate()
    t.match(lack, { reason, remedy: /`create extension if not exists pg_trgm`.*`create index concurrently .*`/ })
    t.type((await inspect()).nameIndex?.reason, 'string')
  }
  const service = startProcess(t, ['serve'], { DATABASE_URL: url, PORT: '0' })
  await service.until(/"listening"/)
  t.notMatch(service.output(), 'pg_trgm', 'where there is one, nothing is said')

  await sql.unsafe(
    `drop index ${INDEX}; insert into hero (name, name_lower) select i, i from generate_series(1, ${MANY}) i`
  )
  await expectLack(/more than 10000 heroes are there/)
  const env = { DATABASE_URL: url }
  t.match(await heroes(['migrate'], env), {
    code: 0,
    stderr: '',
    stdout: /up to date.\nBut .*more than 10000.*create index/
  })
  t.match(await heroes(['migrate', '--json'], env), { code: 0, stderr: '', stdout: '{"upToDate":true}\n' })
  await startProcess(t, ['serve'], { DATABASE_URL: url, PORT: '0' }).until(/"check":"pg_trgm".*more than 10000/)
  t.equal((await stores.heroes.list({ nameContains: '999', after: undefined, limit: undefined })).length, 19)

  // As `create index concurrently` leaves it that was interrupted.
  await sql.unsafe(`create index ${INDEX} on hero using gin (name_lower gin_trgm_ops)`)
  await sql`update pg_index set indisvalid = false where indexrelid = ${INDEX}::regclass`
  await expectLack(/half made/)

  await sql.unsafe(`drop index ${INDEX}; delete from hero where id > 1`)
  await sql.begin(async holding => {
    await holding`lock table hero in row exclusive mode`
    await expectLack(/lock timeout/)
  })
  t.equal(await migrate(), undefined)
  t.ok(await hasIndex(sql))
})

t.test('a server without the extension, and a role that may not make the index, are named', async t => {
  const { url, sql, open } = await createPlace(t)
  const { migrate } = await open()
  await migrate()
  await sql.unsafe(`drop index ${INDEX}`)
  const role = `role_${randomBytes(4).toString('hex')}`
  await sql.unsafe(
    `create role ${role} login password 'secret'; grant select on drizzle.__drizzle_migrations to ${role}`
  )
  t.teardown(() => execute(url, `drop owned by ${role}; drop role ${role}`))
  await sql.unsafe(`grant usage on schema drizzle to ${role}`)
  const address = new URL(url)
  address.username = role
  address.password = 'secret'
  const limited = await openServer(address.href, { pool: 2, prepare: true })
  t.teardown(limited.close)
  t.match(await limited.migrate(), { reason: /permission denied for table hero/ })
  await sql.unsafe(`grant select on hero to ${role}`)
  t.match(await limited.migrate(), { reason: 'must be owner of table hero' })

  // The view stands in front of PostgreSQL's own, so that the server seems to have no extension.
  await sql`create view public.pg_available_extensions as select ''::name as name`
  await sql.unsafe(`alter role ${role} set search_path = public, pg_catalog`)
  const bare = await openServer(address.href, { pool: 2, prepare: true })
  t.teardown(bare.close)
  await sql.unsafe(`grant select on public.pg_available_extensions to ${role}`)
  t.match(await bare.migrate(), { reason: 'the server does not have the extension pg_trgm' })
})
