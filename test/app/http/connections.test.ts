import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import t from 'tap'
import { formRoutes, jsonRoutes } from '../../../app/http/bodies.js'
import { healthRoutes } from '../../../app/http/routes/health.js'
import { createLog } from '../../../app/serve/log.js'
import { DomainError } from '../../../core/index.js'
import { createTestHttp, listen, signal } from '../../support/http.js'
import { addRoutes, constant, form, json, read } from '../../support/sample-routes.js'

const http = addRoutes(createTestHttp())
const send = await listen(http)
t.teardown(() => http.close())

/** A server whose `POST /slow` answers with the name that it was sent, and `GET /slow/:name` with that, once it is told to. */
const createSlow = (answerMilliseconds?: number) => {
  const slow = addRoutes(createTestHttp({ answerMilliseconds }))
  const arrived = signal()
  const answered = signal()
  const names: string[] = []
  const answer = async (name: string) => {
    names.push(name)
    arrived.give()
    await answered.given
    return { name }
  }
  slow.get<{ Params: { name: string } }>('/slow/:name', ({ params }) => answer(params.name))
  slow.register(
    jsonRoutes(http => {
      http.post('/slow', { schema: { body: Type.Object({ name: Type.String() }) } }, ({ body }) => answer(body.name))
    })
  )
  return { slow, arrived, answered, names }
}
const getSlow = (name: string) => `GET /slow/${name} HTTP/1.1\r\nhost: a\r\n\r\n`
const postSlow = (name: string) => {
  const body = JSON.stringify({ name })
  const type = `content-type: ${json['content-type']}`
  return `POST /slow HTTP/1.1\r\nhost: a\r\n${type}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}
const statuses = (received: string) =>
  [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))

t.test('a request that is not answered in time is 503, and what its handler says later is dropped', async t => {
  const lines: string[] = []
  const log = createLog('info', { write: line => lines.push(line) })
  const late = addRoutes(createTestHttp({ answerMilliseconds: 50, log }))
  const goOn = signal()
  const settled: Promise<unknown>[] = []
  const wait = async () => {
    await goOn.given
  }
  const slow = async (_request: FastifyRequest, reply: FastifyReply) => {
    const done = goOn.given.then(() => {
      reply.code(201).header('location', '/late')
      return { late: true }
    })
    settled.push(done)
    return done
  }
  const failing = async () => {
    const done = goOn.given.then(() => {
      throw new Error('too late')
    })
    settled.push(done.catch(() => {}))
    return done
  }
  late.get('/checked', { onRequest: wait }, async () => t.fail('it is never handled'))
  const config = { whenLate: 'ask for less' }
  late.get('/list', { config }, slow)
  late.get('/auth/late', { config: { errorForm: 'oauth' } }, failing)
  late.register(
    jsonRoutes(http => {
      http.post('/json', failing)
      http.post('/checked', { onRequest: wait }, async () => t.fail('it is never handled'))
    })
  )
  late.register(formRoutes('page', http => http.put('/auth/code', slow)))
  const send = await listen(late)
  t.teardown(() => late.close())
  const post = (head: string, body: string) =>
    `${head} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: ${body.length}\r\n`
  const tooLong = { error: 'the answer took too long' }
  const answers = await Promise.all([
    send('GET /checked HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'),
    send('GET /list HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'),
    send('HEAD /list HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'),
    send('GET /auth/late HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'),
    send(`${post('POST /json', '{}')}content-type: application/json\r\n\r\n`, '{}'),
    send(`${post('POST /checked', '{}')}content-type: application/json\r\n\r\n{}`),
    send(`${post('PUT /auth/code', 'a=1')}content-type: ${form['content-type']}\r\n\r\na=1`)
  ])
  goOn.give()
  await Promise.all(settled)
  for (const answer of answers) {
    t.strictSame(statuses(answer), [503])
    t.match(read(answer).headers, { ...constant, 'retry-after': '1' })
    t.notMatch(read(answer).headers, { location: String })
  }
  const [checked, list, head, auth, sent, held, page] = answers.map(answer => read(answer))
  t.same(
    [checked, sent, held].map(answer => JSON.parse(String(answer?.body))),
    [tooLong, tooLong, tooLong]
  )
  t.same(JSON.parse(String(list?.body)), { error: 'the answer took too long: ask for less' })
  t.equal(head?.body, '')
  t.match(auth, {
    headers: { 'cache-control': 'no-store', pragma: 'no-cache' },
    body: '{"error":"temporarily_unavailable","error_description":"the answer took too long"}'
  })
  t.match(page, { headers: { 'content-type': 'text/html; charset=utf-8' }, body: /^<p>503 / })
  const logged = lines.map(line => JSON.parse(line))
  t.equal(logged.filter(({ level, status }) => level === 30 && status === 503).length, answers.length)
  t.equal(logged.filter(({ level, msg }) => level === 50 && msg === 'a request failed').length, answers.length)
  t.equal(logged.length, 2 * answers.length)
})

t.test('/health/ready is 503 when its check takes too long, and /health/live asks nobody', async t => {
  const health = createTestHttp()
  const checked = signal()
  healthRoutes(health, () => checked.given, 20)
  const late = await health.inject('/health/ready')
  t.match(late, { statusCode: 503, headers: { 'retry-after': '1' } })
  t.same(late.json(), { error: 'the database takes too long to answer' })
  t.same((await health.inject('/health/live')).json(), { status: 'live' })
  checked.give()
  t.same((await health.inject('/health/ready')).json(), { status: 'ready' })
})

t.test('the time in which a body arrives is not the service’s', async t => {
  const { slow, arrived, answered } = createSlow(50)
  const others = signal()
  slow.get('/never', () => others.given)
  const send = await listen(slow)
  t.teardown(() => slow.close())
  const socket = connect(Number(new URL(slow.listeningOrigin).port), '127.0.0.1')
  const received = text(socket)
  const whole = postSlow('one').replace('host: a', 'host: a\r\nconnection: close')
  socket.write(whole.slice(0, -1))
  // Whoever came later has had his time by then.
  for (let turn = 0; turn < 3; turn++) {
    t.strictSame(statuses(await send('GET /never HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')), [503])
  }
  socket.write(whole.slice(-1))
  await arrived.given
  t.match(await received, /^HTTP\/1\.1 503 /, 'and begins with its end')
  answered.give()
  others.give()
})

t.test('a client that has left by the end of the time is not answered, and no failure is logged', async t => {
  const lines: string[] = []
  const left = createTestHttp({ answerMilliseconds: 50, log: createLog('error', { write: line => lines.push(line) }) })
  const never = signal()
  const arrived = signal()
  left.get('/never', () => {
    arrived.give()
    return never.given
  })
  const send = await listen(left)
  t.teardown(() => left.close())
  const socket = connect(Number(new URL(left.listeningOrigin).port), '127.0.0.1')
  socket.write('GET /never HTTP/1.1\r\nhost: a\r\n\r\n')
  await arrived.given
  socket.destroy()
  t.strictSame(statuses(await send('GET /never HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')), [503])
  t.equal(lines.length, 1)
  never.give()
})

t.test('what is sound before something malformed is answered first, and the malformed once', async t => {
  const garbage: [string, number][] = [
    ['nonsense\r\n\r\n', 400],
    ['nonsense\r\n\r\nGET /heroes HTTP/1.1\r\nhost: a\r\n\r\n', 400],
    [`GET /heroes HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(40_000)}\r\n\r\n`, 431],
    ['CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n', 404]
  ]
  for (const [text, status] of garbage) {
    const { slow, arrived, answered, names } = createSlow()
    const send = await listen(slow)
    const received = send(getSlow('one') + postSlow('two') + text)
    await arrived.given
    await new Promise(resolve => setImmediate(resolve))
    answered.give()
    const text2 = await received
    t.strictSame(statuses(text2), [200, 200, status], text.slice(0, 40))
    t.match(text2, /\{"name":"one"\}HTTP.*\{"name":"two"\}HTTP/s)
    t.strictSame(names, ['one', 'two'])
    t.match(read(text2.slice(text2.lastIndexOf('HTTP/1.1'))).headers, { ...constant, connection: 'close' })
    await slow.close()
  }
})

t.test('a client that has nothing more to send reads the answers before its garbage too', async t => {
  const { slow, arrived, answered } = createSlow()
  await slow.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => slow.close())
  const socket = connect({ port: Number(new URL(slow.listeningOrigin).port), host: '127.0.0.1', allowHalfOpen: true })
  const received = text(socket)
  socket.end(`${getSlow('one')}nonsense\r\n\r\n`)
  await arrived.given
  // The end of what the client sends is read after it; the connection tells nobody of it any more.
  for (let turn = 0; turn < 10; turn++) await new Promise(resolve => setImmediate(resolve))
  answered.give()
  t.strictSame(statuses(await received), [200, 400])
})

t.test('what is malformed in the rest of a request that was answered draws no second answer', async t => {
  const head = (url: string, more = '') =>
    `POST ${url} HTTP/1.1\r\nhost: a\r\n${more}transfer-encoding: chunked\r\n\r\n`
  for (const [request, status] of [
    [head('/protected'), 401],
    [head('/nothing'), 404],
    [head('/heroes', 'content-type: text/plain\r\n'), 415]
  ] as const) {
    t.strictSame(statuses(await send(`${request}zz\r\n`)), [status], 'in one packet')
    const { slow, answered } = createSlow()
    const sendSlow = await listen(slow)
    const behind = sendSlow(`${getSlow('one')}${request}`, 'zz\r\n')
    await new Promise(resolve => setImmediate(resolve))
    answered.give()
    t.strictSame(statuses(await behind), [200, status], 'behind a request that waits')
    await slow.close()
    // Its answer is out before the rest comes.
    const socket = connect(Number(new URL(http.listeningOrigin).port), '127.0.0.1')
    const received = text(socket)
    socket.once('data', () => socket.write('zz\r\n'))
    socket.write(request)
    t.strictSame(statuses(await received), [status], 'in a packet of its own')
  }
})

t.test(
  'a request whose body breaks off while its token is checked is refused for its token, or else for its body',
  async t => {
    for (const [error, status] of [
      [new DomainError('token_required', 'no token'), 401],
      [undefined, 400]
    ] as const) {
      const checked = signal()
      const protecting = createTestHttp()
      protecting.register(
        jsonRoutes(http => {
          const check = async () => {
            await checked.given
            if (error) throw error
          }
          http.post('/', { onRequest: check }, async () => t.fail('it is never handled'))
        })
      )
      const send = await listen(protecting)
      const received = send(
        `POST / HTTP/1.1\r\nhost: a\r\ncontent-type: ${json['content-type']}\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n`
      )
      await new Promise(resolve => protecting.server.once('clientError', resolve))
      checked.give()
      const answer = await received
      t.strictSame(statuses(answer), [status])
      t.match(read(answer).headers, { connection: 'close' })
      await protecting.close()
    }
  }
)

t.test('a client that goes on sending what is malformed reads its answers, and is cut off in the end', async t => {
  const socket = connect({ port: Number(new URL(http.listeningOrigin).port), host: '127.0.0.1', allowHalfOpen: true })
  let received = ''
  socket.on('data', data => {
    received += data
  })
  socket.write('nonsense\r\n\r\n')
  const sending = setInterval(() => socket.write('more nonsense'), 10)
  t.teardown(() => clearInterval(sending))
  await new Promise(resolve => socket.on('error', () => {}).once('close', resolve))
  t.strictSame(statuses(received), [400])
})

t.test('a client that is still sending the body that broke off is not reset', async t => {
  const socket = connect({ port: Number(new URL(http.listeningOrigin).port), host: '127.0.0.1', allowHalfOpen: true })
  const errors: Error[] = []
  socket.on('error', error => errors.push(error))
  let received = ''
  socket.on('data', data => {
    received += data
  })
  const closed = new Promise(resolve => socket.once('close', resolve))
  const ended = new Promise(resolve => socket.once('end', resolve))
  const type = `content-type: ${json['content-type']}`
  socket.write(`POST /heroes HTTP/1.1\r\nhost: a\r\n${type}\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n`)
  await ended
  for (let packet = 0; packet < 5; packet++) {
    await new Promise(resolve => socket.write('more of it', resolve))
    for (let turn = 0; turn < 3; turn++) await new Promise(resolve => setImmediate(resolve))
  }
  socket.end()
  await closed
  t.strictSame(statuses(received), [400])
  t.strictSame(errors, [])
})

t.test('a tunnel is refused, and one that is reset or silent harms nothing', async t => {
  const connections: Socket[] = []
  const keep = (connection: Socket) => connections.push(connection)
  http.server.on('connection', keep)
  t.teardown(() => http.server.off('connection', keep))
  t.strictSame(statuses(await send('CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n')), [404])
  for (const end of ['error', 'timeout']) {
    const { slow, arrived, answered } = createSlow()
    slow.server.on('connection', keep)
    const sendSlow = await listen(slow)
    const received = sendSlow(`${getSlow('one')}CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n`)
    await arrived.given
    const connection = connections.at(-1)
    if (end === 'error') connection?.destroy(new Error('reset'))
    else connection?.emit('timeout')
    t.equal(await received, '', end)
    answered.give()
    await slow.close()
  }
})

t.test('what follows a request for another protocol is left to the next connection', async t => {
  for (const packets of [1, 2]) {
    const { slow, arrived, answered, names } = createSlow()
    await slow.listen({ host: '127.0.0.1', port: 0 })
    const socket = connect(Number(new URL(slow.listeningOrigin).port), '127.0.0.1')
    const received = text(socket)
    const upgrade = getSlow('one').replace('host: a', 'host: a\r\nconnection: upgrade\r\nupgrade: h2c')
    socket.write(packets === 1 ? upgrade + postSlow('lost') : upgrade)
    await arrived.given
    if (packets === 2) socket.write(postSlow('lost'))
    for (let turn = 0; turn < 20; turn++) await new Promise(resolve => setImmediate(resolve))
    answered.give()
    const answer = await received
    t.strictSame(statuses(answer), [200])
    t.match(read(answer).headers, { connection: 'close' })
    t.strictSame(names, ['one'])
    await slow.close()
  }
})

t.test(
  'a server that closes answers every request of a connection, and says with the last that it is that',
  async t => {
    const { slow, arrived, answered } = createSlow()
    const send = await listen(slow)
    const received = send(getSlow('one') + getSlow('two'))
    await arrived.given
    const closed = slow.close()
    await new Promise(resolve => setImmediate(resolve))
    answered.give()
    const [, first = '', second = ''] = (await received).split('HTTP/1.1 ')
    t.match(first, /^200 .*\{"name":"one"\}$/s)
    t.notMatch(first, /connection: close/i)
    t.match(second, /^200 .*connection: close.*\{"name":"two"\}$/is)
    await closed
  }
)

t.test('a server that closes tells requests under way to close their connections', async t => {
  const closing = createTestHttp()
  const arrived = signal()
  const answered = signal()
  closing.get('/slow', async () => {
    arrived.give()
    await answered.given
    return { done: true }
  })
  const send = await listen(closing)
  const received = send('GET /slow HTTP/1.1\r\nhost: a\r\n\r\n')
  await arrived.given
  const closed = closing.close()
  await new Promise(resolve => setImmediate(resolve))
  answered.give()
  t.match(read(await received), { status: 200, headers: { connection: 'close' }, body: '{"done":true}' })
  await closed
})
