// The fuzzer of the HTTP service: sends the cases of fuzz-cases.ts over real connections and judges the answers.

import { connect } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { createMemoryStores } from '../../adapters/memory/stores.js'
import { createCase, type FuzzCase } from './fuzz-cases.js'
import { BODY_LIMIT, type Expected } from './fuzz-requests.js'
import { portOf } from './ports.js'
import { basic, createInhabited } from './service.js'

export interface FuzzReport {
  readonly answers: number
  /** What went wrong. Each text names the seed and the case that repeat it. */
  readonly failures: readonly string[]
}

/** How many connections are open at once. */
const WIDTH = 64
/** A connection that is open for so long hangs. */
const HANG_MILLISECONDS = 30_000

/** Runs `count` cases of a seed, from number `first` on, against a service in memory. */
export const fuzz = async (count: number, seed: number, first = 0): Promise<FuzzReport> => {
  const stores = createMemoryStores()
  const service = await createInhabited({ stores, bodyLimit: BODY_LIMIT, policy: { loginAttempts: 0 } })
  for (let id = 1; id <= 5; id++) await stores.heroes.insert({ name: `seed ${id}` })
  const { access_token: token } = await service.login()
  const credentials = { token, basic: String(basic('app').authorization) }
  await service.http.listen({ host: '127.0.0.1', port: 0 })
  const port = portOf(service.http.server)

  const failures: string[] = []
  const unwanted = new Set<string>()
  let answers = 0
  let next = first
  const work = async (): Promise<void> => {
    while (next < first + count) {
      const index = next++
      const fuzzCase = createCase(seed, index, credentials)
      for (const name of fuzzCase.unwanted) unwanted.add(name)
      const { failure, read, received } = await converse(port, fuzzCase)
      answers += read
      if (failure !== undefined) failures.push(describe(seed, index, fuzzCase, failure, received))
    }
  }
  await Promise.all(Array.from({ length: WIDTH }, work))
  await service.http.close()
  for (const { name } of await stores.heroes.list({ nameContains: undefined, after: undefined, limit: undefined })) {
    if (unwanted.has(name)) failures.push(`seed ${seed}: a request that was refused created the hero ${name}`)
  }
  return { answers, failures }
}

const describe = (seed: number, index: number, { packets }: FuzzCase, failure: string, received: string): string =>
  [
    `seed ${seed}, case ${index}: ${failure}`,
    ...packets.map(({ bytes, turns }) => `  after ${turns} turns ${shown(bytes.toString('latin1'))}`),
    `  received ${shown(received)}`
  ].join('\n')

/** A JavaScript text. Long runs of `x` are shortened. */
const shown = (text: string): string =>
  JSON.stringify(text).replace(/x{20,}/g, ({ length }) => `\${'x'.repeat(${length})}`)

interface Conversation {
  /** Undefined when every answer is right. */
  readonly failure: string | undefined
  /** How many answers were read. */
  readonly read: number
  readonly received: string
}

/** Sends the packets of a case, reads until the connection ends, and judges what came. */
const converse = (port: number, fuzzCase: FuzzCase): Promise<Conversation> =>
  new Promise(resolve => {
    let received = ''
    let fault: string | undefined
    let sent = false
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
    const hang = setTimeout(() => {
      fault = 'the connection hangs'
      socket.destroy()
    }, HANG_MILLISECONDS)
    const endWhenAnswered = (): void => {
      if (!sent || fuzzCase.ends || socket.writableEnded) return
      if (judge(received, fuzzCase).read >= fuzzCase.answers.length) socket.end()
    }
    socket.on('data', data => {
      received += data.toString('latin1')
      endWhenAnswered()
    })
    socket.on('end', () => socket.end())
    socket.on('error', error => {
      if (!fuzzCase.mayReset) fault ??= String(error)
    })
    socket.on('close', () => {
      clearTimeout(hang)
      const { failure, read } = judge(received, fuzzCase)
      resolve({ failure: fault ?? failure, read, received })
    })
    const send = async (): Promise<void> => {
      for (const { bytes, turns } of fuzzCase.packets) {
        for (let turn = 0; turn < turns; turn++) await setImmediate()
        if (!socket.writable) return
        socket.write(bytes)
      }
      sent = true
      if (fuzzCase.halfCloses) socket.end()
      endWhenAnswered()
    }
    socket.on('connect', send)
  })

interface Judgement {
  readonly failure: string | undefined
  readonly read: number
}

/** Reads the answers one by one and compares each with what its request may be answered. */
const judge = (received: string, { answers, further }: FuzzCase): Judgement => {
  let rest = received
  let read = 0
  const optional: Expected = { method: 'GET', statuses: further, contains: undefined, continues: false }
  for (const expected of further.length > 0 ? [...answers, optional] : answers) {
    if (rest === '' && expected === optional) break
    const answer = readAnswer(rest, expected)
    if (typeof answer === 'string') return { failure: `answer ${read + 1}: ${answer}`, read }
    rest = answer.rest
    read += 1
  }
  return { failure: rest === '' ? undefined : `no request asked for ${JSON.stringify(rest.slice(0, 200))}`, read }
}

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'

/** The text behind the first answer, or what is wrong with that answer. */
const readAnswer = (received: string, expected: Expected): { readonly rest: string } | string => {
  const text = expected.continues && received.startsWith(CONTINUE) ? received.slice(CONTINUE.length) : received
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd === -1) return text === '' ? 'there is none' : 'it breaks off'
  const head = text.slice(0, headEnd + 2).toLowerCase()
  const status = Number(/^http\/1\.1 (\d{3}) /.exec(head)?.[1])
  if (!expected.statuses.includes(status)) return `the status is ${status} and not ${expected.statuses.join(' or ')}`
  for (const field of ['server: heroes/', 'x-frame-options: sameorigin\r\n', 'x-content-type-options: nosniff\r\n']) {
    if (!head.includes(`\r\n${field}`)) return `it lacks ${field}`
  }
  const lengths = [...head.matchAll(/\r\ncontent-length: (\d+)\r\n/g)]
  if (lengths.length !== 1) return `it has ${lengths.length} lengths`
  const length = expected.method === 'HEAD' ? 0 : Number(lengths[0]?.[1])
  const body = text.slice(headEnd + 4, headEnd + 4 + length)
  if (body.length < length) return 'its body breaks off'
  const { contains } = expected
  if (contains !== undefined && !body.includes(contains) && !head.includes(contains.toLowerCase())) {
    return `it does not say ${contains}`
  }
  return { rest: text.slice(headEnd + 4 + length) }
}
