import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { heroes } from '../../support/command.js'
import { signal } from '../../support/http.js'
import { createDatabase, setDatabase } from '../../support/postgres.js'
import { ask, firstClient, GRACE, keptConnection, logInAtFirst, serveProcess } from '../../support/process.js'
import { basic } from '../../support/service.js'

t.jobs = 3

/** A connection of its own, to be written to by hand, with all that came back. */
const dial = async (url: string): Promise<{ socket: Socket; received(): string; closed: Promise<unknown> }> => {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let received = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text
  })
  const closed = once(socket, 'close')
  await once(socket, 'connect')
  return { socket, received: () => received, closed }
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
  const unused = await dial(url)
  const unfinished = await dial(url)
  unfinished.socket.write('GET /health/ready HTTP/1.1\r\nHost: heroes\r\n')
  const slow = await dial(url)
  slow.socket.write(HALF)
  const slowest = await dial(url)
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

  // Frozen, so that the requests are the kernel's and the process has read none of them when the signal comes.
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
  unfinished.socket.write('\r\n')
  slow.socket.write(BODY.slice(9))

  const answered = await Promise.all(logins)
  t.ok(
    answered.every(({ status }) => status === 200),
    'every login that was under way is answered'
  )
  const late = answered.filter(({ late }) => late)
  t.ok(late.length > 2)
  // One may have been on its way out when the signal came.
  const open = late.filter(({ headers }) => headers.connection !== 'close')
  t.ok(open.length < 2, 'and told that its connection ends')
  t.ok(
    (await waiting).every(({ status }) => status === 200),
    'and every request that nobody had read'
  )
  await Promise.all([unfinished.closed, slow.closed])
  t.match(slow.received(), /^HTTP\/1\.1 200 OK\r\n(?:.+\r\n)*connection: close\r\n/i, 'and one whose body came later')
  t.match(unfinished.received(), /^HTTP\/1\.1 503 .*\r\n(?:.+\r\n)*connection: close\r\n/i, '/health/ready says 503')
  await t.rejects(ask(`${url}/health/live`), { code: 'ECONNREFUSED' }, 'nobody listens')
  if (withSlowest) t.equal(child.exitCode, null, 'it waits for who has not come to an end')
  else unused.socket.destroy()

  t.equal(await service.ended, 0)
}

t.test('SIGTERM lets every request be answered whose head has arrived', { buffered: true }, t =>
  endsUnderLoad(t, 'SIGTERM', false)
)

t.test('SIGINT does so too, twice or once, and waits for nobody for ever', { buffered: true }, t =>
  endsUnderLoad(t, 'SIGINT', true)
)

t.test('/health/ready is 503 while the database takes no writes, and 200 once it does', async t => {
  const { url: DATABASE_URL, drop } = await createDatabase()
  t.teardown(drop)
  const { url, stop } = await serveProcess(t, { DATABASE_URL, DATABASE_POOL: '1' })
  const turns = async (status: number): Promise<void> => {
    while ((await ask(`${url}/health/ready`)).status !== status) await sleep(20)
  }
  await turns(200)
  await setDatabase(DATABASE_URL, 'set default_transaction_read_only = on')
  await turns(503)
  t.match(await ask(`${url}/health/ready`), { status: 503, headers: { 'retry-after': '1' } })
  t.match(await ask(`${url}/health/live`), { status: 200 })
  t.match(await ask(`${url}/callback`), { status: 404 }, 'the callback page is for trials')
  await setDatabase(DATABASE_URL, 'reset default_transaction_read_only')
  await turns(200)
  t.equal(await stop(), 0)
})

t.test(
  'HOST and PORT that cannot be listened on end the start with exit code 1 and one line that names them',
  async t => {
    const other = createServer().listen(0, '127.0.0.1')
    t.teardown(() => other.close())
    await once(other, 'listening')
    const port = String(Object(other.address()).port)
    const env = { DATABASE_URL: 'memory:', LOG_LEVEL: 'silent', PORT: '0' }
    for (const [settings, stderr] of [
      [{ PORT: port }, /^heroes: PORT cannot be used: [^\n]*EADDRINUSE[^\n]*\n$/],
      [{ PORT: port, HOST: 'localhost' }, /^heroes: PORT cannot be used: [^\n]*EADDRINUSE[^\n]*\n$/],
      [{ HOST: 'nowhere.invalid' }, /^heroes: HOST cannot be used: [^\n]* nowhere\.invalid\n$/],
      [{ HOST: '192.0.2.1' }, /^heroes: HOST cannot be used: [^\n]*EADDRNOTAVAIL[^\n]*\n$/]
    ] as const) {
      t.match(
        await heroes(['serve'], { ...env, ...settings }),
        { code: 1, stdout: '', stderr },
        JSON.stringify(settings)
      )
    }
  }
)

t.test(
  'HOST=localhost listens where the printed addresses lead, and answers malformed requests as everywhere',
  async t => {
    const { url } = await serveProcess(t, { DATABASE_URL: 'memory:', HOST: 'localhost' })
    for (const host of ['127.0.0.1', 'localhost']) {
      const address = new URL(url)
      address.hostname = host
      t.equal((await ask(`${address}health/live`)).status, 200, host)
      const { socket, received, closed } = await dial(address.href)
      socket.write('no HTTP\r\n\r\n')
      await closed
      t.match(received(), /^HTTP\/1\.1 400 Bad Request\r\n(?:.+\r\n)*server: heroes\//i, host)
    }
  }
)
