import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createDrain } from '../../../app/serve/drain.js'
import { createTestHttp } from '../../support/http.js'
import { signal } from '../../support/waiting.js'
import { dial, dialOpen, statusesIn } from '../../support/wire.js'

/** Of the timers that the drain sets, the test itself runs the one that cuts off, or never does. */
const holdCutOff = (t: Test): (() => void) => {
  const { given: cutOff, give } = signal()
  const { setTimeout } = globalThis
  t.intercept(globalThis, 'setTimeout', {
    value: (work: (...given: unknown[]) => void, milliseconds?: number, ...given: unknown[]) => {
      if (milliseconds !== 9000) return setTimeout(work, milliseconds, ...given)
      void cutOff.then(work)
      return undefined
    }
  })
  return give
}

/** Of the interval of the drain: what resolves when idle connections have been closed once more. */
const watchIdleClosed = (t: Test): (() => Promise<void>) => {
  let next = signal(2)
  const { setInterval } = globalThis
  t.intercept(globalThis, 'setInterval', {
    value: (closeIdle: () => void, milliseconds?: number) =>
      setInterval(() => {
        closeIdle()
        next.give()
      }, milliseconds)
  })
  return () => {
    next = signal(2)
    return next.given
  }
}

t.test('a connection that is still open nine seconds after the signal is cut off', async t => {
  const http = createTestHttp()
  const arrived = signal()
  http.get('/slow', async () => {
    arrived.give()
    return new Promise(() => {})
  })
  const drain = createDrain(http)
  const { socket } = dial(await http.listen({ host: '127.0.0.1', port: 0 }))
  const closed = once(socket, 'close')
  socket.write('GET /slow HTTP/1.1\r\nhost: a\r\n\r\n')
  await arrived.given

  const cutOff = holdCutOff(t)
  let over = false
  const drained = drain().then(() => {
    over = true
  })
  while (http.server.listening) await setImmediate()
  t.notOk(over, 'the drain waits')
  t.equal(socket.readyState, 'open')
  cutOff()
  await Promise.all([closed, drained])
})

t.test('an idle connection may bring a last request after the listener is closed, and its answer says so', async t => {
  const http = createTestHttp()
  http.get('/', async () => 'answered')
  const drain = createDrain(http)
  const url = await http.listen({ host: '127.0.0.1', port: 0 })
  const [used, idle] = [dial(url), dial(url)]
  for (const { socket, received } of [used, idle]) {
    socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
    while (!received().endsWith('answered')) await once(socket, 'data')
    t.match(received(), /^connection: keep-alive\r$/im)
  }
  const half = dial(url)
  half.socket.write('GET / HTTP/1.1\r\nhost: a\r\n')
  await once(half.socket, 'connect')
  const drained = drain()
  while (http.server.listening) await setImmediate()
  used.socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(2))
  half.socket.write('\r\n')
  await Promise.all([used.closed, half.closed])
  for (const { received } of [used, half]) t.match(received(), /^connection: close\r$[\s\S]*answered$/im)
  t.strictSame(statusesIn(used.received()), [200, 200, 200], 'or two, of which the last says so')
  t.equal(idle.socket.readyState, 'open')
  await Promise.all([drained, idle.closed])
})

/** A server that answers `GET /`, what drains it, and a connection over which it has answered once. */
const serveOnce = async () => {
  const http = createTestHttp()
  http.get('/', async () => 'answered')
  const drain = createDrain(http)
  const url = await http.listen({ host: '127.0.0.1', port: 0 })
  const used = dial(url)
  used.socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  while (!used.received().endsWith('answered')) await once(used.socket, 'data')
  return { http, drain, url, used }
}

t.test('connections on which no head is complete are closed as idle ones are, before the cut-off', async t => {
  const { drain, url, used } = await serveOnce()
  used.socket.write('GET / HTTP/1.1\r\n')
  const unused = await dialOpen(url)
  const [blank, half] = [dial(url), dial(url)]
  blank.socket.write('\r\n')
  half.socket.write('GET / HTTP/1.1\r\nhost: a\r\n')

  holdCutOff(t)
  await Promise.all([drain(), ...[used, unused, blank, half].map(({ closed }) => closed)])
  for (const { received } of [unused, blank, half]) t.equal(received(), '')
})

t.test(
  'a request that has arrived when idle connections are closed is answered, although the service has yet to read it',
  async t => {
    const { http, drain, url, used } = await serveOnce()
    const unused = await dialOpen(url)

    const drained = drain()
    while (http.server.listening) await setImmediate()
    for (const { socket } of [used, unused]) socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
    // The process is held up until the connections are to be closed. The system has the requests meanwhile.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700)
    await Promise.all([drained, used.closed, unused.closed])
    for (const { received } of [used, unused]) t.match(received(), /^connection: close\r$[\s\S]*answered$/im)
  }
)

t.test('a connection whose request was answered before its body has arrived is closed when it has', async t => {
  const http = createTestHttp()
  const drain = createDrain(http)
  const { socket, received, closed } = dial(await http.listen({ host: '127.0.0.1', port: 0 }))
  socket.write('POST /nowhere HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n1')
  while (!received().endsWith('}')) await once(socket, 'data')
  const idleClosed = watchIdleClosed(t)
  holdCutOff(t)
  const drained = drain()
  await idleClosed()
  t.equal(socket.readyState, 'open')
  socket.write('2')
  await Promise.all([drained, closed])
})

t.test('a client that is still sending when its connection ends has the time to read its last answer', async t => {
  for (const [text, status] of [
    ['nonsense\r\n\r\n', 400],
    ['GET /slow HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n', 200]
  ] as const) {
    const http = createTestHttp()
    const answered = signal()
    http.get('/slow', () => answered.given)
    const drain = createDrain(http)
    const accepted: Promise<Socket[]> = once(http.server, 'connection')
    const { socket, closed } = dial(await http.listen({ host: '127.0.0.1', port: 0 }), { allowHalfOpen: true })
    const ended = once(socket, 'end')
    socket.write(text)
    const [connection] = await accepted
    const idleClosed = watchIdleClosed(t)
    holdCutOff(t)
    const drained = drain()
    await idleClosed()
    answered.give()
    await ended
    await idleClosed()
    t.equal(connection?.destroyed, false)
    socket.end()
    t.strictSame(statusesIn(await closed), [status])
    await drained
  }
})
