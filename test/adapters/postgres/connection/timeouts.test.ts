import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { orConnectTimeout } from '../../../../adapters/postgres/connection/connect-timeout.js'
import { createTimeouts } from '../../../../adapters/postgres/connection/timeouts.js'
import { listenUntilEnd } from '../../../support/ports.js'
import { dial } from '../../../support/wire.js'

t.test('timeouts of one length expire in their order and not before their time, unless they are ended', async t => {
  const { begin, milliseconds } = createTimeouts(50)
  t.equal(milliseconds, 50)
  const expired: { readonly name: string; readonly after: number }[] = []
  const start = (name: string) => {
    const startedAt = performance.now()
    return begin(() => expired.push({ name, after: performance.now() - startedAt }))
  }
  start('first')
  const end = start('ended')
  end()
  end()
  await sleep(20)
  start('second')
  while (expired.length < 2) await sleep(5)
  start('third, after a silence')
  while (expired.length < 3) await sleep(5)
  t.strictSame(
    expired.map(({ name }) => name),
    ['first', 'second', 'third, after a silence']
  )
  for (const { name, after } of expired) t.ok(after >= 50, `${name} not before its time`)
})

/** Both ends of a connection. */
const connect = async (t: Test) => {
  const server = createServer()
  const port = await listenUntilEnd(t, server)
  const { socket: client } = dial(`http://127.0.0.1:${port}`)
  t.teardown(() => client.destroy())
  const [accepted]: Socket[] = await once(server, 'connection')
  t.teardown(() => accepted?.destroy())
  return { client, server: accepted }
}

/**
 * Begins a timeout. Something arrives, and the process stands still for longer than the timeout. Its timers are what it
 * sees first then.
 */
const standStill = async (server: Socket | undefined, begin: () => void): Promise<void> => {
  await setImmediate()
  begin()
  server?.write('an answer')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
}

t.test('what has arrived while the process stood still is read before a timeout expires', async t => {
  const { client, server } = await connect(t)
  let expired = false
  await standStill(server, () => {
    const end = createTimeouts(50).begin(() => {
      expired = true
    })
    client.once('data', end)
  })
  await sleep(100)
  t.equal(expired, false)

  let connected: Promise<unknown> | undefined
  await standStill(server, () => {
    connected = orConnectTimeout(0.05, once(client, 'data'))
  })
  await connected
  await t.rejects(orConnectTimeout(0.05, once(client, 'data')), { message: 'no connection within 0.05 s' })
})
