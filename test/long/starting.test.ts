import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { createDatabase } from '../support/postgres.js'
import { ask, firstClient, keptConnection, PROGRAM, serveProcess, startProcess } from '../support/process.js'
import { dial } from '../support/wire.js'

t.jobs = 3

const { stdout: scriptVersion } = spawnSync('script', ['--version'], { encoding: 'utf8' })
const withScript = /util-linux/.test(scriptVersion)
  ? {}
  : { skip: 'there is no script(1) of util-linux that makes a terminal' }

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
})

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
