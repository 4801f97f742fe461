import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { jsonRoutes } from '../../../app/http/bodies.js'
import { HttpError } from '../../../app/http/errors.js'
import { batched, createLog } from '../../../app/serve/log.js'
import { createTestHttp, listen, signal } from '../../support/http.js'
import { startStopwatch } from '../../support/stopwatch.js'

t.test('a request is logged in one line, without its query string', async t => {
  const lines: string[] = []
  const logged = createTestHttp({ log: createLog('info', { write: line => lines.push(line) }) })
  logged.get('/heroes', async () => [])
  logged.get('/heroes/:id', async () => ({}))
  logged.register(
    jsonRoutes(http => {
      http.post('/heroes', async () => ({}))
    })
  )
  t.teardown(() => logged.close())
  const read = () => lines.splice(0).map(line => JSON.parse(line))

  const before = Date.now()
  await logged.inject({ url: '/heroes/1?password=secret', headers: { authorization: 'Bearer secret' } })
  const [line, ...others] = read()
  t.match(line, { level: 30, pid: process.pid, reqId: /^req-/, method: 'GET', path: '/heroes/1', status: 200 })
  t.type(line.ms, 'number')
  t.ok(before <= line.time && line.time <= Date.now())
  t.strictSame(others, [])

  await logged.inject({ method: 'PUT', url: '/nothing/%zz?secret' })
  t.match(read(), [{ method: 'PUT', path: '/nothing/%25zz', status: 404 }])
  await logged.inject({ method: 'POST', url: '/heroes', headers: { 'content-type': 'application/json' }, payload: '{' })
  t.match(read(), [{ method: 'POST', path: '/heroes', status: 400 }])

  const send = await listen(logged)
  await send('GET http://user:secret@a/heroes?secret HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
  t.match(read(), [{ path: '', status: 200 }])
})

t.test('a request whose client has left is logged as 499', async t => {
  const lines: string[] = []
  const arrived = signal()
  const gone = signal()
  const logged = createTestHttp({
    log: createLog('info', {
      write: line => {
        lines.push(line)
        gone.give()
      }
    })
  })
  logged.get('/slow', async request => {
    arrived.give()
    await gone.given
    return request.id
  })
  const port = Number(new URL(await logged.listen({ host: '127.0.0.1', port: 0 })).port)
  t.teardown(() => logged.close())
  const socket = connect(port, '127.0.0.1')
  socket.write('GET /slow HTTP/1.1\r\nhost: a\r\n\r\n')
  await arrived.given
  socket.destroy()
  await gone.given
  t.match(
    lines.map(line => JSON.parse(line)),
    [{ path: '/slow', status: 499 }]
  )
})

t.test('a failure of the service is logged with its stack and its causes, and without what hangs on them', async t => {
  const lines: string[] = []
  const logged = createTestHttp({ log: createLog('error', { write: line => lines.push(line) }) })
  t.teardown(() => logged.close())
  logged.get('/fail', async () => {
    const driver = Object.assign(new Error('the statement failed'), { code: '23505', parameters: ['secret'] })
    throw Object.assign(new Error('the store failed', { cause: driver }), { query: 'secret' })
  })
  logged.get('/throw', async () => {
    throw { secret: 'secret' }
  })
  logged.get('/refuse', async () => {
    throw new HttpError(418, 'no coffee')
  })
  t.equal((await logged.inject('/fail?secret')).statusCode, 500)
  t.equal((await logged.inject('/throw')).statusCode, 500)
  t.equal((await logged.inject('/refuse')).statusCode, 418)
  t.equal(lines.length, 2)
  t.notMatch(lines.join(), /secret/)
  t.match(
    lines.map(line => JSON.parse(line)),
    [
      {
        level: 50,
        reqId: /^req-/,
        msg: 'a request failed',
        err: {
          type: 'Error',
          stack: /the store failed\n +at /,
          cause: { code: '23505', stack: /the statement failed/ }
        }
      },
      { err: 'object' }
    ]
  )
})

t.test('the log is written when a batch is full, and what is left soon after', async t => {
  const file = `${t.testdir()}/log`
  const { logger } = createLog('info', batched(file))
  logger.info('x'.repeat(9000))
  t.equal((await readFile(file, 'utf8')).length > 9000, true)
  logger.info('the last')
  // In the same turn of the event loop, in which no timer can run.
  t.notMatch(readFileSync(file, 'utf8'), 'the last')
  const counted = startStopwatch()
  while (!(await readFile(file, 'utf8')).includes('the last')) await sleep(20)
  t.ok(counted() < 2)
})

t.test('a process that crashes leaves its whole log', async t => {
  const log = JSON.stringify(new URL('../../../app/serve/log.ts', import.meta.url).href)
  const code = `const { createLog } = await import(${log}); createLog('info').logger.info('the last'); throw new Error()`
  const child = spawn(process.execPath, [...process.execArgv, '--input-type', 'module', '--eval', code])
  t.match(JSON.parse(await text(child.stdout)), { msg: 'the last' })
})
