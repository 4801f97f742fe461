import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { formOf, formRoutes } from '../../../app/http/bodies/forms.js'
import { jsonRoutes } from '../../../app/http/bodies/json.js'
import { TIME_LIMITS } from '../../../app/http/protocol/limits.js'
import { buildServer } from '../../../app/http/server.js'
import { CONSTANT_HEADERS, listen } from '../../support/http.js'
import { createSampleHttp } from '../../support/sample-routes.js'
import { FORM_TYPE, JSON_TYPE, readAnswer, statusesIn } from '../../support/wire.js'
import { createWorld } from '../../support/world.js'

const LARGE = 120_000
const LIMIT = 300_000
/** Room for two bodies of {@link LARGE} bytes and not for three. */
const MEMORY = 300_000

const createBounded = async (t: Pick<Test, 'teardown'>, bodyMemory = MEMORY) => {
  const http = createSampleHttp({ bodyLimit: LIMIT, bodyMemory })
  http.register(jsonRoutes(http => http.post('/checked', { onRequest: () => turns(20) }, async () => ({}))))
  http.register(
    formRoutes('page', http => http.post('/page', async request => Object.fromEntries(await formOf(request))))
  )
  http.get('/never', () => new Promise(() => {}))
  const connections = new Set<Socket>()
  http.server.on('connection', socket => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  const allClosed = async (): Promise<void> => {
    while (connections.size > 0) await turns(1)
  }
  const send = await listen(http)
  t.teardown(() => http.close())
  const port = Number(new URL(http.listeningOrigin).port)
  const open = (allowHalfOpen = false): Socket =>
    connect({ port, host: '127.0.0.1', allowHalfOpen }).on('error', () => {})
  /** Sends the head of a large body and its first bytes, and resolves when the server has begun to read it. */
  const begin = async (head = post('/sample')): Promise<Socket> => {
    const socket = open()
    const arrived = new Promise(resolve => http.server.once('request', resolve))
    socket.write(`${head}{`)
    await arrived
    await turns(2)
    return socket
  }
  return { http, send, open, begin, allClosed }
}

const turns = async (count = 10): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise(resolve => setImmediate(resolve))
}

const post = (path: string, more = `content-length: ${LARGE}`, type = JSON_TYPE['content-type']): string =>
  `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: ${type}\r\n${more}\r\n\r\n`
const large = (name = 'a'): string => JSON.stringify({ id: '', name }).padEnd(LARGE)
const chunked = 'transfer-encoding: chunked'
const chunk = (length: number): string => `${length.toString(16)}\r\n${' '.repeat(length)}\r\n`
const small = JSON.stringify({ name: 'small' })
/** The longest body that is not counted. */
const SMALL = 65_536
const postSmall = `${post('/sample', `content-length: ${SMALL}\r\nconnection: close`)}${small.padEnd(SMALL)}`
const closed = (socket: Socket) => new Promise(resolve => socket.once('close', resolve))

t.test('wire 1.6: a large body beyond the memory for large bodies is 503, and its connection ends', async t => {
  const { send, begin } = await createBounded(t)
  const held = [await begin(), await begin()]
  const answer = readAnswer(await send(post('/sample'), large()))
  t.match(answer, { status: 503, headers: { ...CONSTANT_HEADERS, 'retry-after': '1', connection: 'close' } })
  t.same(JSON.parse(answer.body), { error: 'too many large bodies are being read' })
  const oauth = readAnswer(await send(post('/sample/form', undefined, FORM_TYPE['content-type']), large()))
  t.match(oauth, { status: 503, headers: { 'retry-after': '1', 'cache-control': 'no-store' } })
  t.equal(JSON.parse(oauth.body).error, 'temporarily_unavailable')
  const page = readAnswer(await send(post('/page', undefined, FORM_TYPE['content-type']), large()))
  t.match(page, { status: 503, headers: { 'x-page': 'yes' } })

  t.equal(readAnswer(await send(postSmall)).status, 200, 'a small body is read all the same')
  const received = text(held[0] as Socket)
  held[0]?.write(`${large().slice(1)}GET /nothing HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`)
  t.match(readAnswer(await received), { status: 200 }, 'and so is what was begun')
  t.match(readAnswer(await send(post('/sample', `content-length: ${LARGE}\r\nconnection: close`), large())), {
    status: 200
  })
  held[1]?.destroy()
})

t.test('the other refusals come before that one', async t => {
  const { send, begin } = await createBounded(t)
  const held = [await begin(), await begin()]
  const close = `content-length: ${LARGE}\r\nconnection: close`
  t.equal(readAnswer(await send(post('/nothing', close), large())).status, 404)
  t.equal(readAnswer(await send(post('/sample', close).replace('POST', 'PATCH'), large())).status, 405)
  t.equal(readAnswer(await send(post('/sample/protected', close), large())).status, 401)
  t.equal(readAnswer(await send(post('/sample', close, 'text/plain'), large())).status, 415)
  const typed = await send(post('/page', close, 'text/plain'), large())
  t.match(readAnswer(typed), { status: 400, body: 'send application/x-www-form-urlencoded' })
  t.equal(readAnswer(await send(post('/sample', `content-encoding: br\r\n${close}`), large())).status, 415)
  t.equal(
    readAnswer(await send(post('/sample', `content-length: ${LIMIT + 1}\r\nconnection: close`), large())).status,
    413
  )
  for (const socket of held) socket.destroy()
})

t.test('no number of headers before the one of its length hides a body', async t => {
  const { send, begin } = await createBounded(t)
  const held = [await begin(), await begin()]
  const many = 'a:\r\n'.repeat(2100)
  for (const length of [`content-length: ${LARGE}`, chunked]) {
    const request = `POST /sample HTTP/1.1\r\n${many}host: a\r\ncontent-type: application/json\r\n${length}\r\n\r\n`
    const body = length === chunked ? chunk(LARGE) : large()
    t.equal(readAnswer(await send(request, body)).status, 503, length)
  }
  for (const socket of held) socket.destroy()
})

t.test('a server that is told of no memory for bodies has room for one of its own limit', async t => {
  const { useCases } = createWorld()
  const http = buildServer({ useCases, bodyLimit: 300_000_000, protectHeroes: false })
  const send = await listen(http)
  t.teardown(() => http.close())
  const head = post('/heroes', 'content-length: 300000000')
  const arrived = new Promise(resolve => http.server.once('request', resolve))
  const socket = connect({ port: Number(new URL(http.listeningOrigin).port), host: '127.0.0.1' })
  socket.write(`${head}{`)
  await arrived
  t.equal(readAnswer(await send('GET /health/live HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')).status, 200)
  t.equal(socket.bytesRead, 0, 'it waits for the rest')
  socket.destroy()
})

t.test('a body that is longer than a string can be is refused, whatever limit a host gives', async t => {
  const { useCases } = createWorld()
  const http = buildServer({ useCases, bodyLimit: 1_073_741_824, protectHeroes: false })
  t.teardown(() => http.close())
  const headers = { ...JSON_TYPE, 'content-length': '536870889' }
  const answer = await http.inject({ method: 'POST', url: '/heroes', headers, payload: '{}' })
  t.equal(answer.statusCode, 413)
  t.match(answer.payload, 'send at most 536870888 bytes')
})

t.test('a chunked body counts as the limit on bodies once it is beyond 64 kB', async t => {
  const { send, open, begin, allClosed } = await createBounded(t)
  const whole = (...lengths: number[]) => [
    ...lengths.map(chunk),
    `${chunk(small.length).replace(/ +/, small)}0\r\n\r\n`
  ]
  const head = post('/sample', `${chunked}\r\nconnection: close`)
  const held = await begin()
  t.equal(readAnswer(await send(head, ...whole(SMALL - small.length))).status, 200, 'the first 64 kB are not counted')
  const refused = readAnswer(await send(post('/sample', chunked), ...whole(60_000, 60_000)))
  t.match(refused, { status: 503, headers: { 'retry-after': '1', connection: 'close' } })
  held.destroy()
  await allClosed()
  t.match(
    readAnswer(await send(head, ...whole(...Array<number>(5).fill(60_000)))),
    { status: 413 },
    'too large is too large'
  )
  const largest = whole(60_000, 60_000, 60_000, 60_000)
  t.equal(readAnswer(await send(head, ...largest)).status, 200, 'everything was given back')
  const chunks = open()
  chunks.write(post('/sample', chunked) + chunk(70_000))
  while (chunks.bytesWritten === 0 || chunks.pending) await turns(1)
  await turns(50)
  t.equal(readAnswer(await send(post('/sample'), large())).status, 503, 'there is no room beside it')
  chunks.destroy()
})

t.test('a body that is refused for its length is refused once, however late that answer leaves', async t => {
  for (const wait of [0, 50]) {
    const http = createSampleHttp({ bodyLimit: 1000, bodyMemory: 0 })
    // As the hook of a host may be.
    if (wait > 0) http.addHook('onSend', () => turns(wait))
    const send = await listen(http)
    const request = `${post('/sample', chunked)}${chunk(1000).repeat(66)}0\r\n\r\n`
    const next = 'GET /nothing HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'
    // The second one arrives whole while its first piece waits for the pause after the first one's.
    for (const answer of await Promise.all([send(request, next), send(request, next)])) {
      t.match(answer, '{"error":"the body is too large: send at most 1000 bytes"}')
      t.notMatch(answer, 'HTTP/1.1 503')
    }
    await http.close()
  }
})

t.test('a large body is read a little at a time, whether anybody wants it or not', async t => {
  const length = 5_000_000
  const http = createSampleHttp({ bodyLimit: length, bodyMemory: length })
  const send = await listen(http)
  t.teardown(() => http.close())
  let largest = 0
  http.server.on('connection', async socket => {
    let before = 0
    while (!socket.destroyed) {
      largest = Math.max(largest, socket.bytesRead - before)
      before = socket.bytesRead
      await turns(1)
    }
  })
  for (const [path, framing, status] of [
    ['/sample', `content-length: ${length}`, 200],
    ['/nothing', `content-length: ${length}`, 404],
    ['/sample/protected', chunked, 401]
  ] as const) {
    const body = large().padEnd(length)
    const whole = framing === chunked ? `${length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body
    largest = 0
    // The second request ends the connection once the whole body of the first one has been read.
    const answers = await send(
      post(path, framing) + whole,
      'GET /nothing HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'
    )
    t.same(statusesIn(answers), [status, 404], path)
    t.ok(largest > 0 && largest <= 4 * 65_536, `${path}: at most ${largest} bytes in a turn of the event loop`)
  }
})

t.test('however short its chunks are, a body is read in pieces of some thousand of them', async t => {
  const http = createSampleHttp({ bodyLimit: 200_000, bodyMemory: 200_000 })
  let pieces = 0
  let length = 0
  http.addContentTypeParser('application/x-counted', (_request, payload, done) => {
    payload.on('data', (piece: Buffer) => {
      pieces += 1
      length += piece.length
    })
    payload.on('end', () => done(null, { name: 'small' }))
  })
  const send = await listen(http)
  t.teardown(() => http.close())
  for (const count of [60_000, 100_000]) {
    pieces = 0
    length = 0
    const head = post('/sample', `${chunked}\r\nconnection: close`, 'application/x-counted')
    t.match(readAnswer(await send(head, chunk(1).repeat(count), '0\r\n\r\n')), { status: 200 })
    t.equal(length, count, 'every byte arrives')
    t.ok(pieces > count / 5000 && pieces < count / 1000, `${count} chunks in ${pieces} pieces`)
  }
})

t.test('a client whose body is refused may send for two seconds, and is cut off then', async t => {
  const { begin, open } = await createBounded(t)
  const held = [await begin(), await begin()]
  const socket = open(true)
  let received = ''
  socket.on('data', data => {
    received += data
  })
  const ended = new Promise(resolve => socket.once('end', resolve))
  const over = closed(socket)
  socket.write(post('/sample'))
  await ended
  t.equal(readAnswer(received).status, 503, 'the answer is there before the body')
  const packets = setInterval(() => socket.write('x'.repeat(100)), 10)
  t.teardown(() => clearInterval(packets))
  const early = await Promise.race([over.then(() => 'closed'), turns(100).then(() => 'open')])
  t.equal(early, 'open')
  await over
  for (const socket of held) socket.destroy()
})

t.test('after 1,000 uploads that their clients broke off, the whole memory is free', async t => {
  const { send, begin, allClosed } = await createBounded(t)
  const heads = [
    post('/sample'),
    post('/sample', chunked) + chunk(70_000),
    post('/sample/form', undefined, FORM_TYPE['content-type'])
  ]
  for (let round = 0; round < 500; round++) {
    const pair = [await begin(heads[round % 3]), await begin(heads[(round + 1) % 3])]
    for (const socket of pair) round % 2 === 0 ? socket.destroy() : socket.resetAndDestroy()
    await allClosed()
  }
  const special = [
    // The client leaves before its body is read.
    post('/checked'),
    // The second request waits for the answer to the first one, and its response is never sent.
    `GET /never HTTP/1.1\r\nhost: a\r\n\r\n${post('/sample')}`,
    // Both at once.
    `GET /never HTTP/1.1\r\nhost: a\r\n\r\n${post('/checked')}`
  ]
  for (let round = 0; round < 20; round++) {
    const socket = await begin(special[round % 3])
    socket.resetAndDestroy()
    await allClosed()
    await turns(30)
  }
  const all = post('/sample', `content-length: ${LIMIT}\r\nconnection: close`)
  t.equal(readAnswer(await send(all, large().padEnd(LIMIT))).status, 200)
})

t.test('what has arrived of bodies whose clients have left holds up no other body', async t => {
  const { http, send, open, allClosed } = await createBounded(t, 100_000_000)
  const abandoned = 300
  let begun = 0
  http.server.on('request', () => {
    begun += 1
  })
  const sockets = Array.from({ length: abandoned }, () => open())
  for (const socket of sockets) socket.write(post('/sample') + ' '.repeat(70_000))
  while (begun < abandoned) await turns(1)
  for (const socket of sockets) socket.resetAndDestroy()
  await allClosed()
  let pauses = 0
  let isAnswered = false
  const counting = (async () => {
    for (; !isAnswered; pauses += 1) await sleep(TIME_LIMITS.piece)
  })()
  const answer = await send(post('/sample', `content-length: ${LARGE}\r\nconnection: close`), large())
  isAnswered = true
  await counting
  t.equal(readAnswer(answer).status, 200)
  t.ok(pauses < abandoned / 4, `it waited for ${pauses} pauses`)
})

t.test('what a body took is given back with its answer, whatever the answer is', async t => {
  const { http, send } = await createBounded(t)
  for (let time = 0; time < 3; time++) {
    for (const payload of [large(), '{', large().replace('"name"', '"nome"')]) {
      const headers = { ...JSON_TYPE, 'content-length': String(payload.length) }
      const answer = await http.inject({ method: 'POST', url: '/sample', headers, payload })
      t.equal(answer.statusCode, payload === large() ? 200 : 400)
    }
  }
  t.equal(
    readAnswer(await send(post('/sample', `content-length: ${LIMIT}\r\nconnection: close`), large().padEnd(LIMIT)))
      .status,
    200
  )
})

t.test('however many chunks a body comes in, the process prints no warning', async t => {
  const http = createSampleHttp({ bodyLimit: 2_000_000, bodyMemory: 2_000_000 })
  const send = await listen(http)
  t.teardown(() => http.close())
  const warnings: Error[] = []
  const note = (warning: Error) => void warnings.push(warning)
  process.on('warning', note)
  t.teardown(() => process.off('warning', note))
  const spaces = Array<string>(30).fill(chunk(50_000))
  const body = `${small.length.toString(16)}\r\n${small}\r\n`
  const received = await send(post('/sample', `${chunked}\r\nconnection: close`), ...spaces, body, '0\r\n\r\n')
  t.strictSame(statusesIn(received), [200])
  await turns()
  t.strictSame(warnings, [])
})
