import { createServer } from 'node:net'
import t from 'tap'
import { serve } from '../../../app/serve/serve.js'
import { createStop } from '../../../app/serve/stop.js'
import { superviseWorkers } from '../../../app/serve/workers.js'
import { readSettings } from '../../../app/settings/settings.js'
import { heroes } from '../../support/command.js'
import { migratedDatabase } from '../../support/databases.js'
import { listenUntilEnd } from '../../support/ports.js'
import { ask, serveProcess, startProcess } from '../../support/process.js'
import { dialOpen } from '../../support/wire.js'
import { linesOf, workersOf } from '../../support/workers.js'

const DATABASE_URL = await migratedDatabase(t)
const env = { DATABASE_URL, WORKERS: '2', DATABASE_POOL: '2', PUBLIC_URL: 'https://heroes.example', PORT: '0' }

t.test('workers share the port, one that ends is replaced, and all have one log and one set of metrics', async t => {
  const service = await serveProcess(t, { ...env, METRICS_PORT: '0' })
  const before = await workersOf(service, 2)
  t.strictSame([...before.keys()].sort(), [1, 2])
  t.notOk([...before.values()].includes(Number(service.child.pid)))
  const answered = async (requests: number): Promise<number> => {
    const answers = await Promise.all(Array.from({ length: requests }, () => ask(`${service.url}/heroes/1`)))
    return answers.filter(({ status }) => status === 401).length
  }
  t.equal(await answered(50), 50)
  const [, metricsPort] = await service.until(/"port":(\d+),"msg":"metrics listening"/)
  const counted = async (): Promise<number> => {
    const { body } = await ask(`http://127.0.0.1:${metricsPort}/metrics`)
    return Number(/^http_request_duration_seconds_count\{.*route="\/heroes\/:id".*\} (\d+)$/m.exec(body)?.[1])
  }
  t.equal(await counted(), 50)

  t.equal(await answered(10), 10)
  process.kill(Number(before.get(2)), 'SIGTERM')
  const after = await workersOf(service, 3)
  await service.until(/"level":40,[^\n]*"worker":2,"code":0,"seconds":0,"msg":"a worker has ended, [^\n]*\n/)
  t.equal(after.get(1), before.get(1))
  t.not(after.get(2), before.get(2))
  t.equal(await answered(10), 10)
  t.equal(await counted(), 70, 'also what one that has ended told last')

  const silent = await dialOpen(`http://127.0.0.1:${metricsPort}`)
  t.equal(await service.stop(), 0, 'also while a connection to METRICS_PORT has sent nothing')
  await silent.closed
  const lines = linesOf(service)
  t.equal(lines.filter(({ check }) => check === 'PASSWORD_MIN_LENGTH').length, 1, 'the start warns once')
  const requests = lines.filter(({ path }) => path === '/heroes/1')
  t.equal(requests.length, 70)
  t.ok(requests.every(({ pid, worker }) => [before, after].some(pids => pids.get(Number(worker)) === pid)))
  t.equal(lines.filter(({ msg }) => msg === 'shutting down').length, 3, 'every worker drains')
})

t.test('what no worker can use ends the start with exit code 1 and one line that names it', async t => {
  const port = String(await listenUntilEnd(t, createServer()))
  const service = startProcess(t, ['serve'], { ...env, PORT: port, LOG_LEVEL: 'silent' })
  for (const [settings, stderr] of [
    [{ METRICS_PORT: port }, /^heroes: METRICS_PORT cannot be used: [^\n]*EADDRINUSE[^\n]*\n$/],
    [{ HOST: '192.0.2.1' }, /^heroes: HOST cannot be used: [^\n]*EADDRNOTAVAIL[^\n]*\n$/],
    [
      { WORKERS: '2', DATABASE_POOL: '1000' },
      /^heroes: WORKERS cannot be used: 2 workers with DATABASE_POOL=1000 may open 2000 connections, and the server allows \d+; [^\n]+\n$/
    ]
  ] as const) {
    t.match(await heroes('serve', { ...env, LOG_LEVEL: 'silent', ...settings }), { code: 1, stdout: '', stderr })
  }
  t.equal(await service.ended, 1)
  t.match(service.output(), /^heroes: PORT cannot be used: [^\n]*EADDRINUSE[^\n]*\n$/)
})

t.test('a service that can start no worker says why it does not start', async t => {
  const settings = readSettings({ ...env, LOG_LEVEL: 'silent' })
  const program = process.execPath
  t.teardown(() => {
    process.execPath = program
  })
  for (const [wrong, why] of [
    ['/nowhere/node', /^a worker cannot be started: .*ENOENT$/],
    ['a\0', /^a worker cannot be started: .*null bytes/]
  ] as const) {
    process.execPath = wrong
    if (settings.database.kind !== 'server') throw new Error()
    await t.rejects(superviseWorkers(settings, settings.database, createStop()), { message: why })
  }
})

t.test('asked to end before the database is prepared, the service ends with exit code 0', async t => {
  const settings = readSettings(env)
  const stop = createStop()
  stop.ask()
  if (settings.database.kind === 'server') t.equal(await superviseWorkers(settings, settings.database, stop), 0)
  t.equal(await serve(settings, process.stdout, stop), 0, 'also before it knows whether there are workers')
})
