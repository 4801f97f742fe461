import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createAuthority } from '../support/certificates.js'
import { heroes } from '../support/command.js'
import { holdFile, withHeldFiles } from '../support/held-file.js'
import { createDatabase, execute, startServer } from '../support/postgres.js'
import { ask, serveProcess, temporaryFolder } from '../support/process.js'
import { linesOf, workersOf } from '../support/workers.js'

const { url: DATABASE_URL, drop } = await createDatabase()
t.teardown(drop)
const env = { DATABASE_URL, WORKERS: '2', DATABASE_POOL: '2', PUBLIC_URL: 'https://heroes.example', PORT: '0' }

t.test('of several workers one alone sweeps', async t => {
  const database = await createDatabase()
  t.teardown(database.drop)
  t.match(await heroes('migrate', { DATABASE_URL: database.url }), { code: 0 })
  // Whoever sweeps says that this fails.
  await execute(
    database.url,
    `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no sweep'; end $$`
  )
  await execute(
    database.url,
    'create trigger no_sweep before delete on attempt for each statement execute function refuse()'
  )
  const service = await serveProcess(t, { ...env, DATABASE_URL: database.url })
  await workersOf(service, 2)
  await service.until(/"msg":"a background job failed"/)
  // By its end every worker has finished the sweep that it had begun.
  t.equal(await service.stop(), 0)
  const sweepers = linesOf(service, 'a background job failed').map(({ worker }) => worker)
  t.strictSame(sweepers, [1])
})

t.test('a worker that is still starting when the service is asked to end ends as well', withHeldFiles, async t => {
  // Every process reads this file at its start.
  const authorities = join(temporaryFolder(t), 'authorities.pem')
  const { certificate } = createAuthority('Heroes')
  writeFileSync(authorities, certificate)
  const database = new URL(DATABASE_URL)
  database.searchParams.set('sslmode', 'disable')
  database.searchParams.set('sslrootcert', authorities)
  const service = await serveProcess(t, { ...env, DATABASE_URL: database.href })
  const workers = await workersOf(service, 2)
  const held = holdFile(authorities)
  process.kill(Number(workers.get(2)), 'SIGKILL')
  const release = await held.read()
  service.child.kill('SIGTERM')
  await service.until(/"worker":1,"msg":"shutting down"/)
  release(certificate)
  t.equal(await service.ended, 0)
})

t.test('a worker whose settings cannot be read ends, and is tried again until they can', async t => {
  const file = join(temporaryFolder(t), 'url')
  writeFileSync(file, DATABASE_URL)
  const { DATABASE_URL: _, ...others } = env
  const service = await serveProcess(t, { ...others, DATABASE_URL_FILE: file })
  const workers = await workersOf(service, 2)
  renameSync(file, `${file}.away`)
  process.kill(Number(workers.get(2)), 'SIGKILL')
  await service.until(/"worker":2,"code":2,/)
  renameSync(`${file}.away`, file)
  const after = await workersOf(service, 3)
  t.equal(after.get(1), workers.get(1))
  t.equal(await service.stop(), 0)
})

t.test('workers that take the place of others while the database is away answer 503 until it is back', async t => {
  const server = await startServer()
  t.teardown(() => server.remove())
  const service = await serveProcess(t, { ...env, DATABASE_URL: server.url })
  const workers = await workersOf(service, 2)
  await server.stop()
  for (const worker of workers.values()) process.kill(worker, 'SIGKILL')
  await workersOf(service, 4)
  t.match(await ask(`${service.url}/health/live`), { status: 200 })
  const isReady = async (): Promise<boolean> => (await ask(`${service.url}/health/ready`)).status === 200
  t.notOk(await isReady())
  await server.start()
  while (!(await isReady())) await sleep(20)
  t.equal(await service.stop(), 0)
})

/** With each SIGUSR2 the first process starts other programs as workers: two that cannot be started, and then Node again. */
const STARTS_OTHERS = `
  const programs = ['/nowhere/node', 'a\\0', process.execPath]
  process.on('SIGUSR2', () => { process.execPath = programs.shift() })
`

t.test('a worker that cannot be started is tried again, and the other serves meanwhile', async t => {
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(STARTS_OTHERS).replaceAll("'", '%27')}`
  const service = await serveProcess(t, { ...env, NODE_OPTIONS, METRICS_PORT: '0' })
  const workers = await workersOf(service, 2)
  const [, metricsPort] = await service.until(/"port":(\d+),"msg":"metrics listening"/)
  service.child.kill('SIGUSR2')
  process.kill(Number(workers.get(1)), 'SIGKILL')
  const refused = (why: string) =>
    service.until(
      new RegExp(`"worker":1,"code":null,"reason":"a worker cannot be started: [^\n]*${why}[^\n]*"seconds":`)
    )
  await refused('ENOENT')
  service.child.kill('SIGUSR2')
  await refused('null bytes')
  t.match(await ask(`${service.url}/health/live`), { status: 200 })
  t.match(await ask(`http://127.0.0.1:${metricsPort}/metrics`), {
    status: 200,
    body: /^http_request_duration_seconds_count\{/m
  })
  service.child.kill('SIGUSR2')
  const after = await workersOf(service, 3)
  t.equal(after.get(2), workers.get(2))
  t.equal(await service.stop(), 0)
})
