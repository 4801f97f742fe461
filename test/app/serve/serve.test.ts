import { createServer } from 'node:net'
import t from 'tap'
import { listen } from '../../../app/serve/listen.js'
import { heroes } from '../../support/command.js'
import { createTestHttp } from '../../support/http.js'
import { freePort, listenUntilEnd } from '../../support/ports.js'
import { ask, keptConnection, logInAtFirst, serveProcess } from '../../support/process.js'
import { dial, dialOpen } from '../../support/wire.js'

t.jobs = 3

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

t.test('a signal ends a service that waits for its database', async t => {
  const DATABASE_URL = `postgres://127.0.0.1:${await freePort()}/heroes`
  const service = await serveProcess(t, { DATABASE_URL, DRAIN_DELAY: '1' })
  t.match(await ask(`${service.url}/health/ready`), { status: 503 })
  t.equal(await service.stop(), 0)
  t.notMatch(service.output(), 'the database takes writes')
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
  'a HOST, PORT or METRICS_HOST on which the service cannot listen ends the start with exit code 1 and one line that names it',
  async t => {
    const port = String(await listenUntilEnd(t, createServer()))
    const env = { DATABASE_URL: 'memory:', LOG_LEVEL: 'silent', PORT: '0' }
    for (const [settings, stderr] of [
      [{ PORT: port }, /^heroes: PORT cannot be used: [^\n]*EADDRINUSE[^\n]*\n$/],
      [{ PORT: port, HOST: 'localhost' }, /^heroes: PORT cannot be used: [^\n]*EADDRINUSE[^\n]*\n$/],
      [{ HOST: 'nowhere.invalid' }, /^heroes: HOST cannot be used: [^\n]* nowhere\.invalid\n$/],
      [{ HOST: '192.0.2.1' }, /^heroes: HOST cannot be used: [^\n]*EADDRNOTAVAIL[^\n]*\n$/],
      [{ METRICS_PORT: '0', METRICS_HOST: '192.0.2.1' }, /^heroes: METRICS_HOST cannot be used: [^\n]+\n$/]
    ] as const) {
      t.match(await heroes('serve', { ...env, ...settings }), { code: 1, stdout: '', stderr }, JSON.stringify(settings))
    }
  }
)

t.test('the port that URLs leave out is told as any other', async t => {
  const http = createTestHttp()
  t.teardown(() => http.close())
  // Only a privileged process may listen there.
  t.intercept(http, 'listen', { value: async () => 'http://127.0.0.1' })
  t.equal(await listen(http, 'localhost', 80), 80)
})

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

t.test('security events are lines of the log', async t => {
  const service = await serveProcess(t, { DATABASE_URL: 'memory:' })
  await logInAtFirst(service)
  await service.until(/"level":30,[^\n]*"event":"client.added","client":"local"\}/)
  await service.until(
    /"level":30,[^\n]*"event":"login.succeeded","client":"local","user":1,[^\n]*"reqId":"req-[\w-]+"\}/
  )
})
