import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { createMemoryStores } from '../../../../adapters/memory/stores.js'
import { DomainError } from '../../../../core/index.js'
import {
  type Asked,
  basic,
  bearer,
  createInhabited,
  createService,
  type Headers,
  LOGIN,
  type Service
} from '../../../support/service.js'
import { ADA } from '../../../support/world.js'

const APP = 'https://app.example'
const OTHER = 'http://localhost:5173'
const corsOrigins = [APP, OTHER, 'capacitor://localhost']
const FROM: Headers = { origin: APP, 'sec-fetch-site': 'cross-site' }
const EXPOSED = 'link, retry-after, www-authenticate'

/** Every path that is open to the listed origins, and the methods that it has. */
const OPEN: [url: string, methods: string][] = [
  ['/heroes', 'GET, HEAD, POST'],
  ['/heroes/1', 'DELETE, GET, HEAD, PUT'],
  ['/me', 'GET, HEAD'],
  ['/register', 'POST'],
  ['/auth/token', 'POST'],
  ['/auth/revoke', 'POST'],
  ['/.well-known/oauth-authorization-server', 'GET, HEAD'],
  ['/.well-known/oauth-protected-resource', 'GET, HEAD'],
  ['/openapi.json', 'GET, HEAD']
]
const CLOSED = [
  '/auth/code',
  '/auth/introspect',
  '/account',
  '/callback',
  '/health/live',
  '/health/ready',
  '/nothing',
  '/heroes/',
  '/heroes/1/x',
  '/heroesx',
  '/auth/tokens'
]

const corsHeaders = (headers: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control-')))

const preflight = (service: Service, url: string, headers: Headers = {}) =>
  service.ask(url, {
    method: 'OPTIONS',
    headers: {
      origin: APP,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
      ...headers
    }
  })

t.test(
  'wire 7.5: a preflight of a listed origin is 204, before any token is asked for, and holds for an hour',
  async t => {
    const service = await createInhabited({ corsOrigins })
    for (const [url, methods] of OPEN) {
      for (const origin of corsOrigins) {
        const answer = await preflight(service, url, { origin })
        t.equal(answer.statusCode, 204, url)
        t.equal(answer.payload, '')
        const { 'access-control-allow-methods': allowed, ...headers } = corsHeaders(answer.headers)
        t.equal(String(allowed).split(', ').sort().join(', '), methods)
        t.strictSame(headers, {
          'access-control-allow-origin': origin,
          'access-control-allow-headers': 'authorization',
          'access-control-max-age': '3600'
        })
        t.has(answer.headers, { vary: 'origin', server: 'heroes/1', 'x-content-type-options': 'nosniff' })
        t.equal(
          answer.headers['cache-control'],
          'no-store',
          'only the browser keeps it, as access-control-max-age says'
        )
        t.equal(answer.headers['content-length'], undefined)
      }
    }
  }
)

t.test('wire 7.5: a page may send any header: what a preflight asks for is allowed, or all', async t => {
  const service = await createInhabited({ corsOrigins })
  const allowed = async (headers: Headers) => {
    const answer = await service.ask('/heroes', {
      method: 'OPTIONS',
      headers: { origin: APP, 'access-control-request-method': 'GET', ...headers }
    })
    return answer.headers['access-control-allow-headers']
  }
  const asked = 'authorization,traceparent,x-anything'
  t.equal(await allowed({ 'access-control-request-headers': asked }), asked)
  t.equal(await allowed({}), 'authorization, *')
})

t.test('wire 7.5: an OPTIONS that is no preflight of a listed origin is 405, as without CORS_ORIGINS', async t => {
  const service = await createInhabited({ corsOrigins })
  const without = await createInhabited()
  const asked: Headers[] = [
    {},
    { 'access-control-request-method': 'POST' },
    { origin: APP },
    { origin: 'https://evil.example', 'access-control-request-method': 'POST' }
  ]
  for (const [url] of OPEN) {
    for (const headers of asked) {
      const question: Asked = { method: 'OPTIONS', headers: { ...headers, 'content-type': 'text/plain' }, payload: 'x' }
      const answer = await service.ask(url, question)
      const plain = await without.ask(url, question)
      t.equal(answer.statusCode, 405, url)
      t.ok(answer.headers.allow)
      t.equal(answer.headers.allow, plain.headers.allow)
      t.equal(answer.payload, plain.payload)
    }
  }
  t.strictSame(corsHeaders((await preflight(without, '/heroes')).headers), {})
})

t.test('wire 7.5: what is not listed gets no permission, whatever it looks like', async t => {
  const service = await createInhabited({ corsOrigins })
  const origins = [
    'null',
    '*',
    'https://evil.example',
    'http://app.example',
    'https://app.example:444',
    'https://app.example.evil.example',
    'https://evil.example/https://app.example',
    'https://APP.example',
    'https://app.example, https://evil.example',
    'http://localhost'
  ]
  for (const [url] of OPEN) {
    for (const origin of origins) {
      const { headers } = await service.ask(url, { headers: { origin } })
      t.strictSame(corsHeaders(headers), {}, `${url} ${origin}`)
      t.match(headers.vary, /^origin\b/, 'a cache must not give this answer to a listed origin')
      t.strictSame(corsHeaders((await preflight(service, url, { origin })).headers), {})
    }
    t.match((await service.ask(url)).headers.vary, /^origin\b/)
  }
})

t.test('wire 7.5: the login page, introspection and what is for no page stay closed to listed origins', async t => {
  const service = await createInhabited({ corsOrigins, callbackPage: true })
  for (const url of CLOSED) {
    for (const method of ['GET', 'POST', 'OPTIONS']) {
      const headers = { ...FROM, 'access-control-request-method': 'POST' }
      const answer = await service.ask(url, { method, headers })
      t.strictSame(corsHeaders(answer.headers), {}, `${method} ${url}`)
      t.notMatch(answer.headers.vary, 'origin')
    }
  }
  const introspected = await service.form('/auth/introspect', { token: 'x' }, { ...FROM, ...basic('app') })
  t.equal(introspected.statusCode, 403)
  t.strictSame(corsHeaders(introspected.headers), {})
})

t.test('wire 7.5: every answer of an open path tells a listed origin what it is, refusals too', async t => {
  const stores = createMemoryStores()
  let away = false
  const list: typeof stores.heroes.list = async query => {
    if (away) throw new DomainError('unavailable', 'the database cannot be reached', { retryAfterSeconds: 1 })
    return stores.heroes.list(query)
  }
  const service = await createInhabited({
    corsOrigins,
    stores: { ...stores, heroes: { ...stores.heroes, list } },
    bodyLimit: 100,
    policy: { loginAttempts: 1 }
  })
  const token = await service.opened()
  const json = (url: string, body: unknown, headers: Headers = {}) =>
    service.json('POST', url, body, { ...FROM, ...headers })
  const get = (url: string, headers: Headers = token) => service.ask(url, { headers: { ...FROM, ...headers } })
  const form = (fields: Record<string, string>) => service.form('/auth/token', fields, { ...FROM, ...basic('app') })
  away = true
  const unavailable = await get('/heroes')
  away = false
  const wrong = { ...LOGIN, password: 'wrong' }
  const answers: [status: number, answer: Awaited<ReturnType<typeof get>>, header?: string][] = [
    [200, await get('/heroes')],
    [200, await json('/heroes', { name: 'Starling' }, token)],
    [200, await json('/register', { username: 'grace', password: 'x' })],
    [200, await form(LOGIN)],
    [200, await get('/.well-known/oauth-authorization-server', {})],
    [401, await get('/heroes', {}), 'www-authenticate'],
    [401, await get('/heroes', { 'access-control-request-method': 'GET' }), 'www-authenticate'],
    [401, await get('/heroes/1', bearer('x')), 'www-authenticate'],
    [401, await service.form('/auth/token', LOGIN, { ...FROM, ...basic('app', 'wrong') }), 'www-authenticate'],
    [404, await get('/heroes/999')],
    [400, await get('/heroes/x')],
    [405, await service.ask('/heroes', { method: 'DELETE', headers: FROM }), 'allow'],
    [409, await json('/heroes', { name: 'Starling' }, token)],
    [413, await json('/heroes', { name: 'x'.repeat(200) }, token)],
    [
      415,
      await service.ask('/register', {
        method: 'POST',
        headers: { ...FROM, 'content-type': 'text/plain' },
        payload: 'x'
      })
    ],
    [400, await form({ grant_type: 'unknown' })],
    [400, await form(wrong)],
    [429, await form(wrong), 'retry-after'],
    [503, unavailable, 'retry-after']
  ]
  for (const [status, answer, header] of answers) {
    t.equal(answer.statusCode, status)
    t.strictSame(
      corsHeaders(answer.headers),
      { 'access-control-allow-origin': APP, 'access-control-expose-headers': EXPOSED },
      String(status)
    )
    t.equal(answer.headers.vary, 'origin, accept-encoding')
    if (header) t.ok(answer.headers[header], header)
  }
})

t.test('a compressed answer varies by the origin and by the coding', async t => {
  const service = await createInhabited({ corsOrigins })
  const headers = { ...FROM, ...(await service.opened()), 'accept-encoding': 'gzip' }
  const answer = await service.ask('/heroes', { headers })
  t.has(answer.headers, { 'content-encoding': 'gzip', vary: 'origin, accept-encoding' })
  t.equal(gunzipSync(answer.rawPayload).toString(), '[]')
})

t.test('without CORS_ORIGINS no answer mentions origins', async t => {
  const service = await createInhabited()
  for (const [url] of OPEN) {
    const { headers } = await service.ask(url, { headers: { origin: APP } })
    t.strictSame(corsHeaders(headers), {})
    t.equal(headers.vary, 'accept-encoding')
  }
})

t.test('wire 5.13: the listed origins, and no others, may send a browser to get and revoke tokens', async t => {
  const service = await createInhabited({ corsOrigins })
  const status = async (url: string, fields: Record<string, string>, headers: Headers) =>
    (await service.form(url, fields, { ...basic('app'), ...headers })).statusCode
  const forms: [url: string, fields: Record<string, string>][] = [
    ['/auth/token', { grant_type: 'password', ...ADA }],
    ['/auth/revoke', { token: 'x' }]
  ]
  for (const [url, fields] of forms) {
    for (const origin of corsOrigins) {
      for (const site of [{ 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }, {}]) {
        t.equal(await status(url, fields, { ...site, origin }), 200)
      }
    }
    t.equal(await status(url, fields, { 'sec-fetch-site': 'cross-site' }), 403)
    for (const origin of ['https://evil.example', 'null', 'undefined']) {
      t.equal(await status(url, fields, { 'sec-fetch-site': 'cross-site', origin }), 403, origin)
    }
  }
  for (const site of [{ 'sec-fetch-site': 'cross-site' }, {}]) {
    t.equal(await status('/auth/introspect', { token: 'x' }, { ...site, origin: APP }), 403)
  }
})

t.test('the refusal of a registration that is closed can be read by a listed origin', async t => {
  const { json } = createService({ corsOrigins, registrationOpen: false })
  const { statusCode, headers } = await json('POST', '/register', ADA, { origin: APP })
  t.strictSame([statusCode, headers['access-control-allow-origin']], [403, APP])
})

t.test('the metadata behind the path of the public URL can be read by a listed origin', async t => {
  const { ask } = createService({ corsOrigins, publicUrl: () => 'https://heroes.example/a' })
  for (const name of ['authorization-server', 'protected-resource']) {
    const { statusCode, headers } = await ask(`/.well-known/oauth-${name}/a`, { headers: { origin: APP } })
    t.strictSame([statusCode, headers['access-control-allow-origin']], [200, APP])
  }
})
