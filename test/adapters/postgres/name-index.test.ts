import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import type { Driver, Run, Value } from '../../../adapters/postgres/connection/driver.js'
import { PLANNING } from '../../../adapters/postgres/connection/planning.js'
import { connectServer } from '../../../adapters/postgres/connection/server.js'
import { type Database, openServer } from '../../../adapters/postgres/database.js'
import { createHeroStore } from '../../../adapters/postgres/heroes.js'
import { ADVISORY_LOCKS } from '../../../adapters/postgres/long-writes.js'
import { createLookups } from '../../../adapters/postgres/lookups.js'
import { usesIndex } from '../../../adapters/postgres/name-index.js'
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

t.test('an instance that waited while another made the index makes none', async t => {
  const { sql, open } = await createPlace(t)
  const instances = await Promise.all([open(), open()])
  await Promise.all(instances.map(({ migrate }) => migrate()))
  await sql.unsafe(`drop index ${INDEX}`)
  await sql`begin`
  await sql`select pg_advisory_xact_lock(${ADVISORY_LOCKS.nameIndex})`
  const both = Promise.all(instances.map(({ migrate }) => migrate()))
  const waiting = async (): Promise<number> =>
    (
      await sql`select from pg_locks where locktype = 'advisory' and not granted and database =
        (select oid from pg_database where datname = current_database())`
    ).length
  while ((await waiting()) < 2) await sleep(10)
  await sql`commit`
  t.same(await both, [undefined, undefined])
  t.ok(await hasIndex(sql))
})

t.test('a part of a name finds what JavaScript finds, through the index too', async t => {
  const { url, sql, open } = await createPlace(t)
  const names = [
    ...ODD_TEXTS.flatMap(text => [`${text}abc`, `ABC ${text} Ünï`, `${text}${text}${text}`]),
    ...Array.from({ length: 3000 }, (_, i) => `hero ${i}`)
  ]
  const first = await open()
  await first.migrate()
  await first.stores.heroes.insertAll(names.map(name => ({ name })))
  await sql`vacuum analyze hero`
  // Otherwise PostgreSQL reads so few heroes in the order of their ids.
  await sql.unsafe(`alter database ${new URL(url).pathname.slice(1)} set enable_indexscan = off`)
  const { stores } = await open()
  const list = async (part?: string): Promise<readonly string[]> =>
    (await stores.heroes.list({ nameContains: part, after: undefined, limit: undefined })).map(({ name }) => name)
  const kept = await list()
  for (const part of [...ODD_TEXTS.map(text => `${text}${text}`), 'abc', 'ÜNÏ', ' ün', 'ero 29', 'ero_', '%ro', 'ö']) {
    t.same(
      await list(part),
      kept.filter(name => name.toLowerCase().includes(part.toLowerCase())),
      JSON.stringify(part)
    )
  }
})

t.test('a rare part of a name is found through the index, and a frequent or short one in the order of ids', async t => {
  const { url, sql, open } = await createPlace(t)
  const { migrate } = await open()
  await migrate()
  await sql`insert into hero (name, name_lower) select 'hero ' || i, 'hero ' || i from generate_series(1, 20000) i`
  await sql`vacuum analyze hero`
  const driver = connectServer(url, { pool: 2, prepare: true })
  t.teardown(() => driver.close())
  let sent: { readonly text: string; readonly values: readonly Value[] }[] = []
  const noting =
    (run: Run): Run =>
    (text, values) => {
      sent.push({ text, values })
      return run(text, values)
    }
  const noted: Driver = {
    ...driver,
    query: noting(driver.query),
    transaction: (name, work) => driver.transaction(name, run => work(noting(run)))
  }
  const store = createHeroStore(noted, createLookups(noted))
  /** The indexes that the statement reads with which the store lists the heroes. */
  const indexesFor = async (nameContains: string): Promise<readonly string[]> => {
    sent = []
    t.ok((await store.list({ nameContains, after: undefined, limit: 10 })).length > 0)
    const { text = '', values = [] } = sent.at(-1) ?? {}
    await sql`begin`
    for (const [setting, value] of Object.entries(PLANNING)) await sql.unsafe(`set local ${setting} = ${value}`)
    for (const { text } of sent.slice(0, -1)) await sql.unsafe(text)
    await sql.unsafe(`prepare asked as ${text}`)
    const plan = await sql.unsafe(`explain execute asked(${values.map(value => `'${value}'`).join()})`)
    await sql`rollback`
    await sql`deallocate asked`
    return plan.flatMap(row => /(?:Index Scan using|Bitmap Index Scan on) (\w+)/.exec(row['QUERY PLAN'])?.[1] ?? [])
  }
  t.same(await indexesFor('hero 19999'), [INDEX])
  t.same(await indexesFor('hero'), ['hero_pkey'])
  for (const short of ['99', 'o 9']) t.same(await indexesFor(short), ['hero_pkey'])
})

t.test('the index serves parts with three letters or digits in a row, and no others', async t => {
  for (const part of ['abc', 'a-bcd', 'ünï', '日本語', '123']) t.ok(usesIndex(part), part)
  for (const part of ['ab', 'a-b c', '---', '']) t.notOk(usesIndex(part), part)
})

t.test('an extension that lies in a schema of its own serves as well', async t => {
  const { sql, open } = await createPlace(t)
  await sql.unsafe('create schema "The Extensions"; create extension pg_trgm schema "The Extensions"')
  t.equal(await (await open()).migrate(), undefined)
  t.ok(await hasIndex(sql))
})

t.test('why there is no index is told with what to do, and parts of names are found all the same', async t => {
  const { url, sql, open } = await createPlace(t)
  const { migrate, requireSchema, inspect, isSlowSearch, stores } = await open()
  const slow = () => ['long enough', 'ab', ''].map(text => isSlowSearch?.(text))
  const env = { DATABASE_URL: url }
  await migrate()
  const expectLack = async (reason: RegExp, remedy: RegExp): Promise<void> => {
    for (const lack of [await migrate(), await requireSchema(), (await inspect()).nameIndex])
      t.match(lack, { reason, remedy })
  }

  await sql.unsafe(
    `drop index ${INDEX}; insert into hero (name, name_lower) select i, i from generate_series(1, ${MANY}) i`
  )
  t.strictSame(slow(), [false, true, false])
  await expectLack(/more than 10000 heroes are there/, /^run `create index concurrently .*\bpublic\.gin_trgm_ops/)
  t.strictSame(slow(), [true, true, false], 'without the index every search reads every name')
  t.match(await heroes(['migrate'], env), {
    code: 0,
    stderr: '',
    stdout: /up to date.\nBut .*more than 10000.*create index/
  })
  t.match(await heroes(['migrate', '--json'], env), { code: 0, stderr: '', stdout: '{"upToDate":true}\n' })
  const service = startProcess(t, ['serve'], { ...env, PORT: '0', MIGRATE: 'false' })
  await service.until(/"check":"pg_trgm".*more than 10000/)
  t.equal((await stores.heroes.list({ nameContains: '999', after: undefined, limit: undefined })).length, 19)
  const remedy = /`(create index [^`]+)`/.exec((await inspect()).nameIndex?.remedy ?? '')?.[1] ?? ''
  await sql.unsafe(remedy)
  t.equal(await migrate(), undefined, 'the statement makes it')
  t.strictSame(slow(), [false, true, false])

  // As `create index concurrently` leaves it that was interrupted.
  await sql`update pg_index set indisvalid = false where indexrelid = ${INDEX}::regclass`
  await expectLack(/half made/, /`drop index concurrently hero_name_trigrams`/)

  await sql.unsafe(`drop index ${INDEX}; delete from hero where id > 1`)
  t.match(await requireSchema(), { reason: /there is no index/, remedy: 'run `npx heroes migrate`' })
  await sql.begin(async holding => {
    await holding`lock table hero in row exclusive mode`
    t.match(await migrate(), { reason: /lock timeout/ })
    await holding`lock table hero`
    t.match(await requireSchema(), { reason: /lock timeout/ })
    t.match((await inspect()).nameIndex, { reason: /lock timeout/ })
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
  await sql.unsafe(`create role ${role} login password 'secret'; grant select on heroes_migration to ${role}`)
  t.teardown(() => execute(url, `drop owned by ${role}; drop role ${role}`))
  const address = new URL(url)
  address.username = role
  address.password = 'secret'
  const limited = await openServer(address.href, { pool: 2, prepare: true })
  t.teardown(limited.close)
  t.match(await limited.migrate(), { reason: /permission denied for table hero/ })
  t.match(await limited.inspect(), { nameIndex: { reason: /permission denied for table hero/ } })
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
