import { PassThrough } from 'node:stream'
import t, { type Test } from 'tap'
import { createBearerCheck } from '../../../app/http/bearer.js'
import { jsonRoutes } from '../../../app/http/bodies/json.js'
import { originOf } from '../../../app/http/client-address.js'
import { HttpError } from '../../../app/http/errors.js'
import { createLog, createSecurityLog } from '../../../app/serve/log.js'
import type { Origin } from '../../../core/index.js'
import { createTestHttp, listen } from '../../support/http.js'
import { recordLog } from '../../support/recorded-log.js'
import { createSampleHttp, serveWhoBreaksOff, serveWhoLeaves } from '../../support/sample-routes.js'
import { bearer } from '../../support/service.js'
import { signal, turns } from '../../support/waiting.js'
import { dial, JSON_TYPE, requestText, statusesIn } from '../../support/wire.js'
import { ADA, addClient, blankRequest, createWorld, SECRET } from '../../support/world.js'

/** A line without the fields that may have any value. */
const steady = ({
  time,
  pid,
  hostname,
  reqId,
  ms,
  ...line
}: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => line

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
  const [line = {}, ...others] = take()
  t.strictSame(steady(line), { level: 30, address: '127.0.0.1', method: 'GET', path: '/sample/1', status: 200 })
  t.equal(line.pid, process.pid)
  t.match(line.reqId, /^req-/)
  t.type(line.ms, 'number')
  t.ok(before <= Number(line.time) && Number(line.time) <= Date.now())
  t.strictSame(others, [])

  await http.inject({ method: 'PUT', url: '/nothing/%zz?secret' })
  t.strictSame(take().map(steady), [
    { level: 30, address: '127.0.0.1', method: 'PUT', path: '/nothing/%25zz', status: 404 }
  ])
  await http.inject({ method: 'POST', url: '/sample', headers: JSON_TYPE, payload: '{' })
  t.strictSame(take().map(steady), [{ level: 30, address: '127.0.0.1', method: 'POST', path: '/sample', status: 400 }])

  const send = await listen(http)
  await send('GET http://user:secret@a/sample?secret HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
  t.strictSame(take().map(steady), [{ level: 30, address: '127.0.0.1', method: 'GET', path: '/sample', status: 200 }])
})

t.test('the line of a request has its address, and the client and the user where they are known', async t => {
  const { log, take } = recordLog('info')
  const { emit } = log.naming(createSecurityLog(log.logger))
  const http = createTestHttp({ log, trustProxy: '127.0.0.1' })
  t.teardown(() => http.close())
  const { useCases } = createWorld()
  const checkBearer = createBearerCheck(useCases, undefined)
  const named = log.namingIn(useCases)
  const client = await addClient({ useCases }, 'app')
  await useCases.registerUser(ADA)
  const { accessToken } = await useCases.issueToken(client, {
    ...blankRequest,
    grantType: 'password',
    ...ADA
  })
  const grant = (await useCases.verifyBearer(accessToken)).grantId
  const work: Record<string, (origin: Origin) => unknown> = {
    wrong: origin => emit({ event: 'login.failed', reason: 'wrong_password', user: 7, ...origin }),
    robot: origin =>
      emit({ event: 'token.issued', reason: 'client_credentials', client: 'robot', user: undefined, grant, ...origin }),
    ended: origin => emit({ event: 'grant.revoked', reason: 'account', client: 'app', user: 9, grant, ...origin }),
    me: origin => named.whoAmI(accessToken, origin),
    account: origin => named.manageAccount({ ...ADA, ...origin }),
    page: ({ requestId }) => named.resolveRedirect({ clientId: client.id, requestId }),
    introspect: origin => named.authenticateClient([{ id: client.id, secret: SECRET }], origin),
    token: origin =>
      named
        .issueToken(named.authenticateClient([{ id: client.id, secret: SECRET }], origin), {
          ...blankRequest,
          ...origin
        })
        .catch(() => {})
  }
  http.get<{ Params: { what: string } }>('/:what', async request => {
    const { what } = request.params
    if (what === 'bearer') await checkBearer(request)
    await work[what]?.(originOf(request))
    return {}
  })
  const lineOf = async (what: string) => {
    await http.inject({ url: `/${what}`, headers: { 'x-forwarded-for': '2001:db8:1:2:3::4', ...bearer(accessToken) } })
    const { path, ...line } = steady(take().at(-1) ?? {})
    return line
  }
  const line = { level: 30, address: '2001:db8:1:2::/64', method: 'GET', status: 200 }
  t.strictSame(await lineOf('wrong'), { ...line, user: 7 })
  t.strictSame(await lineOf('robot'), { ...line, client: 'robot', grant }, 'nor anything of another request')
  t.strictSame(await lineOf('ended'), { ...line, user: 9 }, 'the client of a login that ends has sent nothing')
  t.strictSame(await lineOf('bearer'), { ...line, grant })
  t.strictSame(await lineOf('me'), { ...line, user: 1 })
  t.strictSame(await lineOf('account'), { ...line, user: 1 })
  t.strictSame(await lineOf('page'), { ...line, client: 'app' })
  t.strictSame(await lineOf('introspect'), { ...line, client: 'app' })
  t.strictSame(await lineOf('token'), { ...line, client: 'app' }, 'also where the refusal is no event')
  emit({ event: 'user.registered', user: 8, requestId: 'req-of-nobody' })
  t.match(take(), [{ event: 'user.registered', user: 8 }], 'a request that is over has its line')
  t.equal(log.linesDropped(), 0, 'whoever gives the stream counts what it drops')
})

t.test('a log goes to any stream of Node that one gives', async t => {
  const stream = new PassThrough()
  createLog('info', stream).logger.info('a line')
  t.match(JSON.parse(String(stream.read())), { msg: 'a line', pid: process.pid })
})

t.test('an event is written from its own level on', async t => {
  for (const [level, ...written] of [['info', 'user.added', 'grant.stolen'], ['warn', 'grant.stolen'], ['error']]) {
    const texts: string[] = []
    const log = createSecurityLog(createLog(level ?? '', { write: line => texts.push(line) }).logger)
    log.emit({ event: 'user.added', user: 1 })
    log.emit({ event: 'grant.stolen', reason: 'code', user: 1, grant: 'g', client: 'app' })
    t.strictSame(
      texts.map(text => JSON.parse(text).event),
      written
    )
  }
})

/** Spans of time that end when the test says so, and the lines that are written since the last call. */
const createTimed = (t: Test) => {
  const spans: [end: () => void, milliseconds: number][] = []
  t.intercept(globalThis, 'setTimeout', {
    value: (end: () => void, milliseconds: number) => {
      spans.push([end, milliseconds])
      return { unref: () => {} }
    }
  })
  return { ...recordLog('info'), spans, endSpan: () => spans.shift()?.[0]() }
}

t.test('what the parser refuses has a line, ten a second at most, and the rest are counted', async t => {
  const { log, take, spans, endSpan } = createTimed(t)
  const refuse = (count: number) => {
    for (let i = 0; i < count; i++) log.requestUnparsed({ status: 431, address: '192.0.2.1' })
  }
  const line = { level: 30, address: '192.0.2.1', status: 431, msg: 'a request could not be read' }
  const rest = (unparsed: number) => ({ level: 30, unparsed, seconds: 1, msg: 'more requests could not be read' })
  refuse(25)
  t.match(spans, [[Function, 1000]])
  t.strictSame(take().map(steady), Array(10).fill(line))
  endSpan()
  t.strictSame(take().map(steady), [rest(15)])
  refuse(10)
  t.strictSame(take().map(steady), Array(10).fill(line))
  endSpan()
  t.strictSame(take(), [], 'nothing is told where there are none')
  refuse(12)
  take()
  log.end()
  t.strictSame(take().map(steady), [rest(2)], 'nor is any forgotten at the end')
  log.end()
  endSpan()
  t.strictSame(take(), [])
})

t.test('a hundred refused bearer tokens a minute have a line, and the rest one together', async t => {
  const { log, take, spans, endSpan } = createTimed(t)
  const securityLog = createSecurityLog(log.logger)
  const refuse = (count: number) => {
    for (let i = 0; i < count; i++) securityLog.emit({ event: 'bearer.refused', reason: 'unknown' })
  }
  refuse(250)
  t.match(spans, [[Function, 60_000]])
  t.strictSame(take().map(steady), Array(100).fill({ level: 30, event: 'bearer.refused', reason: 'unknown' }))
  securityLog.emit({ event: 'user.added', user: 1 })
  t.equal(take().length, 1, 'other events have their lines')
  endSpan()
  const rest = (refused: number) => ({ level: 30, refused, seconds: 60, msg: 'more bearer tokens were refused' })
  t.strictSame(take().map(steady), [rest(150)])
  refuse(101)
  t.equal(take().length, 100)
  securityLog.end()
  t.strictSame(take().map(steady), [rest(1)])
})

t.test('the lines of a request have the same id, which no request of another instance has', async t => {
  const ids: string[] = []
  for (const level of ['info', 'error']) {
    const lines: string[] = []
    const logged = createTestHttp({ log: createLog(level, { write: line => lines.push(line) }) })
    t.teardown(() => logged.close())
    logged.get('/fail', async () => {
      throw new Error('failed')
    })
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
    await logged.inject({ url: '/fail', headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-00` } })
    for (const line of lines) t.match(JSON.parse(line), { traceId }, 'the trace of the caller is in all of them')
    const [own, ...others] = new Set(lines.map(line => JSON.parse(line).reqId))
    t.equal(lines.length, level === 'info' ? 2 : 1)
    t.match(own, /^req-[0-9a-f]{8}-1$/)
    t.strictSame(others, [])
    ids.push(own)
  }
  t.not(ids[0], ids[1])
})

t.test('requests whose client has left are logged as 499, those that wait behind another one as well', async t => {
  const gone = signal(2)
  const { log, take } = recordLog('info', gone.give)
  await serveWhoLeaves(t, log, gone.given)
  const paths = take().map(({ path, status }) => `${path} ${status}`)
  t.strictSame(paths.sort(), ['/slow/one 499', '/slow/two 499'])
})

t.test('a request whose client has left while it sent the body is logged as 499', async t => {
  const gone = signal()
  const { log, take } = recordLog('info', gone.give)
  await serveWhoBreaksOff(t, log, gone.given)
  t.match(take(), [{ path: '/sample', status: 499 }])
})

t.test('an answer that was sent is logged with its status, also when the client closes behind it', async t => {
  const { log, take } = recordLog('info')
  const http = createSampleHttp({ log })
  http.get('/empty', (_request, reply) => reply.code(204).send())
  http.get('/known', (_request, reply) => reply.code(304).send())
  const url = await http.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => http.close())
  const unsent = { ...JSON_TYPE, 'content-length': '100' }
  for (const [request, ...statuses] of [
    [requestText('GET', '/sample', { connection: 'close' }), 200],
    [requestText('HEAD', '/sample', {}), 200],
    [requestText('GET', '/empty', {}), 204],
    [requestText('GET', '/known', {}), 304],
    [requestText('GET', '/nothing', {}) + requestText('GET', '/sample', {}), 404, 200],
    [requestText('POST', '/sample/protected', unsent), 401],
    [`${requestText('POST', '/sample', { ...unsent, 'content-length': '2000' })}{`, 413]
  ] as const) {
    const { socket, received } = dial(url)
    socket.write(request)
    while (statusesIn(received()).length < statuses.length) await turns(1)
    socket.destroy()
    t.match(
      take(),
      statuses.map(status => ({ status })),
      request
    )
  }
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
