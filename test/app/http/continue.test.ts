import t, { type Test } from 'tap'
import type { Http } from '../../../app/http/http.js'
import { CONSTANT_HEADERS } from '../../support/http.js'
import { createSampleHttp, createSlowHttp, getSlow } from '../../support/sample-routes.js'
import { turns } from '../../support/waiting.js'
import { type Connection, dial, FORM_TYPE, JSON_TYPE, readAnswer, requestText, statusesIn } from '../../support/wire.js'

const EXPECT = { expect: '100-Continue' }
const GET = requestText('GET', '/sample', {})
const LAST = requestText('GET', '/sample', { connection: 'close' })
const small = JSON.stringify({ name: 'a' })
const large = small.padEnd(200_000)
const largeForm = Array.from({ length: 20 }, (_, at) => `p${at}=${'1'.repeat(10_000)}`).join('&')
const lengthOf = (body: string) => ({ 'content-length': String(body.length) })
const chunked = { 'transfer-encoding': 'chunked' }
const inChunks = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
const post = (path: string, headers: Readonly<Record<string, string>>) =>
  requestText('POST', path, { ...EXPECT, ...JSON_TYPE, ...headers })

const open = async (t: Pick<Test, 'teardown'>, http: Http): Promise<() => Connection> => {
  await http.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => http.close())
  return () => dial(http.listeningOrigin)
}

/** Resolves to the statuses that have come, once there are as many. */
const statuses = async ({ received }: Connection, count: number): Promise<readonly number[]> => {
  while (statusesIn(received()).length < count) await turns(1)
  return statusesIn(received())
}

t.test('wire 1.14: a client that waits for 100 before it sends its body gets it when the body is read', async t => {
  const connect = await open(t, createSampleHttp({ bodyLimit: 300_000 }))
  const form = { ...FORM_TYPE, ...lengthOf('a=1') }
  for (const [head, body] of [
    [post('/sample', lengthOf(small)), small],
    [post('/sample', lengthOf(large)), large],
    [post('/sample', chunked), inChunks(small)],
    [post('/sample', chunked), inChunks(large)],
    [post('/sample/form', form), 'a=1'],
    [post('/sample/form', { ...form, ...lengthOf(largeForm) }), largeForm]
  ] as const) {
    const client = connect()
    client.socket.write(head)
    t.strictSame(await statuses(client, 1), [100], head)
    client.socket.write(body)
    t.strictSame(await statuses(client, 2), [100, 200])
    client.socket.write(LAST)
    t.strictSame(statusesIn(await client.closed), [100, 200, 200], 'the connection stays open')
  }
  const client = connect()
  client.socket.write(post('/sample', { ...lengthOf(small), connection: 'close' }))
  t.strictSame(await statuses(client, 1), [100])
  client.socket.write(small)
  t.strictSame(statusesIn(await client.closed), [100, 200], 'a client may ask to close')
})

t.test('wire 1.14: a client that does not wait for 100 is served as well', async t => {
  const connect = await open(t, createSampleHttp({ bodyLimit: 300_000 }))
  for (const body of [small, large]) {
    const client = connect()
    client.socket.write(post('/sample', lengthOf(body)) + body + LAST)
    t.strictSame(statusesIn(await client.closed), [100, 200, 200])
  }
})

t.test('wire 1.14: what the head alone decides is refused without 100, and the connection ends', async t => {
  const connect = await open(t, createSampleHttp({ bodyMemory: 100_000, bodyLimit: 150_000 }))
  for (const [head, status] of [
    [post('/nothing', lengthOf(small)), 404],
    [post('/sample', lengthOf(small)).replace('POST', 'PATCH'), 405],
    [post('/sample/protected', lengthOf(small)), 401],
    [post('/sample', { ...lengthOf(small), 'content-type': 'text/plain' }), 415],
    [post('/sample', { ...lengthOf(small), 'content-encoding': 'gzip' }), 415],
    [post('/sample', { 'content-length': '150001' }), 413],
    [post('/sample', { 'content-length': '150000' }), 503],
    [post('/sample', { ...lengthOf(small), host: 'a b' }), 400]
  ] as const) {
    const silent = connect()
    silent.socket.write(head)
    const answer = readAnswer(await silent.closed)
    t.match(answer, { status, headers: { ...CONSTANT_HEADERS, connection: 'close' } }, 'the body never comes')

    const sending = connect()
    sending.socket.write(head)
    await statuses(sending, 1)
    sending.socket.write(small + GET)
    t.strictSame(statusesIn(await sending.closed), [status], 'the body comes behind the answer')

    const hasty = connect()
    hasty.socket.write(head + small + GET)
    t.strictSame(statusesIn(await hasty.closed), [status], 'the body comes with the head')
  }
})

t.test('a request without a body gets no 100', async t => {
  const connect = await open(t, createSampleHttp())
  for (const [request, status] of [
    [requestText('GET', '/sample', EXPECT), 200],
    [post('/sample', lengthOf('')), 400]
  ] as const) {
    const client = connect()
    client.socket.write(request)
    t.match(readAnswer(await client.closed), { status, headers: { connection: 'close' } })
  }
  const old = connect()
  old.socket.write(post('/sample', lengthOf(small)).replace('HTTP/1.1', 'HTTP/1.0') + small)
  t.equal(readAnswer(await old.closed).status, 200, 'nor does one of HTTP/1.0')
})

t.test('a 100 comes behind the answers to the requests before', async t => {
  const { http, answer, arrived } = createSlowHttp()
  const connect = await open(t, http)
  const client = connect()
  client.socket.write(getSlow('one') + post('/sample', lengthOf(small)))
  await arrived
  await turns(10)
  t.equal(client.received(), '')
  answer()
  t.strictSame(await statuses(client, 2), [200, 100])
  t.match(client.received(), /\{"name":"one"\}HTTP\/1\.1 100 Continue\r\n\r\n$/)
  client.socket.write(small + LAST)
  t.strictSame(statusesIn(await client.closed), [200, 100, 200, 200])
})

t.test('a refusal without 100 comes behind the answers to the requests before as well', async t => {
  const { http, answer, arrived } = createSlowHttp()
  const connect = await open(t, http)
  const client = connect()
  client.socket.write(getSlow('one') + post('/sample/protected', lengthOf(small)))
  await arrived
  await turns(10)
  t.equal(client.received(), '')
  answer()
  t.strictSame(statusesIn(await client.closed), [200, 401])
})

t.test('a server that closes still lets a body come that waits for 100', async t => {
  const { http, answer, arrived } = createSlowHttp()
  const connect = await open(t, http)
  const client = connect()
  const body = '{"name":"one"}'
  client.socket.write(post('/slow', lengthOf(body)))
  t.strictSame(await statuses(client, 1), [100])
  const closed = http.close()
  client.socket.write(body)
  await arrived
  answer()
  const received = await client.closed
  t.strictSame(statusesIn(received), [100, 200])
  t.match(received, /connection: close/i)
  await closed
})
