import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { heroes } from '../support/command.js'
import { startFakeServer } from '../support/fake-server.js'
import { createDatabase, setDatabase, startServer } from '../support/postgres.js'
import { ask, serveProcess } from '../support/process.js'

t.jobs = 3

t.test('/health/ready is 503 while the database takes no writes, and 200 once it does', async t => {
  const { url: DATABASE_URL, drop } = await createDatabase()
  t.teardown(drop)
  const { url, stop } = await serveProcess(t, { DATABASE_URL, DATABASE_POOL: '1' })
  const becomes = async (status: number): Promise<void> => {
    while ((await ask(`${url}/health/ready`)).status !== status) await sleep(20)
  }
  await becomes(200)
  await setDatabase(DATABASE_URL, 'set default_transaction_read_only = on')
  await becomes(503)
  t.match(await ask(`${url}/health/ready`), { status: 503, headers: { 'retry-after': '1' } })
  t.match(await ask(`${url}/health/live`), { status: 200 })
  t.match(await ask(`${url}/callback`), { status: 404 }, 'the callback page is for trials')
  await setDatabase(DATABASE_URL, 'reset default_transaction_read_only')
  await becomes(200)
  t.equal(await stop(), 0)
})

/** A database that takes no writes until the test says so. */
const createReadOnly = async (t: Test) => {
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  await setDatabase(url, 'set default_transaction_read_only = on')
  return { url, takeWrites: () => setDatabase(url, 'reset default_transaction_read_only') }
}

t.test('started on a standby, the service answers 503 until the database takes writes, and migrates then', async t => {
  const { url: DATABASE_URL, takeWrites } = await createReadOnly(t)
  const service = await serveProcess(t, { DATABASE_URL, DRAIN_DELAY: '1' })
  await service.until(/"level":40,[^\n]*"msg":"the database takes no writes;/)
  const { url } = service
  t.match(await ask(`${url}/health/live`), { status: 200 })
  for (const path of ['/health/ready', `/auth/code?client_id=local&response_type=code&state=x`]) {
    t.match(await ask(url + path), { status: 503, headers: { 'retry-after': '1' } }, path)
  }

  await takeWrites()
  await service.until(/"level":30,[^\n]*"msg":"the database takes writes"/)
  while ((await ask(`${url}/health/ready`)).status !== 200) await sleep(20)
  t.match(await ask(`${url}/auth/code?client_id=local&response_type=code&state=x`), { status: 400 })
  t.equal(await service.stop(), 0)
  t.match(service.output(), /"seconds":1,"msg":"not ready, [\s\S]*"msg":"shutting down"/)
})

t.test('started on a standby that turns out to lack its schema, the service ends with exit code 1', async t => {
  const { url, takeWrites } = await createReadOnly(t)
  const DATABASE_URL = `${url}?target_session_attrs=read-write`
  const service = await serveProcess(t, { DATABASE_URL, MIGRATE: 'false' })
  t.match(await ask(`${service.url}/health/ready`), { status: 503 })
  await takeWrites()
  t.equal(await service.ended, 1)
  t.match(service.output(), /^heroes: DATABASE_URL cannot be used: the database lacks its schema; [^\n]*\n/m)
})

t.test('started while nothing listens there, the service waits, and says how long the next outage was', async t => {
  const server = await startServer()
  t.teardown(() => server.remove())
  await server.stop()
  const env = { DATABASE_URL: server.url, METRICS_PORT: '0' }
  const [single, shared] = await Promise.all([serveProcess(t, env), serveProcess(t, { ...env, WORKERS: '2' })])
  for (const { url, until } of [single, shared]) {
    t.match(await ask(`${url}/health/live`), { status: 200 })
    t.match(await ask(`${url}/health/ready`), { status: 503, headers: { 'retry-after': '1' } })
    const [, port] = await until(/"port":(\d+),"msg":"metrics listening"/)
    t.match((await ask(`http://127.0.0.1:${port}/metrics`)).body, /^heroes_database_up 0$/m)
    await until(/"level":40,[^\n]*"seconds":0,"err":\{[^\n]*ECONNREFUSED[^\n]*"msg":"the database cannot be used yet;/)
  }
  await server.start()
  for (const { url, until, output } of [single, shared]) {
    await until(/"level":30,[^\n]*"seconds":\d+,"msg":"the database takes writes"/)
    while ((await ask(`${url}/health/ready`)).status !== 200) await sleep(20)
    t.equal(output().split('cannot be used yet').length, 2, 'one line, of workers too')
  }

  await server.stop()
  t.match(await ask(`${single.url}/auth/code?client_id=app`), { status: 503 })
  await server.start()
  await single.until(/"level":30,[^\n]*"seconds":\d+,"msg":"the database can be used again"/)
  for (const { stop, output } of [single, shared]) t.equal(await stop(), 0, output())
})

t.test('what a server refuses the service for ends a start that has waited, workers and all', async t => {
  const server = await startFakeServer(t)
  server.refusal = '57P03'
  const DATABASE_URL = `${server.url}?sslmode=disable`
  const [single, shared] = await Promise.all([
    serveProcess(t, { DATABASE_URL, DRAIN_DELAY: '3600' }),
    serveProcess(t, { DATABASE_URL, WORKERS: '2', DRAIN_DELAY: '3600' })
  ])
  for (const { url } of [single, shared]) t.match(await ask(`${url}/health/ready`), { status: 503 })
  server.refusal = '28P01'
  for (const { ended, output } of [single, shared]) {
    t.equal(await ended, 1)
    t.match(output(), /^heroes: DATABASE_URL cannot be used: the database cannot be reached: [^\n]+\n$/m)
  }
})

t.test('a migrated database that takes no writes at the start is waited for, and reads wait too', async t => {
  const { url: DATABASE_URL, drop } = await createDatabase()
  t.teardown(drop)
  t.match(await heroes('migrate', { DATABASE_URL }), { code: 0 })
  await setDatabase(DATABASE_URL, 'set default_transaction_read_only = on')
  t.match(await heroes('user list', { DATABASE_URL }), { code: 1, stderr: /the database takes no writes\n$/ })
  const service = await serveProcess(t, { DATABASE_URL, PROTECT_HEROES: 'false', DRAIN_DELAY: '1' })
  await service.until(/"level":40,[^\n]*"msg":"the database takes no writes;/)
  for (const path of ['/health/ready', '/heroes']) t.match(await ask(service.url + path), { status: 503 }, path)
  await setDatabase(DATABASE_URL, 'reset default_transaction_read_only')
  await service.until(/"level":30,[^\n]*"msg":"the database takes writes"/)
  t.match(await ask(`${service.url}/heroes`), { status: 200, body: '[]' })
  t.equal(await service.stop(), 0)
})
