import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createOutput } from '../../../app/serve/output.js'
import { createDatabase, setDatabase } from '../../support/postgres.js'
import { ask, serveProcess, startProcess } from '../../support/process.js'

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

/** A pipe whose reader takes nothing by itself. */
const createPipe = (t: Test) => {
  const path = `${t.testdir()}/pipe`
  execFileSync('mkfifo', [path])
  let reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const writer = openSync(path, constants.O_WRONLY)
  t.teardown(() => closeSync(writer))
  const chunk = Buffer.alloc(1024 * 1024)
  return {
    writer,
    /** What the pipe holds. */
    read: (): string => {
      try {
        return chunk.toString('latin1', 0, readSync(reader, chunk))
      } catch {
        return ''
      }
    },
    leave: () => closeSync(reader),
    comeBack: () => {
      reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    }
  }
}

const unexpected = (): string => {
  throw new Error('lines were dropped')
}

/** Numbered lines of 1,000 characters. */
const numbered = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, index) => `${String(from + index).padStart(999, ' ')}\n`)

t.test('somebody who follows the log sees a line before he could miss it', async t => {
  const file = `${t.testdir()}/log`
  const output = createOutput(openSync(file, 'a'), unexpected)
  for (const line of ['the first\n', 'after a silence\n']) {
    output.write(line)
    // Timers run in the order of their instants, however late.
    await sleep(200)
    t.ok(readFileSync(file, 'utf8').endsWith(line))
  }
})

t.test('a reader that is behind gets every line in its order', async t => {
  const pipe = createPipe(t)
  const output = createOutput(pipe.writer, unexpected)
  const lines = numbered(0, 1000)
  for (const line of lines) output.write(line)
  let received = ''
  while (received.length < 1_000_000) {
    received += pipe.read()
    await sleep(1)
  }
  t.ok(received === lines.join(''))
  pipe.leave()
})

t.test(
  'what several processes write to one pipe is cut between lines alone, however little the pipe takes',
  async t => {
    const lines = [...numbered(0, 5), `${'x'.repeat(5000)}\n`, ...numbered(5, 200)]
    const pipe = createPipe(t)
    const output = createOutput(pipe.writer, unexpected)
    for (const line of lines) output.write(line)
    let received = ''
    while (received === '') {
      await sleep(20)
      received = pipe.read()
    }
    pipe.leave()
    t.match(received, /x\n/)
    t.match(received, /\n$/)
    t.ok(lines.join('').startsWith(received))
  }
)

t.test('past 8 MB lines are dropped, until the reader has taken half', async t => {
  const pipe = createPipe(t)
  const output = createOutput(pipe.writer, lines => `dropped ${lines}\n`)
  for (const line of numbered(0, 10_000)) output.write(line)
  let received = ''
  while (received.length < 3_000_000) {
    received += pipe.read()
    await sleep(1)
  }
  for (const line of numbered(10_000, 10_100)) output.write(line)
  while (!/dropped.*\n/.test(received)) {
    received += pipe.read()
    await sleep(1)
  }
  for (const line of numbered(10_100, 10_110)) output.write(line)
  while (!/ 10109\n/.test(received)) {
    received += pipe.read()
    await sleep(1)
  }
  const kept = received.search(/dropped/) / 1000
  t.ok(kept > 8300 && kept < 8500, 'what the pipe holds comes on top of 8 MB')
  const dropped = Number(/dropped (\d+)/.exec(received)?.[1])
  t.equal(kept + dropped, 10_100)
  t.equal(output.dropped(), dropped, 'and they stay counted')
  t.ok(
    received === [...numbered(0, kept), `dropped ${dropped}\n`, ...numbered(kept + dropped, 10_110)].join(''),
    'one line stands where lines are missing, and says how many'
  )
  pipe.leave()
})

t.test('what could not be written is tried again, though no line follows', async t => {
  const pipe = createPipe(t)
  const output = createOutput(pipe.writer, unexpected)
  pipe.leave()
  output.write('the last\n')
  await sleep(100)
  pipe.comeBack()
  while (pipe.read() !== 'the last\n') await sleep(20)
  pipe.leave()
})

t.test('at the exit of the process nothing waits long for a reader', async t => {
  const pipe = createPipe(t)
  const output = createOutput(pipe.writer, unexpected)
  for (const line of numbered(0, 200)) output.write(line)
  output.end()
  t.ok(pipe.read().length < 200_000, 'who takes nothing is given up after a second')
  pipe.leave()
  output.write('the last\n')
  const pauses = t.intercept(Atomics, 'wait', { value: () => 'timed-out' })
  output.end()
  const late = createOutput(pipe.writer, unexpected)
  late.write('the last\n')
  late.end()
  t.equal(pauses().length, 0, 'and who has left is not waited for')
})

t.test('a process that crashes leaves its whole log to a reader that takes it', async t => {
  const log = JSON.stringify(new URL('../../../app/serve/log.ts', import.meta.url).href)
  const code = `
    const { logger } = (await import(${log})).createLog('info')
    for (let number = 0; number < 10_000; number++) logger.info({ number }, 'x'.repeat(1000))
    console.error('all is written')
    throw new Error()`
  const child = spawn(process.execPath, [...process.execArgv, '--input-type', 'module', '--eval', code])
  // A reader that begins earlier may take so much that no line is dropped.
  let told = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    told += text
  })
  while (!told.includes('all is written')) await once(child.stderr, 'data')
  const lines = (await text(child.stdout))
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  const last = lines.pop()
  t.match(last, { level: 40, pid: child.pid, hostname: String, dropped: 10_000 - lines.length, msg: /dropped/ })
  t.strictSame(
    lines.map(({ number }) => number),
    lines.map((_, index) => index)
  )
  t.ok(lines.length > 7000)
})
