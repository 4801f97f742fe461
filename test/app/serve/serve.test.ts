import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createAuthority } from '../../support/certificates.js'
import { heroes } from '../../support/command.js'
import { startFakeServer } from '../../support/fake-server.js'
import { holdFile, withHeldFiles } from '../../support/held-file.js'
import { freePort, listenUntilEnd } from '../../support/ports.js'
import { createDatabase, setDatabase } from '../../support/postgres.js'
import {
  ask,
  firstClient,
  GRACE,
  keptConnection,
  logInAtFirst,
  PROGRAM,
  serveProcess,
  startProcess,
  temporaryFolder
} from '../../support/process.js'
import { basic } from '../../support/service.js'
import { signal } from '../../support/waiting.js'
import { type Connection, dial } from '../../support/wire.js'

t.jobs = 3

const { stdout: scriptVersion } = spawnSync('script', ['--version'], { encoding: 'utf8' })
const withScript = /util-linux/.test(scriptVersion)
  ? {}
  : { skip: 'there is no script(1) of util-linux that makes a terminal' }

/** A connection that the service has accepted. */
const dialOpen = async (url: string): Promise<Connection> => {
  const connection = dial(url)
  await once(connection.socket, 'connect')
  return connection
}

const BODY = JSON.stringify({ username: 'ada', password: '12345678' })
const HALF = [
  'POST /register HTTP/1.1',
  'Host: heroes',
  'Content-Type: application/json',
  `Content-Length: ${BODY.length}`,
  '',
  BODY.slice(0, 9)
].join('\r\n')

const endsUnderLoad = async (t: Test, name: NodeJS.Signals, withSlowest: boolean): Promise<void> => {
  const service = await serveProcess(t, { DATABASE_URL: 'memory:', HASH_CONCURRENCY: '1', LOGIN_ATTEMPTS: '0' })
  const { url, child } = service
  const headers = await logInAtFirst(service)
  const { id, secret } = await firstClient(service)

  const idle = Array.from({ length: 10 }, keptConnection)
  t.teardown(() => idle.forEach(agent => void agent.destroy()))
  await Promise.all(idle.map(agent => ask(`${url}/heroes`, { headers, agent })))
  await dialOpen(url)
  const unfinished = await dialOpen(url)
  unfinished.socket.write('GET /health/ready HTTP/1.1\r\nHost: heroes\r\n')
  const slow = await dialOpen(url)
  slow.socket.write(HALF)
  const slowest = await dialOpen(url)
  if (withSlowest) slowest.socket.write(HALF)
  else slowest.socket.end()

  const form = new URLSearchParams({ grant_type: 'password', ...GRACE })
  let signalled = false
  const logins = Array.from({ length: 10 }, async () => {
    const headers = { ...basic(id, secret), connection: 'keep-alive' }
    const answer = await ask(`${url}/auth/token`, { headers, body: form })
    return { ...answer, late: signalled }
  })
  await Promise.race(logins)

  // A frozen process has read none of these requests when the signal comes: the kernel holds them.
  child.kill('SIGSTOP')
  const sending: Promise<void>[] = []
  const waiting = Promise.all(
    [...idle.slice(1), ...Array(9)].map(agent => {
      const { given, give } = signal()
      sending.push(given)
      return ask(`${url}/heroes`, { headers, agent, sent: give })
    })
  )
  await Promise.all(sending)
  child.kill(name)
  child.kill('SIGCONT')
  signalled = true
  await service.until(/"msg":"shutting down"/)
  child.kill(name)
  slow.socket.write(BODY.slice(9))

  const answered = await Promise.all(logins)
  t.ok(
    answered.every(({ status }) => status === 200),
    'every login that was under way is answered'
  )
  const late = answered.filter(({ late }) => late)
  t.ok(late.length > 2)
  // One answer may have been on its way out when the signal came.
  const open = late.filter(({ headers }) => headers.connection !== 'close')
  t.ok(open.length < 2, 'the others tell their client that the connection ends')
  t.ok(
    (await waiting).every(({ status }) => status === 200),
    'every request that the process had not read is answered'
  )
  await Promise.all([unfinished.closed, slow.closed])
  t.match(
    slow.received(),
    /^HTTP\/1\.1 200 OK\r\n(?:.+\r\n)*connection: close\r\n/i,
    'so is a request whose body comes after the signal'
  )
  t.equal(unfinished.received(), '', 'a request whose head is never complete is not waited for')
  await t.rejects(ask(`${url}/health/live`), { code: 'ECONNREFUSED' }, 'no new connection is accepted')
  if (withSlowest) t.equal(child.exitCode, null, 'the process waits for a request that has not arrived as a whole')

  t.equal(await service.ended, 0)
}

t.test('after SIGTERM every request whose head has arrived is answered', { buffered: true }, t =>
  endsUnderLoad(t, 'SIGTERM', false)
)

t.test(
  'after SIGINT too, and a request whose body never comes does not keep the process alive',
  { buffered: true },
  t => endsUnderLoad(t, 'SIGINT', true)
)

/** Says how many connections are open when Node's report is made. The report looks up the names of both ends of each. */
const COUNT_WHEN_REPORTED = `process.report.getReport = (getReport => () => {
  const report = getReport.call(process.report)
  console.error('connections: ' + report.libuv.filter(handle => handle.remoteEndpoint).length)
  return report
})(process.report.getReport)`

t.test('the limit on open files is read before a connection to the database is open', async t => {
  const { url: DATABASE_URL, drop } = await createDatabase()
  t.teardown(drop)
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(COUNT_WHEN_REPORTED)}`
  const { output, stop } = await serveProcess(t, { DATABASE_URL, NODE_OPTIONS })
  t.strictSame(output().match(/connections: .*/g), ['connections: 0'])
  t.equal(await stop(), 0)
})

t.test('a signal ends a service that waits for its database', async t => {
  const DATABASE_URL = `postgres://127.0.0.1:${await freePort()}/heroes`
  const service = await serveProcess(t, { DATABASE_URL, DRAIN_DELAY: '1' })
  t.match(await ask(`${service.url}/health/ready`), { status: 503 })
  t.equal(await service.stop(), 0)
  t.notMatch(service.output(), 'the database takes writes')
})

t.test('a command waits until every host has had its time, and ends with exit code 1 when none answers', async t => {
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  const there = new URL(url)
  const silent = await Promise.all(Array.from({ length: 4 }, () => startFakeServer(t)))
  for (const server of silent) server.silent = true
  const places = silent.map(({ address: { host, port } }) => `${host}:${port}`)
  const withHosts = (hosts: readonly string[]) => `${url.replace(there.host, hosts.join())}?connect_timeout=1`
  const [found, none] = await Promise.all([
    heroes('client list', { DATABASE_URL: withHosts([...places, there.host]) }),
    heroes('client list', { DATABASE_URL: withHosts(places.slice(0, 2)) })
  ])
  t.match(found, { code: 0, stderr: '' })
  t.match(none, {
    code: 1,
    stdout: '',
    stderr: /^heroes: DATABASE_URL cannot be used: [^\n]+ no connection within 1 s\n$/
  })
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

t.test('KEEP_ALIVE_TIMEOUT is what answers say, and METRICS_HOST where the figures are', async t => {
  const { url, until } = await serveProcess(t, {
    DATABASE_URL: 'memory:',
    KEEP_ALIVE_TIMEOUT: '620',
    METRICS_PORT: '0',
    METRICS_HOST: '::1'
  })
  const agent = keptConnection()
  t.teardown(() => agent.destroy())
  t.match(await ask(`${url}/health/live`, { agent }), { headers: { 'keep-alive': 'timeout=620' } })
  const [, port] = await until(/"host":"::1","port":(\d+),"msg":"metrics listening"/)
  t.match(await ask(`http://[::1]:${port}/metrics`), { status: 200 })
  const taken = {
    DATABASE_URL: 'memory:',
    LOG_LEVEL: 'silent',
    PORT: '0',
    METRICS_PORT: '0',
    METRICS_HOST: '192.0.2.1'
  }
  t.match(await heroes('serve', taken), { code: 1, stderr: /^heroes: METRICS_HOST cannot be used: [^\n]+\n$/ })
})

t.test('DRAIN_DELAY keeps a service that is not ready listening, and a second signal ends the wait', async t => {
  const { url, child, until, output, ended } = await serveProcess(t, { DATABASE_URL: 'memory:', DRAIN_DELAY: '3600' })
  child.kill('SIGTERM')
  await until(/"seconds":3600,"msg":"not ready, /)
  t.match(await ask(`${url}/health/ready`), { status: 503, headers: { 'retry-after': '1' } })
  const agent = keptConnection()
  t.teardown(() => agent.destroy())
  t.match(await ask(`${url}/health/live`, { agent }), { status: 200, headers: { connection: 'keep-alive' } })
  child.kill('SIGTERM')
  t.equal(await ended, 0)
  t.notMatch(output(), '"level":50')
})

t.test('signals that come until the very end do not end the process, and the exit code is 0', async t => {
  const { child, until, ended } = await serveProcess(t, { DATABASE_URL: 'memory:' })
  child.kill('SIGTERM')
  await until(/"msg":"shutting down"/)
  while (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGTERM')
    child.kill('SIGINT')
    await setImmediate()
  }
  t.equal(await ended, 0)
})

t.test('SIGHUP ends the service as SIGTERM does, and SIGUSR1 does nothing', async t => {
  const { url, child, until, output, ended } = await serveProcess(t, { DATABASE_URL: 'memory:', DRAIN_DELAY: '3600' })
  child.kill('SIGUSR1')
  child.kill('SIGHUP')
  await until(/"seconds":3600,"msg":"not ready, /)
  t.match(await ask(`${url}/health/live`), { status: 200 })
  child.kill('SIGHUP')
  t.equal(await ended, 0)
  t.match(output(), '"msg":"shutting down"')
  t.notMatch(output(), 'Debugger')
})

t.test('a signal that comes before the service is loaded ends the start with exit code 0', withHeldFiles, async t => {
  // The settings are read before the service is loaded, and this file with them.
  const authorities = join(temporaryFolder(t), 'authorities.pem')
  const held = holdFile(authorities)
  const DATABASE_URL = `postgres://h/heroes?sslrootcert=${authorities}`
  const { child, output, ended } = startProcess(t, ['serve'], { DATABASE_URL })
  const release = await held.read()
  child.kill('SIGTERM')
  release(createAuthority('Heroes').certificate)
  t.equal(await ended, 0)
  t.equal(output(), '')
})

t.test('connections to METRICS_PORT that have sent no request do not keep the service from ending', async t => {
  const { until, stop } = await serveProcess(t, { DATABASE_URL: 'memory:', METRICS_PORT: '0' })
  const [, port] = await until(/"port":(\d+),"msg":"metrics listening"/)
  const [silent, unfinished] = await Promise.all([1, 2].map(() => dialOpen(`http://127.0.0.1:${port}`)))
  unfinished?.socket.write('GET /metrics HTTP/1.1\r\nHost: heroes\r\n')
  t.equal(await stop(), 0)
  await Promise.all([silent?.closed, unfinished?.closed])
})

t.test(
  'a HOST or PORT on which the service cannot listen ends the start with exit code 1 and one line that names it',
  async t => {
    const port = String(await listenUntilEnd(t, createServer()))
    const env = { DATABASE_URL: 'memory:', LOG_LEVEL: 'silent', PORT: '0' }
    for (const [settings, stderr] of [
      [{ PORT: port }, /^heroes: PORT cannot be used: [^\n]*EADDRINUSE[^\n]*\n$/],
      [{ PORT: port, HOST: 'localhost' }, /^heroes: PORT cannot be used: [^\n]*EADDRINUSE[^\n]*\n$/],
      [{ HOST: 'nowhere.invalid' }, /^heroes: HOST cannot be used: [^\n]* nowhere\.invalid\n$/],
      [{ HOST: '192.0.2.1' }, /^heroes: HOST cannot be used: [^\n]*EADDRNOTAVAIL[^\n]*\n$/]
    ] as const) {
      t.match(await heroes('serve', { ...env, ...settings }), { code: 1, stdout: '', stderr }, JSON.stringify(settings))
    }
  }
)

t.test(
  'with HOST=localhost the service listens on 127.0.0.1 and localhost and answers malformed requests on both',
  async t => {
    const { url } = await serveProcess(t, { DATABASE_URL: 'memory:', HOST: 'localhost' })
    for (const host of ['127.0.0.1', 'localhost']) {
      const address = new URL(url)
      address.hostname = host
      t.equal((await ask(`${address}health/live`)).status, 200, host)
      const { socket, received, closed } = dial(address.href)
      socket.write('no HTTP\r\n\r\n')
      await closed
      t.match(received(), /^HTTP\/1\.1 400 Bad Request\r\n(?:.+\r\n)*server: heroes\//i, host)
    }
  }
)

t.test('what the parser refuses has a line of the log, and is counted', async t => {
  const { url, until, stop } = await serveProcess(t, { DATABASE_URL: 'memory:', METRICS_PORT: '0' })
  const { socket, closed } = dial(url)
  socket.write('no HTTP\r\n\r\n')
  await closed
  await until(/"level":30,[^\n]*"address":"127.0.0.1","status":400,"msg":"a request could not be read"\}\n/)
  const [, port] = await until(/"port":(\d+),"msg":"metrics listening"/)
  const { body } = await ask(`http://127.0.0.1:${port}/metrics`)
  t.match(body, /^heroes_requests_unparsed_total\{status="400"\} 1$/m)
  t.equal(await stop(), 0)
})

/** What the log of a service that has ended warned of: the checks and the messages. */
const warnings = (output: string): { check: string; advice: string; msg: string }[] =>
  output
    .split('\n')
    .filter(line => line.startsWith('{"level":40,'))
    .map(line => JSON.parse(line))

t.test('the start warns of risky settings, and of a first secret that a log may keep, one line each', async t => {
  const { url: DATABASE_URL, drop } = await createDatabase()
  t.teardown(drop)
  const cases: [settings: Record<string, string>, checks: readonly string[]][] = [
    [{ DATABASE_URL: 'memory:' }, ['first client']],
    [{ DATABASE_URL: 'memory:', HOST: '0.0.0.0', TRUST_PROXY: 'true' }, ['HOST', 'TRUST_PROXY', 'first client']],
    [{ DATABASE_URL, PUBLIC_URL: 'https://heroes.example', LOG_LEVEL: 'warn' }, ['PASSWORD_MIN_LENGTH']],
    [{ DATABASE_URL, HEROES_WRITE_SCOP: 'heroes' }, ['HEROES_WRITE_SCOP']],
    [{ DATABASE_URL, PUBLIC_URL: 'https://heroes.example', PASSWORD_MIN_LENGTH: '12', HOST: '0.0.0.0' }, []]
  ]
  for (const [settings, checks] of cases) {
    const service = startProcess(t, ['serve'], { PORT: '0', ...settings })
    // Where `listening` is not logged, the last warning is what tells of the start.
    const last = checks.at(-1) ?? 'none'
    await service.until(last === 'none' ? /"msg":"listening"/ : new RegExp(`"check":"${last}"`))
    service.child.kill('SIGTERM')
    t.equal(await service.ended, 0)
    const warned = warnings(service.output())
    t.strictSame(
      warned.map(({ check }) => check),
      checks,
      JSON.stringify(settings)
    )
    for (const { check, advice, msg } of warned) {
      t.ok(msg.startsWith(`${check}: `), msg)
      t.match(advice, /\S/)
    }
    if (settings.DATABASE_URL === 'memory:') {
      const { secret } = await firstClient(service)
      for (const warning of warned) t.notMatch(JSON.stringify(warning), secret)
    }
  }
})

t.test('a terminal that shows the first secret is no reason to warn', withScript, async t => {
  const child = spawn('script', ['-qec', `"${process.execPath}" "${PROGRAM}" serve`, '/dev/null'], {
    env: { ...process.env, DATABASE_URL: 'memory:', PORT: '0' }
  })
  t.teardown(() => child.kill('SIGKILL'))
  let seen = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    seen += text
  })
  const ended = once(child, 'close')
  while (!seen.includes('client_secret') || !seen.includes('"msg":"listening"')) await once(child.stdout, 'data')
  // Ctrl-C.
  child.stdin.write('\u0003')
  await ended
  t.match(seen, /"msg":"shutting down"/)
  t.strictSame(warnings(seen.replaceAll('\r', '')), [])
})

t.test('security events are lines of the log', async t => {
  const service = await serveProcess(t, { DATABASE_URL: 'memory:' })
  await logInAtFirst(service)
  await service.until(/"level":30,[^\n]*"event":"client.added","client":"local"\}/)
  await service.until(
    /"level":30,[^\n]*"event":"login.succeeded","client":"local","user":1,[^\n]*"reqId":"req-[\w-]+"\}/
  )
})
