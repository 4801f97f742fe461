import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createTestHttp, listen } from '../../support/http.js'

const LONG = 30_000_000

t.test('wire 1.10: a reader that takes nothing for a while is cut off, and one that takes a little is not', async t => {
  const http = createTestHttp({ readerMilliseconds: 2000 })
  http.get('/long', async () => Buffer.alloc(LONG, 'x'))
  http.get('/short', async () => ({ short: true }))
  const send = await listen(http)
  t.teardown(() => http.close())
  const ask = (path: string): Socket => {
    const socket = connect(Number(new URL(http.listeningOrigin).port), '127.0.0.1')
    socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`)
    return socket
  }
  const gone = (socket: Socket) =>
    new Promise<void>(resolve => socket.on('error', () => {}).on('close', () => resolve()))

  const slow = ask('/long')
  const whole = (async () => {
    let received = 0
    while (received < LONG && !slow.destroyed) {
      for (let piece = slow.read(); piece !== null; piece = slow.read()) received += piece.length
      if (slow.readableEnded) break
      await sleep(10)
    }
    return received
  })()
  const idle = ask('/short')
  await new Promise(resolve => idle.once('data', resolve))
  const server = new Promise<Socket>(resolve => http.server.once('connection', resolve))
  const silent = ask('/long').pause()
  const cut = new Promise(resolve => server.then(socket => socket.once('close', resolve)))
  await cut
  silent.resume()
  await gone(silent)
  t.ok((await whole) > LONG, 'one that reads slowly has all')
  t.notOk(idle.destroyed, 'one that waits for nothing stays')
  for (const socket of [slow, idle]) socket.destroy()
  t.match(await send('GET /short HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'), '{"short":true}')
})
