import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { openServer } from '../../adapters/postgres/database.js'
import type { DomainError } from '../../core/errors.js'
import { at } from '../contract/records.js'
import { isServed, secondsUntil, settle, UNAVAILABLE } from '../support/calls.js'
import { createDatabase, startServer } from '../support/postgres.js'
import { startStopwatch } from '../support/stopwatch.js'

const SETTINGS = { pool: 2, prepare: true }

const SILENT = `
const server = require('node:net').createServer()
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  require('node:fs').writeSync(1, String(server.address().port))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
})`

t.test('a host that takes no connection is given up after two seconds', async t => {
  // This server never accepts: once its backlog is full, the system leaves connections unanswered.
  const silent = spawn(process.execPath, ['-e', SILENT], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => silent.kill('SIGKILL'))
  const [port] = await once(silent.stdout.setEncoding('utf8'), 'data')
  const filling = Array.from({ length: 8 }, () => connect(Number(port), '127.0.0.1').on('error', () => {}))
  t.teardown(() => {
    for (const socket of filling) socket.destroy()
  })
  await Promise.any(filling.map(socket => once(socket, 'connect')))
  const database = await openServer(`postgres://127.0.0.1:${port}/x`, SETTINGS)
  await t.rejects(database.inspect(), { ...UNAVAILABLE, cause: { code: 'CONNECT_TIMEOUT' } })
  await database.close()
})

t.test('calls are unavailable during an outage and served after it', async t => {
  const server = await startServer()
  t.teardown(() => server.remove())
  const { url, drop } = await createDatabase(server.url)
  const database = await openServer(url, SETTINGS)
  await database.migrate()
  const unavailable = (outcomes: unknown[]) => outcomes.every(outcome => outcome === 'unavailable')
  const served = () => isServed(database)

  await t.test('a server that is shut down', async t => {
    await server.stop()
    const counted = startStopwatch()
    t.ok(unavailable(await settle(database)))
    t.ok(counted() < 1, 'says so at once')
    await server.start()
    t.ok((await secondsUntil(served)) < 2)
  })

  await t.test('a server that is killed under load', async t => {
    const load = Array.from({ length: 20 }, () => settle(database))
    await database.inspect()
    await server.kill()
    t.ok((await Promise.all(load)).flat().every(outcome => outcome === 'served' || outcome === 'unavailable'))
    await server.start()
    t.ok((await secondsUntil(served)) < 2)
  })

  await t.test('a server that is frozen', async t => {
    t.ok(await served())
    server.pause()
    const asked = database.stores.users.revoke('ada', at(0)).catch((error: DomainError) => error.code)
    for (const round of ['first', 'second']) {
      const counted = startStopwatch()
      t.ok(unavailable((await Promise.all([settle(database), settle(database)])).flat()))
      t.ok(counted() < 4.5, `the ${round} calls are answered in time`)
    }
    t.equal(await asked, 'unavailable', 'the work of an operator as well')
    server.resume()
    t.ok((await secondsUntil(served)) < 2)
  })

  await drop()
  server.pause()
  const counted = startStopwatch()
  await database.close()
  t.ok(counted() < 2, 'a frozen server does not keep the database from being closed')
})
