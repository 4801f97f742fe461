import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { compose } from '../../../app/compose.js'
import { buildMetricsServer } from '../../../app/http/server.js'
import { createLog } from '../../../app/serve/log.js'
import { createMetrics } from '../../../app/serve/metrics.js'
import { readSettings } from '../../../app/settings/settings.js'
import { migratedDatabase } from '../../support/databases.js'
import { listenUntilEnd } from '../../support/ports.js'
import { ask, serveProcess, startProcess } from '../../support/process.js'
import { recordLog, silentLog } from '../../support/recorded-log.js'
import { serveWhoBreaksOff, serveWhoLeaves } from '../../support/sample-routes.js'
import { basic, createInhabited } from '../../support/service.js'
import { signal } from '../../support/waiting.js'
import { ADA, addClient } from '../../support/world.js'

/** The lines that begin with a name. */
const linesOf = (text: string, name: string): readonly string[] =>
  text.split('\n').filter(line => line.startsWith(name))

/** A service with one login in its window and no grace, whose figures can be read. */
const createMeasured = async () => {
  const metrics = createMetrics()
  const told: string[] = []
  const service = await createInhabited({
    events: metrics.counting({ emit: ({ event }) => told.push(event) }),
    log: metrics.measuring(silentLog()),
    policy: { loginAttempts: 1, refreshGraceSeconds: 0 }
  })
  const read = async (name: string) => linesOf((await metrics.read()).text, name)
  return { ...service, metrics, told, read }
}

t.test('requests are counted by method, route and status, and no label holds what a caller chose', async t => {
  const { ask, opened, read } = await createMeasured()
  const headers = await opened()
  for (const id of ['1', '2', '3']) await ask(`/heroes/${id}?secret=${id}`, { headers })
  await ask('/heroes/1')
  await ask('/heroes/1', { method: 'HEAD' })
  await ask('/heroes/1', { method: 'TRACE' })
  for (const path of ['/some', '/other']) await ask(path)
  t.strictSame(
    (await read('http_request_duration_seconds_count')).filter(line => !line.includes('/auth/')),
    [
      'http_request_duration_seconds_count{method="GET",route="/heroes/:id",status="404"} 3',
      'http_request_duration_seconds_count{method="GET",route="/heroes/:id",status="401"} 1',
      'http_request_duration_seconds_count{method="HEAD",route="/heroes/:id",status="401"} 1',
      'http_request_duration_seconds_count{method="other",route="none",status="405"} 1',
      'http_request_duration_seconds_count{method="GET",route="none",status="404"} 2'
    ]
  )
})

t.test('requests whose client has left count as 499, those that wait behind another one as well', async t => {
  const metrics = createMetrics()
  const gone = signal(2)
  // The line of the log is written after the duration is counted.
  const { log } = recordLog('info', gone.give)
  await serveWhoLeaves(t, metrics.measuring(log), gone.given)
  t.match(
    (await metrics.read()).text,
    'http_request_duration_seconds_count{method="GET",route="/slow/:name",status="499"} 2'
  )
})

t.test('a request whose client has left while it sent the body counts as 499', async t => {
  const metrics = createMetrics()
  const gone = signal()
  const { log } = recordLog('info', gone.give)
  await serveWhoBreaksOff(t, metrics.measuring(log), gone.given)
  t.match(
    (await metrics.read()).text,
    'http_request_duration_seconds_count{method="POST",route="/sample",status="499"} 1'
  )
})

t.test('logins, tokens and ended grants are counted, and their events are emitted on', async t => {
  const { form, login, code, told, read, useCases } = await createMeasured()
  t.strictSame(await read('heroes_logins_total'), [
    'heroes_logins_total{outcome="succeeded"} 0',
    'heroes_logins_total{outcome="failed"} 0',
    'heroes_logins_total{outcome="throttled"} 0'
  ])
  t.strictSame(await read('heroes_tokens_issued_total'), [
    'heroes_tokens_issued_total{grant_type="authorization_code"} 0',
    'heroes_tokens_issued_total{grant_type="client_credentials"} 0',
    'heroes_tokens_issued_total{grant_type="password"} 0',
    'heroes_tokens_issued_total{grant_type="refresh_token"} 0'
  ])
  const app = basic('app')
  const first = await login()
  const refresh = { grant_type: 'refresh_token', refresh_token: first.refresh_token }
  const { refresh_token: token } = (await form('/auth/token', refresh, app)).json()
  await form('/auth/revoke', { token }, app)
  const redemption = { grant_type: 'authorization_code', code: await code() }
  for (const status of [200, 400]) t.equal((await form('/auth/token', redemption, app)).statusCode, status)
  await addClient({ useCases }, 'robot', { grantTypes: ['client_credentials'] })
  t.equal((await form('/auth/token', { grant_type: 'client_credentials' }, basic('robot'))).statusCode, 200)
  const wrong = { grant_type: 'password', ...ADA, password: 'wrong' }
  for (const status of [400, 429]) t.equal((await form('/auth/token', wrong, app)).statusCode, status)

  t.strictSame(await read('heroes_logins_total'), [
    'heroes_logins_total{outcome="succeeded"} 2',
    'heroes_logins_total{outcome="failed"} 1',
    'heroes_logins_total{outcome="throttled"} 1'
  ])
  t.strictSame(await read('heroes_tokens_issued_total'), [
    'heroes_tokens_issued_total{grant_type="authorization_code"} 1',
    'heroes_tokens_issued_total{grant_type="client_credentials"} 1',
    'heroes_tokens_issued_total{grant_type="password"} 1',
    'heroes_tokens_issued_total{grant_type="refresh_token"} 1'
  ])
  t.strictSame(await read('heroes_grants_ended_total'), [
    'heroes_grants_ended_total{reason="stolen"} 1',
    'heroes_grants_ended_total{reason="revoked"} 1'
  ])
  t.ok(told.includes('user.added'))
  t.ok(told.includes('login.throttled'))
})

t.test('what never became a request is counted by the status of its refusal', async t => {
  const { metrics, read } = await createMeasured()
  for (const status of [400, 431, 400]) metrics.onUnparsed({ status, address: '192.0.2.1' })
  t.strictSame(await read('heroes_requests_unparsed_total'), [
    'heroes_requests_unparsed_total{status="400"} 2',
    'heroes_requests_unparsed_total{status="408"} 0',
    'heroes_requests_unparsed_total{status="431"} 1'
  ])
})

const QUIET = {
  hashesWaiting: () => 0,
  linesDropped: () => 0,
  database: { connections: () => undefined, clock: undefined, check: async () => {} }
}

t.test('where there is no other clock its offset is 0', async t => {
  const { metrics, read } = await createMeasured()
  metrics.watch({ ...QUIET, database: { ...QUIET.database, clock: undefined } })
  t.strictSame(await read('heroes_clock_offset_seconds'), ['heroes_clock_offset_seconds 0'])
})

t.test('the figures of the adapters are read when somebody asks for them', async t => {
  const { metrics, read } = await createMeasured()
  let waiting = 0
  let connections: { busy: number; idle: number; lookups: number } | undefined
  let offset = 0
  const clock = { now: () => new Date(), offsetSeconds: () => offset }
  metrics.watch({
    ...QUIET,
    hashesWaiting: () => waiting,
    database: { ...QUIET.database, connections: () => connections, clock }
  })
  const { database } = await compose(readSettings({ DATABASE_URL: 'memory:' }))
  t.equal(database.connections(), undefined, 'nor has memory')
  t.strictSame(await read('heroes_hash_queue_length'), ['heroes_hash_queue_length 0'])
  t.strictSame(await read('heroes_database_connections'), [], 'the embedded engine has none')
  t.strictSame(await read('heroes_clock_offset_seconds'), ['heroes_clock_offset_seconds 0'])
  waiting = 3
  offset = -7.5
  connections = { busy: 2, idle: 7, lookups: 1 }
  t.strictSame(await read('heroes_hash_queue_length'), ['heroes_hash_queue_length 3'])
  t.strictSame(await read('heroes_database_connections'), [
    'heroes_database_connections{state="busy"} 2',
    'heroes_database_connections{state="idle"} 7',
    'heroes_database_connections{state="lookups"} 1'
  ])
  t.strictSame(await read('heroes_clock_offset_seconds'), ['heroes_clock_offset_seconds -7.5'])
  metrics.onHash?.(0.02)
  metrics.onLookups?.(5)
  t.strictSame(await read('heroes_hash_wait_seconds_sum'), ['heroes_hash_wait_seconds_sum 0.02'])
  t.strictSame(await read('heroes_lookup_batch_size_bucket{le="4"}'), ['heroes_lookup_batch_size_bucket{le="4"} 0'])
  t.strictSame(await read('heroes_lookup_batch_size_bucket{le="8"}'), ['heroes_lookup_batch_size_bucket{le="8"} 1'])
})

t.test('figures say whether the database can be used, how long it takes, and what the log has lost', async t => {
  const { metrics, read } = await createMeasured()
  let check = async (): Promise<void> => {}
  let dropped = 0
  metrics.watch({ ...QUIET, linesDropped: () => dropped, database: { ...QUIET.database, check: () => check() } })
  t.strictSame(await read('heroes_database_up'), ['heroes_database_up 1'])
  t.strictSame(await read('heroes_log_lines_dropped_total'), ['heroes_log_lines_dropped_total 0'])
  check = () => Promise.reject(new Error('away'))
  dropped = 12
  t.strictSame(await read('heroes_database_up'), ['heroes_database_up 0'])
  t.strictSame(await read('heroes_log_lines_dropped_total'), ['heroes_log_lines_dropped_total 12'])
  t.strictSame(await read('heroes_log_lines_dropped_total'), ['heroes_log_lines_dropped_total 12'], 'also once more')
  // The time limit of a check does not keep a process alive, and nothing else may be there that does.
  const awake = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(awake))
  check = () => new Promise(() => {})
  t.strictSame(await read('heroes_database_up'), ['heroes_database_up 0'], 'one that hangs cannot be used')
  metrics.onWait(0.2)
  metrics.onStatement(0.003)
  t.strictSame(await read('heroes_database_wait_seconds_sum'), ['heroes_database_wait_seconds_sum 0.2'])
  t.strictSame(await read('heroes_statement_seconds_sum'), ['heroes_statement_seconds_sum 0.003'])
  t.match(await read('heroes_build_info'), [/^heroes_build_info\{version="\d+\.\d+\.\d+"\} 1$/])
})

t.test('the table of app/README.md names each figure of the service, and no other', async t => {
  const { metrics } = await createMeasured()
  metrics.watch(QUIET)
  const { text } = await metrics.read()
  const figures = [...text.matchAll(/^# TYPE ((?:heroes|http)_\w+) /gm)].map(([, name]) => String(name))
  const readme = readFileSync(join(import.meta.dirname, '../../../app/README.md'), 'utf8')
  const named = [...readme.matchAll(/\b(?:heroes|http)_\w+/g)].map(([name]) => name.replace(/_(?:bucket|count)$/, ''))
  t.strictSame([...new Set(named)].filter(name => name !== 'heroes_').sort(), figures.sort())
})

t.test('a scrape leaves nothing behind that keeps the process alive', async t => {
  const { metrics } = await createMeasured()
  metrics.watch(QUIET)
  const timers = () => process.getActiveResourcesInfo().filter(kind => kind === 'Timeout').length
  const before = timers()
  await metrics.collect()
  t.equal(timers(), before)
})

t.test('forwarded headers on the server of the figures are not warned of: it looks at no address', async t => {
  const { metrics } = await createMeasured()
  const lines: string[] = []
  const log = createLog('warn', { write: line => lines.push(line) })
  const http = buildMetricsServer({ log }, metrics.read)
  t.equal((await http.inject({ url: '/metrics', headers: { 'x-forwarded-for': '192.0.2.60' } })).statusCode, 200)
  t.strictSame(lines, [])
})

t.test('the server of the figures has /metrics and nothing else', async t => {
  const { metrics } = await createMeasured()
  const http = buildMetricsServer({ log: silentLog() }, metrics.read)
  const found = await http.inject('/metrics')
  t.equal(found.statusCode, 200)
  t.equal(found.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
  t.match(found.headers.server, /^heroes\/\d+$/)
  t.match(found.payload, /^# TYPE http_request_duration_seconds histogram$/m)
  t.match(found.payload, /^# TYPE nodejs_eventloop_lag_seconds gauge$/m)
  t.match(found.payload, /\n$/)
  t.match(found.payload, /^process_start_time_seconds \d/m)
  t.notMatch(found.payload, /^# TYPE \w+_total gauge$/m, 'a name that ends in _total is that of a counter')
  t.equal((await http.inject({ method: 'POST', url: '/metrics' })).statusCode, 405)
  t.equal((await http.inject('/heroes')).statusCode, 404)
})

t.test('METRICS_PORT is a listener of its own, which shows what PostgreSQL is asked', async t => {
  const DATABASE_URL = await migratedDatabase(t)
  const service = await serveProcess(t, { DATABASE_URL, METRICS_PORT: '0' })
  const [, port] = await service.until(/"port":(\d+),"msg":"metrics listening"/)
  t.equal(
    (await ask(`${service.url}/heroes/1`, { headers: { authorization: `Bearer ${'a'.repeat(32)}` } })).status,
    401
  )
  t.equal((await ask(`${service.url}/metrics`)).status, 404)
  t.equal((await ask(`${service.url}/register`, { body: ADA })).status, 200)
  const { body } = await ask(`http://127.0.0.1:${port}/metrics`)
  t.match(body, /^http_request_duration_seconds_count\{method="GET",route="\/heroes\/:id",status="401"\} 1$/m)
  t.match(body, /^heroes_lookup_batch_size_sum [1-9]/m)
  t.match(body, /^heroes_database_connections\{state="lookups"\} 1$/m)
  t.match(body, /^heroes_hash_queue_length 0$/m)
  t.match(body, /^heroes_database_up 1$/m)
  t.match(body, /^heroes_database_wait_seconds_count [1-9]/m)
  t.match(body, /^heroes_statement_seconds_count [1-9]/m)
  t.match(body, /^heroes_hash_wait_seconds_count 1$/m)
  t.equal(await service.stop(), 0)
})

t.test('a METRICS_PORT in use ends the start with a line that names it', async t => {
  const METRICS_PORT = String(await listenUntilEnd(t, createServer()))
  const service = startProcess(t, ['serve'], { PORT: '0', DATABASE_URL: 'memory:', METRICS_PORT })
  t.equal(await service.ended, 1)
  t.match(service.output(), /^heroes: METRICS_PORT cannot be used: .*EADDRINUSE[^\n]*$/m)
})

t.test('one worker without a database, or with a busy event loop, is seen in the figures of all workers', async t => {
  const metrics = createMetrics()
  metrics.watch(QUIET)
  const samples = await metrics.collect()
  const aggregatorOf = (name: string) => samples.find(sample => sample.name === name)?.aggregator
  t.strictSame(['heroes_database_up', 'nodejs_eventloop_lag_seconds'].map(aggregatorOf), ['min', 'max'])
})

t.test('every method that a path has is counted by its name', async t => {
  const { ask, read } = await createMeasured()
  const methods = ['POST', 'PUT', 'DELETE', 'OPTIONS'] as const
  for (const method of methods) await ask('/heroes/1', { method })
  const lines = await read('http_request_duration_seconds_count')
  for (const method of methods)
    t.ok(
      lines.some(line => line.includes(`{method="${method}"`)),
      method
    )
})
