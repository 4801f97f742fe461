import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import { type Database, openServer } from '../../../adapters/postgres/database.js'
import type { DomainError } from '../../../core/errors.js'
import { at, someDigest } from '../../contract/records.js'
import { createDatabase, startServer } from '../../support/postgres.js'
import { startStopwatch } from '../../support/stopwatch.js'

const SILENT = `
const server = require('node:net').createServer()
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  require('node:fs').writeSync(1, String(server.address().port))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
})`

const SETTINGS = { pool: 2, prepare: true }
const UNAVAILABLE = { name: 'DomainError', code: 'unavailable', retryAfterSeconds: 1 }

/**
 * Calls for every way in which a statement is sent: on the connection for look-ups, over the pool, and in a
 * transaction.
 */
const calls = ({ stores }: Database): Promise<unknown>[] => [
  stores.heroes.find(1),
  stores.heroes.insert({ name: randomUUID() }),
  stores.users.list({}),
  stores.attempts.take([{ key: someDigest(), most: 10 }], at(0), 60)
]

const settle = async (database: Database): Promise<unknown[]> => {
  const results = await Promise.allSettled(calls(database))
  return results.map(result => (result.status === 'fulfilled' ? 'served' : result.reason.code))
}

const isServed = async (database: Database): Promise<boolean> =>
  (await settle(database)).every(outcome => outcome === 'served')

const secondsUntil = async (condition: () => Promise<boolean>): Promise<number> => {
  const counted = startStopwatch()
  while (!(await condition())) await sleep(20)
  return counted()
}

const openMigrated = async (t: Test) => {
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  const database = await openServer(url, SETTINGS)
  t.teardown(() => database.close())
  await database.migrate()
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

t.test('a host that takes no connection is given up after two seconds', async t => {
  // This server never accepts: once its backlog is full, the system leaves connections unanswered.
  const silent = spawn(process.execPath, ['-e', SILENT], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => silent.kill('SIGKILL'))
  const [port] = await once(silent.stdout.setEncoding('utf8'), 'data')
  const filling = Array.from({ length: 8 }, () => connect(Number(port), '127.0.0.1').on('error', () => {}))
  t.teardown(() => {
    for (const socket of filling) socket.destroy()
  })
  await Promise.any(filling.map(socket => once(socket, 'connect')))
  const database = await openServer(`postgres://127.0.0.1:${port}/x`, SETTINGS)
  await t.rejects(database.inspect(), { ...UNAVAILABLE, cause: { code: 'CONNECT_TIMEOUT' } })
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

t.test('calls are unavailable during an outage and served after it', async t => {
  const server = await startServer()
  t.teardown(() => server.remove())
  const { url, drop } = await createDatabase(server.url)
  const database = await openServer(url, { pool: 2, prepare: true })
  await database.migrate()
  const unavailable = (outcomes: unknown[]) => outcomes.every(outcome => outcome === 'unavailable')
  const served = () => isServed(database)

  await t.test('a server that is shut down', async t => {
    await server.stop()
    const counted = startStopwatch()
    t.ok(unavailable(await settle(database)))
    t.ok(counted() < 1, 'says so at once')
    await server.start()
    t.ok((await secondsUntil(served)) < 2)
  })

  await t.test('a server that is killed under load', async t => {
    const load = Array.from({ length: 20 }, () => settle(database))
    await database.inspect()
    await server.kill()
    t.ok((await Promise.all(load)).flat().every(outcome => outcome === 'served' || outcome === 'unavailable'))
    await server.start()
    t.ok((await secondsUntil(served)) < 2)
  })

  await t.test('a server that is frozen', async t => {
    t.ok(await served())
    server.pause()
    const asked = database.stores.users.revoke('ada', at(0)).catch((error: DomainError) => error.code)
    for (const round of ['first', 'second']) {
      const counted = startStopwatch()
      t.ok(unavailable((await Promise.all([settle(database), settle(database)])).flat()))
      t.ok(counted() < 4.5, `the ${round} calls are answered in time`)
    }
    t.equal(await asked, 'unavailable', 'the work of an operator as well')
    server.resume()
    t.ok((await secondsUntil(served)) < 2)
  })

  await drop()
  server.pause()
  const counted = startStopwatch()
  await database.close()
  t.ok(counted() < 2, 'a frozen server does not keep the database from being closed')
})
