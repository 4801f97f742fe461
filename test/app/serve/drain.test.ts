import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { createDrain } from '../../../app/serve/drain.js'
import { createTestHttp } from '../../support/http.js'
import { signal } from '../../support/waiting.js'
import { dial } from '../../support/wire.js'

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

  // Of the timers that the drain sets, the test itself runs the one that cuts off.
  const cutOff = signal()
  const { setTimeout } = globalThis
  t.intercept(globalThis, 'setTimeout', {
    value: (work: () => void, milliseconds?: number) => {
      if (milliseconds !== 9000) return setTimeout(work, milliseconds)
      void cutOff.given.then(work)
      return undefined
    }
  })
  let over = false
  const drained = drain().then(() => {
    over = true
  })
  while (http.server.listening) await setImmediate()
  t.notOk(over, 'the drain waits')
  t.equal(socket.readyState, 'open')
  cutOff.give()
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
  const drained = drain()
  while (http.server.listening) await setImmediate()
  used.socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  await used.closed
  t.match(used.received(), /^connection: close\r$[\s\S]*answered$/im)
  t.equal(idle.socket.readyState, 'open')
  await Promise.all([drained, idle.closed])
})
