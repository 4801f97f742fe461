import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createAuthority } from '../support/certificates.js'
import { holdFile, withHeldFiles } from '../support/held-file.js'
import {
  ask,
  firstClient,
  GRACE,
  keptConnection,
  logInAtFirst,
  serveProcess,
  startProcess,
  temporaryFolder
} from '../support/process.js'
import { basic } from '../support/service.js'
import { signal } from '../support/waiting.js'
import { dialOpen } from '../support/wire.js'

t.jobs = 3

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
