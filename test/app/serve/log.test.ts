import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { jsonRoutes } from '../../../app/http/bodies.js'
import { HttpError } from '../../../app/http/errors.js'
import { batched, createLog } from '../../../app/serve/log.js'
import { createTestHttp, listen } from '../../support/http.js'
import { recordLog } from '../../support/recorded-log.js'
import { createSlowHttp, getSlow } from '../../support/sample-routes.js'
import { startStopwatch } from '../../support/stopwatch.js'
import { signal } from '../../support/waiting.js'
import { dial, JSON_TYPE } from '../../support/wire.js'

t.test('a request is logged in one line, without its query string', async t => {
  const { log, take } = recordLog('info')
  const http = createTestHttp({ log })
  http.get('/sample', async () => [])
  http.get('/sample/:id', async () => ({}))
  http.register(
    jsonRoutes(http => {
      http.post('/sample', async () => ({}))
    })
  )
  t.teardown(() => http.close())

  const before = Date.now()
  await http.inject({ url: '/sample/1?password=secret', headers: { authorization: 'Bearer secret' } })
  const [line, ...others] = take()
  t.match(line, { level: 30, pid: process.pid, reqId: /^req-/, method: 'GET', path: '/sample/1', status: 200 })
  t.type(line?.ms, 'number')
  t.ok(before <= Number(line?.time) && Number(line?.time) <= Date.now())
  t.strictSame(others, [])

  await http.inject({ method: 'PUT', url: '/nothing/%zz?secret' })
  t.match(take(), [{ method: 'PUT', path: '/nothing/%25zz', status: 404 }])
  await http.inject({ method: 'POST', url: '/sample', headers: JSON_TYPE, payload: '{' })
  t.match(take(), [{ method: 'POST', path: '/sample', status: 400 }])

  const send = await listen(http)
  await send('GET http://user:secret@a/sample?secret HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
  t.match(take(), [{ path: '', status: 200 }])
})

t.test('a request whose client has left is logged as 499', async t => {
  const gone = signal()
  const { log, take } = recordLog('info', gone.give)
  const { http, arrived, answer } = createSlowHttp({ log })
  await http.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => http.close())
  const { socket } = dial(http.listeningOrigin)
  socket.write(getSlow('one'))
  await arrived
  socket.destroy()
  await gone.given
  answer()
  t.match(take(), [{ path: '/slow/one', status: 499 }])
})

t.test(
  'a failure of the service is logged with its stack and its causes, and without their other properties',
  async t => {
    const { log, take } = recordLog('error')
    const http = createTestHttp({ log })
    t.teardown(() => http.close())
    http.get('/fail', async () => {
      const driver = Object.assign(new Error('the statement failed'), { code: '23505', parameters: ['secret'] })
      throw Object.assign(new Error('the store failed', { cause: driver }), { query: 'secret' })
    })
    http.get('/throw', async () => {
      throw { secret: 'secret' }
    })
    http.get('/refuse', async () => {
      throw new HttpError(418, 'no coffee')
    })
    t.equal((await http.inject('/fail?secret')).statusCode, 500)
    t.equal((await http.inject('/throw')).statusCode, 500)
    t.equal((await http.inject('/refuse')).statusCode, 418)
    const lines = take()
    t.equal(lines.length, 2)
    t.notMatch(JSON.stringify(lines), /secret/)
    t.match(lines, [
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
    ])
  }
)

t.test('the log is written when a batch is full, and the rest of it soon after', async t => {
  const file = `${t.testdir()}/log`
  const { logger } = createLog('info', batched(file))
  logger.info('x'.repeat(9000))
  t.equal((await readFile(file, 'utf8')).length > 9000, true)
  logger.info('the last')
  // No timer can run in this turn of the event loop, so that the line is still in the batch.
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
