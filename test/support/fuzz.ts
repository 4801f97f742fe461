import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { createMemoryStores } from '../../adapters/memory/stores.js'
import { BODY_LIMIT, createCase, type Expected, type FuzzCase } from './fuzz-cases.js'
import { basic, createInhabited } from './service.js'

export interface FuzzReport {
  readonly answers: number
  /** What went wrong, each with what repeats it. */
  readonly failures: readonly string[]
}

/** Connections at once. */
const WIDTH = 64
/** A connection of which nothing has been heard for so long hangs. */
const HANG_MILLISECONDS = 30_000

/** Runs `count` cases of a seed, from number `first` on, against a service in memory that listens. */
export const fuzz = async (count: number, seed: number, first = 0): Promise<FuzzReport> => {
  const stores = createMemoryStores()
  const service = await createInhabited({ stores, bodyLimit: BODY_LIMIT, policy: { loginAttempts: 0 } })
  for (let id = 1; id <= 5; id++) await stores.heroes.insert({ name: `seed ${id}` })
  const { access_token: token } = await service.login()
  const inhabitants = { token, basic: String(basic('app').authorization) }
  await service.http.listen({ host: '127.0.0.1', port: 0 })
  const { port } = service.http.server.address() as AddressInfo

  const failures: string[] = []
  const unwanted = new Set<string>()
  let answers = 0
  let next = first
  const work = async (): Promise<void> => {
    while (next < first + count) {
      const index = next++
      const fuzzCase = createCase(seed, index, inhabitants)
      for (const name of fuzzCase.unwanted) unwanted.add(name)
      const { failure, read, received } = await converse(port, fuzzCase)
      answers += read
      if (failure !== undefined) failures.push(describe(seed, index, fuzzCase, failure, received))
    }
  }
  await Promise.all(Array.from({ length: WIDTH }, work))
  await service.http.close()
  for (const { name } of await stores.heroes.list({ nameContains: undefined, after: undefined, limit: undefined })) {
    if (unwanted.has(name)) failures.push(`seed ${seed}: the hero ${name} was made by a request that was refused`)
  }
  return { answers, failures }
}

const describe = (seed: number, index: number, { packets }: FuzzCase, failure: string, received: string): string =>
  [
    `seed ${seed}, case ${index}: ${failure}`,
    ...packets.map(({ bytes, turns }) => `  after ${turns} turns ${shown(bytes.toString('latin1'))}`),
    `  received ${shown(received)}`
  ].join('\n')

/** As a JavaScript text, but for what repeats itself. */
const shown = (text: string): string =>
  JSON.stringify(text).replace(/x{20,}/g, ({ length }) => `\${'x'.repeat(${length})}`)

interface Conversation {
  readonly failure: string | undefined
  /** How many answers came. */
  readonly read: number
  readonly received: string
}

/** Sends a case's packets, reads until the connection's end, and judges what came. */
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

/** Reads the answers one by one and holds each against the request whose turn it is. */
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
  return { failure: rest === '' ? undefined : `nobody asked for ${JSON.stringify(rest.slice(0, 200))}`, read }
}

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'

/** What is left behind one answer, or what is wrong with it. */
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
