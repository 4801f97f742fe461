import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createOutput } from '../../../app/serve/output.js'

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
