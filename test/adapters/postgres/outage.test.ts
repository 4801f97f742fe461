import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import { openServer } from '../../../adapters/postgres/database.js'
import { isServed, secondsUntil, settle, UNAVAILABLE } from '../../support/calls.js'
import { migratedDatabase } from '../../support/databases.js'
import { createDatabase } from '../../support/postgres.js'

const SETTINGS = { pool: 2, prepare: true }

const openMigrated = async (t: Test) => {
  const url = await migratedDatabase(t)
  const database = await openServer(url, SETTINGS)
  t.teardown(() => database.close())
  return { url, database }
}

t.test('a lost connection is replaced by the next call', async t => {
  const { url, database } = await openMigrated(t)
  t.ok(await isServed(database))
  const sql = postgres(url, { max: 1 })
  const ours = sql`application_name = 'heroes' and datname = current_database()`
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where ${ours}`
  while ((await sql`select from pg_stat_activity where ${ours}`).length > 0) await sleep(5)
  await sql.end()
  // The end of a socket takes a moment to arrive.
  await sleep(50)
  t.ok(await isServed(database))
})

t.test('a server that does not exist is unavailable, whatever its address', async t => {
  const { PGHOST } = process.env
  t.teardown(() => {
    if (PGHOST === undefined) delete process.env.PGHOST
    else process.env.PGHOST = PGHOST
  })
  // If a URL has no host, PGHOST names the folder of a socket.
  process.env.PGHOST = '/nowhere'
  for (const url of ['postgres://127.0.0.1:1/x', 'postgres://nowhere.invalid/x', 'postgres:///x']) {
    const database = await openServer(url, SETTINGS)
    await t.rejects(database.migrate(), UNAVAILABLE, url)
    t.ok((await settle(database)).every(outcome => outcome === 'unavailable'))
    await database.close()
    t.ok(
      (await settle(database)).every(outcome => outcome === 'unavailable'),
      'a closed one as well'
    )
  }
})

t.test('the first of several hosts that answers is used, in whatever order they are given', async t => {
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  const there = new URL(url)
  const nowhere = '127.0.0.1:1'
  for (const hosts of [`${nowhere},${there.host}`, `${there.host},${nowhere}`]) {
    const database = await openServer(url.replace(there.host, hosts), SETTINGS)
    t.ok(await database.inspect(), hosts)
    await database.close()
  }
  const away = await openServer(url.replace(there.host, `${nowhere},127.0.0.1:2`), SETTINGS)
  await t.rejects(away.inspect(), { ...UNAVAILABLE, cause: { code: 'ECONNREFUSED' } })
  await away.close()
  const hosts = [
    { host: '/nowhere', port: 5432 },
    { host: there.hostname, port: Number(there.port) }
  ]
  const database = await openServer(url, { ...SETTINGS, hosts })
  t.ok(await database.inspect(), 'as the caller has read them')
  await database.close()
})

t.test('a database that takes no connections is unavailable until it takes them again', async t => {
  const { url, database } = await openMigrated(t)
  const name = new URL(url).pathname.slice(1)
  const server = new URL(url)
  server.pathname = '/postgres'
  const sql = postgres(server.href, { max: 1 })
  t.teardown(() => sql.end())
  await sql.unsafe(`alter database ${name} allow_connections false`)
  await sql`select pg_terminate_backend(pid, 1000) from pg_stat_activity where datname = ${name}`
  while (await isServed(database)) await sleep(5)
  t.ok((await settle(database)).every(outcome => outcome === 'unavailable'))
  await t.rejects(database.check(), UNAVAILABLE)
  await sql.unsafe(`alter database ${name} allow_connections true`)
  t.ok((await secondsUntil(() => isServed(database))) < 2)
})
