import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { serveDatabase } from '../../support/database-service.js'
import { flood } from '../../support/flood.js'
import { statuses } from '../../support/load.js'
import { ask, keptConnection } from '../../support/process.js'
import { forgetPeak, loopSeconds, residentMemory } from '../../support/resident.js'
import { basic, type Headers } from '../../support/service.js'
import { signal } from '../../support/waiting.js'
import { dial, FORM_TYPE, JSON_TYPE, requestText, statusesIn } from '../../support/wire.js'

const SIZE = 10_000_000
/** The default. */
const BODY_MEMORY = 268_435_456
/** What the resident memory may grow by, in bytes: by the bodies, and by what their decoding leaves until it is collected. */
const MOST_GROWTH = BODY_MEMORY + 300_000_000
const LONGEST_SECONDS = 0.4
const LEAST_KEPT = 0.5
/** Requests that are answered cost more than bodies that are refused. */
const LEAST_KEPT_BESIDE_REQUESTS = 0.3
const READERS = 16

const WITHHELD = 80

const MOST_AGAIN = 2
const CONTROL_MILLISECONDS = 150
const HOSTILE_MILLISECONDS = 300

/** The item again and again, in 10 MB. */
const filled = (start: string, item: string, end = ''): string =>
  start + item.repeat((SIZE - start.length - end.length) / item.length) + end
const nested = (open: string, close: string): string => {
  const levels = SIZE / (open.length + close.length) - 1
  return `${open.repeat(levels)}0${close.repeat(levels)}`
}
const many = (count: number, item: (index: number) => string, separator: string): string =>
  Array.from({ length: count }, (_, index) => item(index)).join(separator)

/** In Latin-1. */
type Bodies = Readonly<Record<string, string>>

const WORST_FORMS: Bodies = {
  'a value of +': filled('username=', '+'),
  'a value of quotation marks': filled('username=', '"')
}
const OTHER_FORMS: Bodies = {
  'a value of escapes': filled('username=', '%22'),
  'a name of +': filled('', '+'),
  'empty parameters': filled('', '&'),
  'parameters without a value': filled('', 'a&'),
  'equals signs': filled('', '='),
  'a value that is no UTF-8': filled('username=', '\xff'),
  '1,000 parameters of 10 kB': many(1000, i => `p${i}=${'+'.repeat(9_980)}`, '&'),
  '650 parameters of escapes': many(650, i => `p${i}=${'%22'.repeat(5_000)}`, '&')
}
const WORST_JSON: Bodies = {
  '800,000 keys': `{${many(800_000, i => `"k${i}":0`, ',')}}`,
  'nested lists': nested('[', ']')
}
const OTHER_JSON: Bodies = {
  'a list of 5,000,000 values': filled('{"name":[', '0,', '0]}'),
  'nested objects': nested('{"a":', '}'),
  'lists that are never closed': filled('', '['),
  'a text of quotation marks': filled('{"name":"', '\\"', '"}'),
  'a text of escapes': filled('{"id":"', '\\u0022', '"}'),
  'a text that is never closed': filled('{"name":"', 'a'),
  'a number of 10,000,000 digits': filled('{"name":', '9', '}'),
  spaces: filled('{"name":"a"', ' ', '}'),
  '900 keys that are forbidden': `{${many(900, () => `"__proto__"${' '.repeat(11_000)}:0`, ',')}}`,
  '900 texts of escapes': `{"name":[${many(900, () => `"${'\\u00e9'.repeat(1_800)}"`, ',')}]}`,
  'a text that is no UTF-8': filled('{"name":"', '\xff', '"}')
}

interface Hostile {
  readonly title: string
  readonly request: Buffer
}

const hostileRequest = (path: string, headers: Headers, [name, body]: readonly [string, string]): Hostile => {
  const head = requestText('POST', path, { ...headers, 'content-length': String(body.length) })
  return { title: `${path}, ${name}`, request: Buffer.from(head + body, 'latin1') }
}

interface Rate {
  readonly aSecond: number
  /** A second of processor time that the service got: a busy machine does not change this rate. */
  readonly aLoopSecond: number
}

const createStage = async (t: Test) => {
  const service = await serveDatabase(t)
  const { url } = service
  const { headers } = await service.logIn()
  await ask(`${url}/heroes`, { headers, body: { name: 'the first' } })
  const read = requestText('GET', '/heroes/1', headers)
  const readers = flood(url, { connections: READERS, pipelined: 1, next: () => read })
  t.teardown(() => readers.stop())

  /** How many reads are answered until `until` resolves. */
  const countReads = async (until: Promise<unknown>): Promise<Rate> => {
    readers.take()
    const startedAt = performance.now()
    const before = loopSeconds(service)
    await until
    const answers = readers.take()
    const bad = Object.keys(statuses(answers)).filter(status => status !== '200')
    if (bad.length > 0) throw new Error(`reads are answered ${bad}`)
    return {
      aSecond: (answers.length / (performance.now() - startedAt)) * 1000,
      aLoopSecond: answers.length / (loopSeconds(service) - before)
    }
  }

  /** Asks for `/health/live` again and again. The function that it returns resolves to the longest answer, in seconds. */
  const watchHealth = (): (() => Promise<number>) => {
    let stopped = false
    let longest = 0
    const agent = keptConnection()
    const watching = (async () => {
      while (!stopped) {
        const { status, seconds } = await ask(`${url}/health/live`, { agent })
        if (status !== 200) throw new Error(`health is ${status}`)
        longest = Math.max(longest, seconds)
        await sleep(5)
      }
      agent.destroy()
    })()
    return async () => {
      stopped = true
      await watching
      return longest
    }
  }

  /** Opens a connection that sends each of the requests in turn, once the one before is answered. */
  const send = (requests: readonly Hostile[]) => {
    const { hostname: host, port } = new URL(url)
    const answers: number[] = []
    const { given: answered, give } = signal()
    let next = 0
    let socket: Socket | undefined
    const open = (): void => {
      const opened = connect({ host, port: Number(port) })
      socket = opened
      const ask = (): void => {
        const hostile = requests[next++ % requests.length]
        if (hostile) opened.write(hostile.request)
      }
      opened.on('connect', ask)
      opened.setEncoding('latin1').on('data', (text: string) => {
        const found = statusesIn(text)
        answers.push(...found)
        if (found.length === 0) return
        give()
        ask()
      })
      // The service ends connections whose body it does not read.
      opened.on('error', () => {})
      opened.on('close', () => {
        if (socket === opened) open()
      })
    }
    open()
    return {
      answers,
      /** Resolves with the first answer. */
      answered,
      stop() {
        const last = socket
        socket = undefined
        last?.destroy()
      }
    }
  }

  await countReads(sleep(1500))
  forgetPeak(service)
  const before = residentMemory(service).present
  const growth = (): number => residentMemory(service).peak - before
  return { ...service, headers, countReads, watchHealth, send, growth }
}

const inMegabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed()} MB`

/** Judges what is measured, and measures again where it is not within its bounds: another program may have had the processor. */
const judge = async (t: Test, measure: () => Promise<readonly [isWithin: boolean, told: string]>): Promise<void> => {
  let measured = await measure()
  for (let more = 0; more < MOST_AGAIN && !measured[0]; more++) measured = await measure()
  t.ok(...measured)
}

t.test('no hostile body holds up others, whatever it is and however often it comes', async t => {
  const { headers, countReads, watchHealth, send, growth } = await createStage(t)
  const page = FORM_TYPE
  const token = { ...FORM_TYPE, ...basic('app') }
  const heroes = { ...JSON_TYPE, ...headers }
  const hostile = [
    ...Object.entries({ ...WORST_FORMS, ...OTHER_FORMS }).map(body => hostileRequest('/auth/code', page, body)),
    ...Object.entries(WORST_FORMS).map(body => hostileRequest('/auth/token', token, body)),
    hostileRequest('/account', page, ['logins to end with spaces', many(600, () => `end=${'a+'.repeat(8_000)}`, '&')]),
    ...Object.entries({ ...WORST_JSON, ...OTHER_JSON }).map(body => hostileRequest('/heroes', heroes, body)),
    ...Object.entries(WORST_JSON).map(body => hostileRequest('/register', JSON_TYPE, body)),
    hostileRequest('/heroes', JSON_TYPE, ['without a token', filled('', '[')]),
    hostileRequest('/nothing', JSON_TYPE, ['which is no path', filled('', '[')]),
    { title: 'what is no HTTP', request: Buffer.from(filled('nonsense\r\n\r\n', 'a')) },
    { title: 'a tunnel', request: Buffer.from(filled('CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n', 'a')) }
  ]
  const measure = async (one: Hostile): Promise<readonly [boolean, string]> => {
    const control = await countReads(sleep(CONTROL_MILLISECONDS))
    const health = watchHealth()
    const sending = send([one])
    const during = await countReads(Promise.all([sleep(HOSTILE_MILLISECONDS), sending.answered]))
    const longest = await health()
    sending.stop()
    const found = new Set(sending.answers)
    const share = during.aLoopSecond / control.aLoopSecond
    const told = `${one.title}: ${[...found]}, reads keep ${share.toFixed(2)}, health takes ${longest} s`
    const byClock = during.aSecond / control.aSecond
    t.comment(`${told}; ${byClock.toFixed(2)} by the clock, ${inMegabytes(growth())} more`)
    t.ok(
      [...found].every(status => status < 500),
      told
    )
    return [longest <= LONGEST_SECONDS && share >= LEAST_KEPT, told]
  }
  for (const one of hostile) await judge(t, () => measure(one))
  const grown = growth()
  t.ok(grown < MOST_GROWTH, `the memory has grown by ${inMegabytes(grown)}`)
})

t.test('a connection on which requests come without end holds up nobody', async t => {
  const { url, countReads, watchHealth, growth } = await createStage(t)
  const one = requestText('GET', '/nothing', {})
  const measure = async (pipelined: number): Promise<readonly [boolean, string]> => {
    const control = await countReads(sleep(500))
    const health = watchHealth()
    const requests = flood(url, { connections: 1, pipelined, next: () => one })
    const during = await countReads(sleep(1000))
    const longest = await health()
    const found = new Set(requests.take().map(({ status }) => status))
    requests.stop()
    const share = during.aLoopSecond / control.aLoopSecond
    const told = `${pipelined} at a time: ${[...found]}, reads keep ${share.toFixed(2)}, health takes ${longest} s`
    t.comment(`${told}; ${inMegabytes(growth())} more`)
    t.strictSame([...found], [404], told)
    return [longest <= LONGEST_SECONDS && share >= LEAST_KEPT_BESIDE_REQUESTS, told]
  }
  for (const pipelined of [100, 2000]) await judge(t, () => measure(pipelined))
})

t.test(
  'bodies that are kept one byte short take no more than BODY_MEMORY, and hold up nobody when they end',
  async t => {
    const { url, headers, countReads, watchHealth, growth } = await createStage(t)
    const bodies = [
      hostileRequest('/auth/code', FORM_TYPE, ['a form', filled('username=', '"')]),
      hostileRequest('/auth/token', { ...FORM_TYPE, ...basic('app') }, ['a form', filled('username=', '+')]),
      hostileRequest('/register', JSON_TYPE, ['JSON', filled('{"username":"', '\\"', '"}')]),
      hostileRequest('/heroes', { ...JSON_TYPE, ...headers }, ['JSON', filled('{"name":"', '\\"', '"}')])
    ]
    const measure = async (): Promise<readonly [boolean, string]> => {
      const control = await countReads(sleep(1000))
      const health = watchHealth()
      const connections = Array.from({ length: WITHHELD }, (_, index) => {
        const { request } = bodies[index % bodies.length] ?? { request: Buffer.alloc(0) }
        const { socket, received } = dial(url)
        socket.on('error', () => {})
        return { socket, received, request }
      })
      const written = connections.map(async ({ socket, request }) => {
        await once(socket, 'connect')
        await Promise.race([
          new Promise(resolve => socket.write(request.subarray(0, -1), resolve)),
          once(socket, 'close')
        ])
      })
      const arriving = await countReads(Promise.all(written))
      const refused = connections.filter(({ received }) => received() !== '')
      t.ok(refused.every(({ received }) => statusesIn(received()).join() === '503'))
      const held = connections.filter(({ received }) => received() === '')
      t.comment(`${held.length} bodies are held, ${refused.length} are refused, ${inMegabytes(growth())} more`)
      t.ok(held.length > 20 && held.length * SIZE <= BODY_MEMORY, `${held.length} bodies are held`)

      const answered = held.map(async ({ socket, received, request }) => {
        socket.write(request.subarray(-1))
        while (received() === '') await sleep(10)
        socket.destroy()
        return statusesIn(received())[0]
      })
      const decoding = await countReads(Promise.all(answered))
      const found = new Set(await Promise.all(answered))
      const longest = await health()
      const kept = (rate: Rate): string => (rate.aLoopSecond / control.aLoopSecond).toFixed(2)
      t.strictSame([...found], [400])
      const told = `reads keep ${kept(arriving)} as they arrive and ${kept(decoding)} as they are decoded, health takes ${longest} s`
      return [longest <= LONGEST_SECONDS && Number(kept(arriving)) >= LEAST_KEPT, told]
    }
    await judge(t, measure)
    t.ok(growth() < MOST_GROWTH, `the memory has grown by ${inMegabytes(growth())}`)
  }
)
