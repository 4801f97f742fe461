import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { jsonRoutes } from '../../../app/http/bodies/json.js'
import { type Connection, connectionOf } from '../../../app/http/protocol/connections.js'
import { DomainError } from '../../../core/index.js'
import { CONSTANT_HEADERS, createTestHttp, listen } from '../../support/http.js'
import { recordLog } from '../../support/recorded-log.js'
import { createSampleHttp, createSlowHttp, getSlow, postSlow } from '../../support/sample-routes.js'
import { signal, turns } from '../../support/waiting.js'
import { dial, dialOpen, JSON_TYPE, readAnswer, requestText, statusesIn } from '../../support/wire.js'

const http = createSampleHttp()
const send = await listen(http)
t.teardown(() => http.close())

/** The head of a POST whose body comes in chunks. */
const chunkedPost = (url: string, type = JSON_TYPE['content-type']): string =>
  `POST ${url} HTTP/1.1\r\nhost: a\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n`
const CONNECT = 'CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n'

const MALFORMED: readonly (readonly [text: string, status: number])[] = [
  ['nonsense\r\n\r\n', 400],
  ['nonsense\r\n\r\nGET /sample HTTP/1.1\r\nhost: a\r\n\r\n', 400],
  [`GET /sample HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(40_000)}\r\n\r\n`, 431],
  [CONNECT, 404]
]

t.test('wire 1.11: something malformed is refused and ends the connection where nothing is unanswered', async t => {
  for (const [text, status] of MALFORMED) {
    t.strictSame(statusesIn(await send(text)), [status], text.slice(0, 40))
    const { socket, received, closed } = dial(http.listeningOrigin)
    socket.once('data', () => socket.write(text))
    socket.write('GET /sample HTTP/1.1\r\nhost: a\r\n\r\n')
    t.strictSame(statusesIn(await closed), [200, status], text.slice(0, 40))
    const last = readAnswer(received().slice(received().lastIndexOf('HTTP/1.1')))
    t.match(last.headers, { ...CONSTANT_HEADERS, connection: 'close' })
  }
})

t.test('wire 1.11: the connection ends with the answers to the requests before something malformed', async t => {
  for (const [text] of MALFORMED) {
    const { http, arrived, answer, names } = createSlowHttp()
    const send = await listen(http)
    const closed = send(getSlow('one') + postSlow('two') + text)
    await arrived
    await turns(1)
    answer()
    const received = await closed
    t.strictSame(statusesIn(received), [200, 200], text.slice(0, 40))
    t.match(received, /\{"name":"one"\}HTTP.*connection: close.*\{"name":"two"\}$/is)
    t.strictSame(names, ['one', 'two'])
    await http.close()
  }
})

t.test('a client that ends its side of the connection behind garbage reads the answers before it', async t => {
  const { http, arrived, answer } = createSlowHttp()
  await http.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => http.close())
  const { socket, closed } = dial(http.listeningOrigin, { allowHalfOpen: true })
  socket.end(`${getSlow('one')}nonsense\r\n\r\n`)
  await arrived
  // No event tells that the server has read the end of what the client sends, for which ten turns are enough.
  await turns(10)
  answer()
  t.strictSame(statusesIn(await closed), [200])
})

t.test('what still arrives where nothing more can be read is read in pieces', async t => {
  const accepted = new Promise<Socket>(resolve => http.server.once('connection', resolve))
  const { socket, closed } = dial(http.listeningOrigin, { allowHalfOpen: true })
  socket.end(`nonsense\r\n\r\n${'a'.repeat(2_000_000)}`)
  const connection = await accepted
  let pauses = 0
  connection.on('pause', () => {
    pauses += 1
  })
  t.strictSame(statusesIn(await closed), [400])
  await once(connection, 'close')
  t.ok(pauses > 5, `${pauses} pauses`)
})

t.test('a malformed body gets no second answer when its request has been answered', async t => {
  for (const [request, status] of [
    [chunkedPost('/sample/protected'), 401],
    [chunkedPost('/nothing'), 404],
    [chunkedPost('/sample', 'text/plain'), 415]
  ] as const) {
    t.strictSame(statusesIn(await send(`${request}zz\r\n`)), [status], 'in one packet')
    const { http: slow, answer } = createSlowHttp()
    const sendSlow = await listen(slow)
    const behind = sendSlow(`${getSlow('one')}${request}`, 'zz\r\n')
    await turns(1)
    answer()
    t.strictSame(statusesIn(await behind), [200, status], 'behind a request that waits')
    await slow.close()
    const { socket, closed } = dial(http.listeningOrigin)
    socket.once('data', () => socket.write('zz\r\n'))
    socket.write(request)
    t.strictSame(statusesIn(await closed), [status], 'in a packet that is sent after the answer')
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
      const closed = send(`${chunkedPost('/')}zz\r\n`)
      await new Promise(resolve => protecting.server.once('clientError', resolve))
      checked.give()
      const received = await closed
      t.strictSame(statusesIn(received), [status])
      t.match(readAnswer(received).headers, { connection: 'close' })
      await protecting.close()
    }
  }
)

t.test('a body that breaks off is refused, though a request before it has begun to be read later', async t => {
  const checked = signal()
  const http = createTestHttp()
  http.register(
    jsonRoutes(http => {
      http.post('/first', { onRequest: () => checked.given }, async () => 'first')
      http.post('/second', async () => t.fail('it is never handled'))
    })
  )
  await http.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => http.close())
  const { socket, closed } = dial(http.listeningOrigin)
  const first = new Promise(resolve => socket.once('data', resolve))
  socket.write(`${requestText('POST', '/first', JSON_TYPE, '{}')}${chunkedPost('/second')}`)
  // The second one is begun to be read meanwhile, for which ten turns are enough.
  await turns(10)
  checked.give()
  await first
  socket.write('zz\r\n')
  t.strictSame(statusesIn(await closed), [200, 400])
})

t.test('a client that goes on sending garbage reads its answer, and is cut off in the end', async t => {
  const { socket, received } = dial(http.listeningOrigin, { allowHalfOpen: true })
  socket.write('nonsense\r\n\r\n')
  const sending = setInterval(() => socket.write('more nonsense'), 10)
  t.teardown(() => clearInterval(sending))
  await new Promise(resolve => socket.once('close', resolve))
  t.strictSame(statusesIn(received()), [400])
})

t.test('a client that is still sending its malformed body, or garbage behind a request, is not reset', async t => {
  for (const [text, status] of [
    [`${chunkedPost('/sample')}zz\r\n`, 400],
    ['GET /sample HTTP/1.1\r\nhost: a\r\n\r\nnonsense\r\n\r\n', 200]
  ] as const) {
    const { socket, received } = dial(http.listeningOrigin, { allowHalfOpen: true })
    const errors: Error[] = []
    socket.on('error', error => errors.push(error))
    const closed = new Promise(resolve => socket.once('close', resolve))
    const ended = new Promise(resolve => socket.once('end', resolve))
    socket.write(text)
    await ended
    for (let packet = 0; packet < 5; packet++) {
      await new Promise(resolve => socket.write('more of it', resolve))
      await turns(3)
    }
    socket.end()
    await closed
    t.strictSame(statusesIn(received()), [status])
    t.strictSame(errors, [])
  }
})

t.test('a connection whose body is malformed ends, although its client keeps it open', async t => {
  for (const [head, status] of [
    [chunkedPost('/sample'), 400],
    [chunkedPost('/missing'), 404]
  ] as const) {
    const accepted = new Promise<Socket>(resolve => http.server.once('connection', resolve))
    const { socket, received } = dial(http.listeningOrigin, { allowHalfOpen: true })
    t.teardown(() => socket.destroy())
    socket.write(`${head}zz\r\n`)
    const connection = await accepted
    await new Promise(resolve => connection.once('close', resolve))
    t.strictSame(statusesIn(received()), [status])
  }
})

t.test('wire 1.11: something malformed that comes while an answer is being sent takes nothing from it', async t => {
  const http = createSampleHttp()
  const long = 'a'.repeat(20_000_000)
  http.get('/long', async () => long)
  await http.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => http.close())
  const { socket, closed } = dial(http.listeningOrigin)
  socket.write(requestText('GET', '/long', {}))
  await once(socket, 'data')
  socket.pause()
  const refused = once(http.server, 'clientError')
  socket.write('nonsense\r\n\r\n')
  await refused
  socket.resume()
  const received = await closed
  t.strictSame(statusesIn(received), [200])
  t.equal(received.length, received.indexOf('\r\n\r\n') + 4 + long.length)
})

t.test('the connection of a CONNECT request may be reset', async t => {
  const connections: Socket[] = []
  const { http, arrived, answer } = createSlowHttp()
  http.server.on('connection', connection => connections.push(connection))
  const send = await listen(http)
  t.teardown(() => http.close())
  const received = send(getSlow('one') + CONNECT)
  await arrived
  connections.at(-1)?.destroy(new Error('reset'))
  t.equal(await received, '')
  answer()
})

t.test(
  'a connection ends with the answer to a request for another protocol, and what follows it is not served',
  async t => {
    for (const [packets, shutsDown] of [
      [1, false],
      [2, false],
      [2, true]
    ]) {
      const { http, arrived, answer, names } = createSlowHttp()
      await http.listen({ host: '127.0.0.1', port: 0 })
      const { socket, closed } = dial(http.listeningOrigin)
      const upgrade = getSlow('one').replace('host: a', 'host: a\r\nconnection: upgrade\r\nupgrade: h2c')
      socket.write(packets === 1 ? upgrade + postSlow('lost') : upgrade)
      await arrived
      if (packets === 2) socket.write(postSlow('lost'))
      await turns(20)
      const ended = shutsDown && http.close()
      await turns(1)
      answer()
      const received = await closed
      t.strictSame(statusesIn(received), [200])
      t.match(readAnswer(received).headers, { connection: 'close' })
      t.strictSame(names, ['one'])
      await (ended || http.close())
    }
  }
)

t.test('a connection that stays open keeps nothing of a request that is answered', async t => {
  const { http, arrived, answer } = createSlowHttp()
  let connection: Connection | undefined
  http.server.on('connection', socket => {
    connection = connectionOf(socket)
  })
  await http.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => http.close())
  const { socket, received } = dial(http.listeningOrigin)
  const two = postSlow('two')
  socket.write(getSlow('one') + two.slice(0, -1))
  await arrived
  while (connection?.reading === undefined) await turns(1)
  t.ok(connection.latest, 'while its answer is awaited, it is known')
  socket.write(two.slice(-1))
  answer()
  while (!received().includes('"two"')) await once(socket, 'data')
  await turns(10)
  t.strictSame([connection.latest, connection.reading], [undefined, undefined])
  socket.destroy()
})

t.test('a server that closes answers every request, and ends a connection with the last of its answers', async t => {
  const { http, arrived, answer } = createSlowHttp()
  const send = await listen(http)
  const received = send(getSlow('one') + getSlow('two'))
  await arrived
  const closed = http.close()
  await turns(1)
  answer()
  const [, first = '', second = ''] = (await received).split('HTTP/1.1 ')
  t.match(first, /^200 .*\{"name":"one"\}$/s)
  t.notMatch(first, /connection: close/i)
  t.match(second, /^200 .*connection: close.*\{"name":"two"\}$/is)
  await closed
})

t.test('a server that closes tells the client of a request under way to close the connection', async t => {
  const { http, arrived, answer } = createSlowHttp()
  const send = await listen(http)
  const received = send(getSlow('one'))
  await arrived
  const closed = http.close()
  await turns(1)
  answer()
  t.match(readAnswer(await received), { status: 200, headers: { connection: 'close' }, body: '{"name":"one"}' })
  await closed
})

t.test('wire 1.11: what the parser refuses and CONNECT are told once, with the status and the address', async t => {
  const told: unknown[] = []
  const http = createSampleHttp({ onUnparsed: refusal => told.push(refusal) })
  const send = await listen(http)
  t.teardown(() => http.close())
  const refused = (status: number) => [{ status, address: '127.0.0.1' }]
  for (const [text, status] of MALFORMED) {
    await send(text)
    t.strictSame(told.splice(0), refused(status), text.slice(0, 40))
    await send('GET /sample HTTP/1.1\r\nhost: a\r\n\r\n', text)
    t.strictSame(told.splice(0), refused(status), 'behind a request')
  }
  const { socket, closed } = dial(http.listeningOrigin)
  socket.write(`${chunkedPost('/missing')}1\r\nx`)
  await once(socket, 'data')
  socket.write('zz\r\n')
  t.strictSame(statusesIn(await closed), [404])
  t.strictSame(told.splice(0), refused(400), 'in the body of a request that was answered before')
  t.strictSame(statusesIn(await send(`${chunkedPost('/sample')}zz\r\n`)), [400])
  const leaving = await dialOpen(http.listeningOrigin)
  const noticed = once(http.server, 'clientError')
  leaving.socket.resetAndDestroy()
  await noticed
  t.strictSame(told, [], 'a request that gets the refusal as its answer has a line of its own, and a reset has none')
})

t.test('wire 1.11: a request that does not arrive in time is told as 408, with the address that counts', async t => {
  const told: unknown[] = []
  const http = createSampleHttp({ onUnparsed: refusal => told.push(refusal) })
  http.server.headersTimeout = 1
  http.server.requestTimeout = 1
  http.server.on('connection', socket => Object.defineProperty(socket, 'remoteAddress', { value: '2001:db8::1' }))
  const send = await listen(http)
  t.teardown(() => http.close())
  t.strictSame(statusesIn(await send('GET /sample')), [408])
  t.strictSame(told, [{ status: 408, address: '2001:db8:0:0::/64' }])
})

t.test('wire 1.13: a process takes 10,000 connections, and whoever comes beyond them is closed at once', async t => {
  t.equal(createSampleHttp().server.maxConnections, 10_000)
  const full = createSampleHttp({ maxConnections: 2 })
  t.teardown(() => full.close())
  const send = await listen(full)
  const open = () => connect(Number(new URL(full.listeningOrigin).port), '127.0.0.1')
  const request = 'GET /sample HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'
  const [first, second] = [open(), open()]
  await Promise.all([first, second].map(socket => new Promise(resolve => socket.once('connect', resolve))))
  const dropped = open().on('error', () => {})
  t.equal(await text(dropped).catch(() => ''), '')
  const answer = text(first)
  first.write(request)
  t.strictSame(statusesIn(await answer), [200], 'those that were taken are served')
  t.strictSame(statusesIn(await send(request)), [200], 'and their places are free again')
  second.destroy()
})

t.test(
  'wire 1.13: connections beyond the bound are warned of at once, and then once a minute with their number',
  async t => {
    const { log, take } = recordLog('warn')
    const { server } = createSampleHttp({ log, maxConnections: 2 })
    let passMinute = () => {}
    const value = (work: () => void, milliseconds: number) => {
      t.equal(milliseconds, 60_000)
      passMinute = work
      return { unref: () => {} }
    }
    t.intercept(globalThis, 'setTimeout', { value })
    const drop = (count: number) => {
      for (let i = 0; i < count; i++) server.emit('drop')
      return take().map(({ closed, maxConnections }) => [closed, maxConnections])
    }
    t.strictSame(drop(3), [[1, 2]])
    passMinute()
    t.strictSame(drop(4), [[2, 2]], 'those of the minute')
    passMinute()
    t.strictSame(drop(0), [[4, 2]])
    passMinute()
    t.strictSame(drop(0), [], 'nothing where there were none')
    t.strictSame(drop(1), [[1, 2]], 'the next is warned of at once')
  }
)
