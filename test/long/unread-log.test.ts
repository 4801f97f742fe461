import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createDatabase, setDatabase } from '../support/postgres.js'
import { ask, serveProcess, startProcess } from '../support/process.js'

/**
 * Requests paths of 4 kB that lead nowhere, and one time in a hundred `/health/ready`, on ten connections. Resolves to
 * the number of answers of each status.
 */
const askInVain = async (url: string, requests: number): Promise<Record<string, number>> => {
  const { hostname, port } = new URL(url)
  const work = async (_: unknown, connection: number): Promise<string> => {
    const targets = Array.from({ length: requests / 10 }, (_, index) =>
      index % 10 === 0 && connection === 0 ? '/health/ready' : `/${'nothing'.repeat(580)}`
    )
    const heads = targets.map(target => `GET ${target} HTTP/1.1\r\nhost: a\r\n`)
    const socket = connect(Number(port), hostname)
    socket.write(`${heads.join('\r\n')}connection: close\r\n\r\n`)
    return text(socket)
  }
  const answers = await Promise.all(Array.from({ length: 10 }, work))
  const statuses: Record<string, number> = {}
  for (const [, status = ''] of answers.join('').matchAll(/HTTP\/1\.1 (\d+) /g)) {
    statuses[status] = (statuses[status] ?? 0) + 1
  }
  return statuses
}

t.test('a log that nobody reads holds nothing up, and says what it lacks once somebody reads it', async t => {
  const { url: DATABASE_URL, drop } = await createDatabase()
  t.teardown(drop)
  const service = await serveProcess(t, { DATABASE_URL })
  const { stdout } = service.child
  await setDatabase(DATABASE_URL, 'set default_transaction_read_only = on')
  while ((await ask(`${service.url}/health/ready`)).status !== 503) await sleep(20)
  const before = service.output().length

  stdout?.pause()
  t.strictSame(await askInVain(service.url, 5000), { 404: 4950, 503: 50 })
  stdout?.resume()
  // A pattern would take its time for 8 MB.
  while (!service.output().includes('"dropped":')) await sleep(20)
  const [, dropped] = await service.until(/"level":40,[^\n]*"dropped":(\d+),[^\n]*\n/)
  const log = service.output().slice(before)
  const lines = log.slice(0, log.lastIndexOf('\n')).split('\n')
  const requests = lines.map(line => JSON.parse(line)).filter(({ path }) => path !== undefined)
  t.ok(log.length > 8_000_000 && requests.length < 5000)
  const others = requests.length + Number(dropped) - 5000
  t.ok(0 <= others && others < 100, `${others} lines beside those of the requests`)

  stdout?.pause()
  await askInVain(service.url, 500)
  const ended = once(service.child, 'exit')
  service.child.kill('SIGTERM')
  t.strictSame(await ended, [0, null], 'the process ends, though nobody reads')
  stdout?.resume()
})

t.test('a reader that leaves ends nothing', async t => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = Object(other.address())
  await new Promise(resolve => other.close(resolve))
  const service = startProcess(t, ['serve'], { PORT: String(port), DATABASE_URL: 'memory:' })
  service.child.stdout?.destroy()
  const url = `http://127.0.0.1:${port}`
  const up = async (): Promise<number> =>
    ask(`${url}/health/ready`).then(
      ({ status }) => status,
      () => sleep(20).then(up)
    )
  t.equal(await Promise.race([up(), service.ended]), 200)
  t.strictSame(await askInVain(url, 500), { 200: 5, 404: 495 })
  service.child.kill('SIGTERM')
  t.equal(await service.ended, 0)
})
