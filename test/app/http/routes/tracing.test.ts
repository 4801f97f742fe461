import { AsyncLocalStorage } from 'node:async_hooks'
import { tracingChannel } from 'node:diagnostics_channel'
import t from 'tap'
import { createSecurityLog } from '../../../../app/serve/log.js'
import { recordLog } from '../../../support/recorded-log.js'
import { basic, createInhabited } from '../../../support/service.js'
import { ADA } from '../../../support/world.js'

/** A service whose lines the test reads. */
const createLogged = async () => {
  const { log, take } = recordLog('debug')
  const service = await createInhabited({ log, events: createSecurityLog(log.logger) })
  take()
  return { ...service, take }
}

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'

t.test('wire 7.8: the trace that a caller names is in the line of the request and in its events', async t => {
  const { form, ask, login, take } = await createLogged()
  await login()
  const untraced = take()
  t.notOk(
    untraced.some(line => 'traceId' in line),
    'no trace is made up'
  )
  const traced = { ...basic('app'), traceparent: `00-${TRACE}-${PARENT}-01` }
  await form('/auth/token', { grant_type: 'password', ...ADA }, traced)
  const lines = take()
  t.match(lines, [
    { level: 30, event: 'login.succeeded', client: 'app', user: 1, traceId: TRACE },
    { level: 30, event: 'token.issued', client: 'app', user: 1, reason: 'password', traceId: TRACE },
    { level: 30, path: '/auth/token', traceId: TRACE }
  ])
  t.strictSame(
    lines.map(line => Object.keys(line).sort()),
    untraced.map(line => [...Object.keys(line), 'traceId'].sort()),
    'nothing else is added'
  )
  await form('/auth/token', { grant_type: 'password', ...ADA }, { ...traced, ...basic('app', 'wrong') })
  t.has(take(), [{ event: 'client.authentication_failed', traceId: TRACE }, { path: '/auth/token' }])
  await ask('/heroes', { headers: { traceparent: `01-${TRACE}-${PARENT}-00-more` } })
  const [line = {}] = take()
  t.has(line, { path: '/heroes', status: 401, traceId: TRACE })
  t.strictSame(Object.keys(line), [
    'level',
    'time',
    'pid',
    'hostname',
    'reqId',
    'traceId',
    'address',
    'method',
    'path',
    'status',
    'ms'
  ])
})

t.test('wire 7.8: a traceparent that is malformed is ignored', async t => {
  const { ask, take } = await createLogged()
  const zeros = '0'.repeat(32)
  for (const traceparent of [
    '',
    TRACE,
    `00-${TRACE}-${PARENT}`,
    `00-${TRACE}-${PARENT}-1`,
    `00-${TRACE}-${PARENT}-01-more`,
    `01-${TRACE}-${PARENT}-01more`,
    `ff-${TRACE}-${PARENT}-01`,
    `00-${zeros}-${PARENT}-01`,
    `00-${TRACE}-${zeros.slice(16)}-01`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `00-${TRACE.slice(1)}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`,
    `00-${TRACE}"-${PARENT}-01`
  ]) {
    t.equal((await ask('/heroes', { headers: { traceparent } })).statusCode, 401)
    t.notOk(
      take().some(line => 'traceId' in line),
      traceparent
    )
  }
})

t.test(
  'a tracer that listens to diagnostics_channel sees each request, and what it begins reaches the use cases',
  async t => {
    const channels = tracingChannel('fastify.request.handler')
    const spans = new AsyncLocalStorage<string>()
    const seen: unknown[] = []
    const inside: unknown[] = []
    channels.start.bindStore(spans, message => {
      const { request, route } = Object(message)
      return `${request.method} ${route.url}`
    })
    const subscribers = {
      start: () => {},
      end: () => {},
      asyncStart: () => {},
      error: () => {},
      asyncEnd: (message: object) => void seen.push(Object(message).reply.statusCode)
    }
    channels.subscribe(subscribers)
    t.teardown(() => {
      channels.start.unbindStore(spans)
      channels.unsubscribe(subscribers)
    })
    const service = await createInhabited({ events: { emit: ({ event }) => inside.push([event, spans.getStore()]) } })
    inside.splice(0)
    await service.form('/auth/token', { grant_type: 'password', ...ADA }, basic('app'))
    t.strictSame(inside, [
      ['login.succeeded', 'POST /auth/token'],
      ['token.issued', 'POST /auth/token']
    ])
    t.strictSame(seen, [200])
  }
)
