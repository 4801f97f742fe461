import { once } from 'node:events'
import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import type { HttpOptions } from '../../../app/http/http.js'
import { type FloodAnswer, flood } from '../../support/flood.js'
import { CONSTANT_HEADERS, listen } from '../../support/http.js'
import { quantile } from '../../support/load.js'
import { createSlowHttp, getSlow, postSlow } from '../../support/sample-routes.js'
import { turns } from '../../support/waiting.js'
import { dial, readAnswer, statusesIn } from '../../support/wire.js'

const AT_ONCE = 4
const MOST_IN_A_TURN = 32
const MOST_HELD = 10_000
/** More turns of the event loop than a request takes to arrive and to be answered. */
const SOME = 50

const GET_SAMPLE = 'GET /sample HTTP/1.1\r\nhost: a\r\n\r\n'

const namesOf = (count: number): string[] => Array.from({ length: count }, (_, i) => `${i}`)

/** A server with slow routes, and the connections that it has taken. */
const serveSlow = async (t: Test, options: Partial<HttpOptions> = {}) => {
  const slow = createSlowHttp(options)
  const sockets: Socket[] = []
  slow.http.server.on('connection', socket => sockets.push(socket))
  const send = await listen(slow.http)
  t.teardown(() => slow.http.close())
  return { ...slow, send, sockets, origin: slow.http.listeningOrigin }
}

t.test('requests that arrive in one turn of the event loop begin together, when all of them have arrived', async t => {
  const { http, origin, answer, names, sockets } = await serveSlow(t)
  const begunBefore: number[] = []
  http.server.on('request', () => begunBefore.push(names.length))
  const clients = namesOf(5).map(() => dial(origin))
  while (sockets.length < clients.length) await turns(1)
  for (const { socket } of clients) socket.write(getSlow('one'))
  while (names.length < clients.length) await turns(1)
  t.strictSame(begunBefore, [0, 0, 0, 0, 0])
  answer()
  while (clients.some(({ received }) => received() === '')) await turns(1)
  for (const { socket } of clients) socket.destroy()
})

t.test(
  'of the requests that have arrived at most 32 begin in a turn of the event loop, one of each connection',
  async t => {
    for (const connections of [50, 10]) {
      const { origin, answer, names, sockets } = await serveSlow(t)
      const clients = namesOf(connections).map(() => dial(origin))
      while (sockets.length < clients.length) await turns(1)
      let most = 0
      let before = 0
      const count = (): void => {
        most = Math.max(most, names.length - before)
        before = names.length
        if (before < 2 * clients.length) setImmediate(count)
      }
      for (const { socket } of clients) socket.write(getSlow('first') + getSlow('second'))
      setImmediate(count)
      while (names.length < 2 * clients.length) await turns(1)
      t.equal(most, Math.min(connections, MOST_IN_A_TURN))
      t.ok(names.indexOf('second') >= most)
      answer()
      while (clients.some(({ received }) => statusesIn(received()).length < 2)) await turns(1)
      for (const { socket } of clients) socket.destroy()
    }
  }
)

t.test('a request whose connection closes in the turn in which it arrives does not begin', async t => {
  const { http, origin, names } = await serveSlow(t)
  http.server.on('request', ({ socket }) => socket.destroy())
  const { socket, closed } = dial(origin)
  socket.write(getSlow('one'))
  t.equal(await closed, '')
  await turns(SOME)
  t.strictSame(names, [])
})

t.test('of the requests of one connection four begin at once, and the others when those are answered', async t => {
  const { origin, arrived, answer, names, sockets } = await serveSlow(t)
  const { socket, received } = dial(origin)
  socket.write(namesOf(30).map(getSlow).join(''))
  await arrived
  await turns(SOME)
  t.strictSame(names, namesOf(AT_ONCE))
  t.ok(sockets[0]?.isPaused(), 'nothing more is read')
  answer()
  while (statusesIn(received()).length < 30) await turns(1)
  t.strictSame(names, namesOf(30))
  t.strictSame(received().match(/(?<="name":")\d+/g), namesOf(30), 'the answers are in order')
  await turns(SOME)
  t.notOk(sockets[0]?.isPaused(), 'the connection is read again')
  socket.write(GET_SAMPLE)
  while (statusesIn(received()).length < 31) await turns(1)
  socket.destroy()
})

t.test('requests with bodies are held back with them', async t => {
  const { origin, arrived, answer, names } = await serveSlow(t)
  const { socket, received } = dial(origin)
  const last = postSlow('last')
  socket.write(namesOf(20).map(postSlow).join('') + last.slice(0, -5))
  await arrived
  await turns(SOME)
  t.strictSame(names, namesOf(AT_ONCE))
  socket.write(last.slice(-5))
  answer()
  while (statusesIn(received()).length < 21) await turns(1)
  t.strictSame(names, [...namesOf(20), 'last'])
  t.ok(statusesIn(received()).every(status => status === 200))
  socket.destroy()
})

t.test('who waits for answers now and then may send four requests each time', async t => {
  const { origin, answer } = await serveSlow(t)
  answer()
  const { socket, received } = dial(origin)
  for (let count = AT_ONCE; count <= 5 * AT_ONCE; count += AT_ONCE) {
    socket.write(GET_SAMPLE.repeat(AT_ONCE))
    while (statusesIn(received()).length < count) await turns(1)
  }
  socket.destroy()
})

t.test('connections take turns: one that sends requests without end holds up no other', async t => {
  const { origin, answer } = await serveSlow(t)
  answer()
  const flood = dial(origin)
  flood.socket.write(GET_SAMPLE.repeat(3000))
  while (flood.received() === '') await turns(1)
  const other = dial(origin)
  other.socket.write(GET_SAMPLE)
  while (other.received() === '') await turns(1)
  t.ok(statusesIn(flood.received()).length < 1500, 'the other is answered before most of them')
  while (statusesIn(flood.received()).length < 3000) await turns(50)
  flood.socket.destroy()
  other.socket.destroy()
})

t.test(
  'wire 1.13: beside 400 connections with four requests under way each, a new one is answered within twice the time of theirs',
  async t => {
    const { origin } = await serveSlow(t)
    const old = flood(origin, { connections: 400, pipelined: AT_ONCE, next: () => GET_SAMPLE })
    const theirs: FloodAnswer[] = []
    const newcomers: Pick<FloodAnswer, 'milliseconds'>[] = []
    for (let i = 0; i < 8; i++) {
      const askedAt = performance.now()
      const { socket } = dial(origin)
      socket.write(GET_SAMPLE)
      await once(socket, 'data')
      // The first come while the old ones are still connecting.
      const all = old.take()
      if (i >= 3) {
        theirs.push(...all)
        newcomers.push({ milliseconds: performance.now() - askedAt })
      }
      socket.destroy()
    }
    old.stop()
    t.ok(theirs.every(({ status }) => status === 200))
    const [median, control] = [quantile(newcomers, 0.5), quantile(theirs, 0.5)]
    t.ok(median <= 2 * control, `${median} and ${control} ms`)
  }
)

t.test('a request that is held back until its time is over is refused and does not begin', async t => {
  const { send, names } = await serveSlow(t, { answerMilliseconds: 200 })
  const received = await send(`${namesOf(30).map(getSlow).join('')}nonsense\r\n\r\n`)
  t.strictSame(statusesIn(received), Array(30).fill(503))
  t.strictSame(names, namesOf(AT_ONCE))
  const last = readAnswer(received.slice(received.lastIndexOf('HTTP/1.1 503')))
  t.match(last.headers, { ...CONSTANT_HEADERS, 'retry-after': '1' })
})

t.test('requests that are held back are answered before a malformed one behind them', async t => {
  const { send, arrived, answer, names } = await serveSlow(t)
  const sent = send(`${namesOf(20).map(getSlow).join('')}nonsense\r\n\r\n`)
  await arrived
  answer()
  t.strictSame(statusesIn(await sent), Array(20).fill(200))
  t.strictSame(names, namesOf(20))
})

t.test('behind an answer that ends the connection nothing that was held back begins', async t => {
  const { send, arrived, answer, names } = await serveSlow(t)
  const closing = getSlow('closing').replace('\r\n\r\n', '\r\nupgrade: other\r\n\r\n')
  const sent = send(namesOf(10).map(getSlow).join('') + closing + namesOf(10).map(getSlow).join(''))
  await arrived
  answer()
  t.strictSame(statusesIn(await sent), Array(11).fill(200))
  t.strictSame(names, [...namesOf(10), 'closing'])
})

t.test('an answer that ends its connection does so during a shutdown too, whatever has arrived behind it', async t => {
  const { http, origin, names, sockets } = await serveSlow(t)
  const { socket, closed } = dial(origin)
  while (sockets.length === 0) await turns(1)
  // Node 26 closes connections that have sent nothing yet, which the service's own drain does not.
  http.server.closeIdleConnections = () => {}
  const ended = http.close()
  socket.write(
    `POST /sample HTTP/1.0\r\nconnection: keep-alive\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${getSlow('behind')}`
  )
  const answer = readAnswer(await closed)
  t.match(answer, { status: 400, headers: { connection: 'close' } })
  t.strictSame(names, [])
  await ended
})

t.test('a connection with which more than 10,000 requests would be held back is closed, and no other', async t => {
  const { origin, answer, sockets } = await serveSlow(t)
  // Node reads 64 kB at once, and no more of a connection of which something is held back.
  const text = getSlow('one').repeat(AT_ONCE) + GET_SAMPLE.repeat(1500)
  const flood = async (): Promise<{ readonly isClosed: boolean; readonly socket: Socket; received(): string }> => {
    const { socket, received } = dial(origin)
    const before = sockets.length
    socket.on('error', () => {}).write(text)
    while (sockets.length === before || !(sockets[before]?.destroyed || sockets[before]?.isPaused())) await turns(1)
    return { isClosed: sockets[before]?.destroyed === true, socket, received }
  }
  const first: Awaited<ReturnType<typeof flood>>[] = []
  for (let i = 0; i < Math.ceil(MOST_HELD / 1500); i++) first.push(await flood())
  t.strictSame(
    first.map(({ isClosed }) => isClosed),
    [...Array(first.length - 1).fill(false), true]
  )
  answer()
  for (const { isClosed, received } of first) {
    while (!isClosed && statusesIn(received()).length < AT_ONCE + 1500) await turns(50)
  }
  for (let i = 0; i < 10; i++) {
    const { isClosed, socket } = await flood()
    t.notOk(isClosed, 'there is room again, and what clients take with them leaves room')
    socket.destroy()
    while (sockets.at(-1)?.destroyed === false) await turns(1)
  }
})

t.test('a client that leaves takes with it what was held back', async t => {
  const { http, origin, arrived, answer, names, sockets } = await serveSlow(t)
  const { socket } = dial(origin)
  socket.write(namesOf(30).map(getSlow).join(''))
  await arrived
  await turns(SOME)
  const [server] = sockets
  socket.destroy()
  // A connection that is not read is noticed to be gone when something is written to it.
  answer()
  while (server?.destroyed === false) await turns(1)
  await turns(SOME)
  t.ok(names.length < 30, `${names.length} have begun`)
  http.server.closeAllConnections()
})
