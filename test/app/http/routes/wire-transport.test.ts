import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { createMemoryStores } from '../../../../adapters/memory/stores.js'
import { originForm } from '../../../../app/http/protocol/request-head.js'
import { DomainError } from '../../../../core/index.js'
import { listen } from '../../../support/http.js'
import { basic, bearer, createInhabited, createService, REQUEST } from '../../../support/service.js'
import { readAnswer } from '../../../support/wire.js'
import { ADA, addClient, rejecting, type Stores } from '../../../support/world.js'

const JSON_TYPE = 'application/json; charset=utf-8'

t.test('wire 1.2: bodies are JSON, with the type application/json; charset=utf-8', async t => {
  const { ask, json, form } = await createInhabited({ protectHeroes: false })
  for (const answer of [
    await ask('/heroes'),
    await json('POST', '/heroes', { name: 'a' }),
    await ask('/heroes/9'),
    await json('POST', '/register', {}),
    await form('/auth/token', { grant_type: 'password', ...ADA }, basic('app')),
    await form('/auth/token', {}),
    await ask('/nothing')
  ]) {
    t.equal(answer.headers['content-type'], JSON_TYPE)
    t.doesNotThrow(() => answer.json())
  }
})

t.test('wire 1.1: /heroes and /heroes/{id} are paths, and a path without a route is 404', async t => {
  const { ask, json } = createService({ protectHeroes: false })
  await json('POST', '/heroes', { name: 'a' })
  t.equal((await ask('/heroes')).statusCode, 200)
  t.equal((await ask('/heroes/1')).statusCode, 200)
  for (const path of ['/', '/heroes/', '/heroes/1/2', '/hero', '/Heroes', '/auth', '/auth/', '/auth/tokens']) {
    t.equal((await ask(path)).statusCode, 404, path)
  }
})

t.test('wire 2.3, 2.4: what a path is refused as does not depend on how the path is spelled', async t => {
  const { ask, http } = createService({ corsOrigins: ['https://app.example'] })
  t.teardown(() => http.close())
  const send = await listen(http)
  // Not by `ask`, which makes a path of a whole URL.
  const whole = async (target: string) => {
    const fields = 'host: x\r\naccept: text/html\r\nconnection: close'
    const { status, headers, body } = readAnswer(await send(`PATCH ${target} HTTP/1.1\r\n${fields}\r\n\r\n`))
    return [status, headers['content-type'], headers['cache-control'], body.includes('error_description')]
  }
  const spellings = ['/auth/', '/%61uth/', '/a%75t%68/']
  for (const start of spellings) {
    for (const [path, status] of [
      ['token', 405],
      ['token?x=/%61', 405],
      ['nothing', 404]
    ] as const) {
      const answer = await ask(start + path, { headers: { origin: 'https://app.example' } })
      t.equal(answer.statusCode, status, start + path)
      t.has(answer.headers, { 'cache-control': 'no-store', pragma: 'no-cache' }, start + path)
      t.equal(answer.json().error, 'invalid_request', start + path)
      const opened = answer.headers['access-control-allow-origin']
      t.equal(opened, status === 405 ? 'https://app.example' : undefined, start + path)
    }
    const page = await ask(`${start}code?y`, { method: 'PUT' })
    t.has([page.statusCode, page.headers['content-type']], [405, 'text/html; charset=utf-8'], start)
  }
  for (const start of ['http://heroes.example', 'HTTPS://u:p@x:1']) {
    t.strictSame(await whole(`${start}/auth/token`), [405, JSON_TYPE, 'no-store', true])
    t.strictSame(await whole(`${start}/%61uth/nothing?x`), [404, JSON_TYPE, 'no-store', true])
    t.strictSame(await whole(`${start}/auth/code`), [405, 'text/html; charset=utf-8', 'no-store', false])
    for (const root of ['', '/', '?x', '/?x'])
      t.strictSame(await whole(start + root), [404, JSON_TYPE, undefined, false])
  }
  const browser = { accept: 'text/html' }
  t.equal((await ask('http://x/', { headers: browser })).statusCode, 302)
  for (const other of ['/%2561uth/token', '/%2fauth/token', '/?/auth/token']) {
    const answer = await ask(other)
    t.has([answer.statusCode, Object.keys(answer.json())], [404, ['error']], other)
  }
})

t.test('wire 1.1: the escapes of letters, digits and -._~ stand for these, and all others for themselves', async t => {
  for (let code = 0; code < 128; code++) {
    const character = String.fromCharCode(code)
    const hex = code.toString(16).padStart(2, '0')
    for (const escaped of [`%${hex}`, `%${hex.toUpperCase()}`]) {
      const path = `/a${/[\w.~-]/.test(character) ? character : escaped}`
      t.equal(originForm(`/a${escaped}?${escaped}`), `${path}?${escaped}`)
    }
  }
  t.equal(originForm('http://a?b'), '/?b', 'the path of a URL without one is /')
})

t.test('wire 1.3: gzip is for those who ask for it by name, and for nobody else', async t => {
  const { ask, json } = await createInhabited({ protectHeroes: false })
  await json('POST', '/heroes', { name: 'a' })
  const page = `/auth/code?${new URLSearchParams(REQUEST)}`
  for (const url of ['/heroes', '/heroes/1', page]) {
    const plain = await ask(url)
    t.notOk(plain.headers['content-encoding'], url)
    for (const coding of ['br', 'deflate', '*', 'gzip;q=0']) {
      t.notOk((await ask(url, { headers: { 'accept-encoding': coding } })).headers['content-encoding'], coding)
    }
    const packed = await ask(url, { headers: { 'accept-encoding': 'gzip' } })
    t.equal(packed.headers['content-encoding'], 'gzip')
    t.equal(gunzipSync(packed.rawPayload).toString(), plain.payload)
    t.equal(Number(packed.headers['content-length']), packed.rawPayload.length)
  }
})

t.test('wire 1.4: every answer has the four headers and its length', async t => {
  const { ask, json, form } = await createInhabited()
  const answers = [
    await ask('/heroes'),
    await ask('/nothing'),
    await ask('/heroes', { method: 'PATCH' }),
    await json('POST', '/register', { username: 'bob', password: 'x' }),
    await json('POST', '/register', '{'),
    await form('/auth/token', { grant_type: 'password', ...ADA }, basic('app')),
    await form('/auth/token', {}),
    await form('/auth/revoke', { token: 'x' }, basic('app')),
    await ask(`/auth/code?${new URLSearchParams(REQUEST)}`),
    await form('/auth/code', { ...REQUEST, ...ADA }),
    await form('/auth/code', { ...REQUEST, ...ADA, password: 'wrong' }),
    await ask('/auth/code'),
    await ask('/.well-known/oauth-authorization-server'),
    await ask('/health/live')
  ]
  for (const { headers, payload } of answers) {
    t.match(headers, {
      'x-frame-options': 'SAMEORIGIN',
      'x-xss-protection': '1; mode=block',
      'x-content-type-options': 'nosniff',
      server: /^heroes\/[0-9]+$/
    })
    t.equal(Number(headers['content-length']), Buffer.byteLength(payload))
  }
})

t.test('wire 2.5: a body that its content type cannot decode is 400', async t => {
  const { json, form } = await createInhabited({ protectHeroes: false })
  t.equal((await json('POST', '/heroes', '{"name":')).statusCode, 400)
  t.equal((await json('POST', '/register', Buffer.from([0x22, 0xff, 0x22]))).statusCode, 400)
  t.equal((await form('/auth/token', 'grant_type=%zz', basic('app'))).statusCode, 400)
})

t.test('wire 2.5: a decoded body of another kind than expected is 400', async t => {
  const { json } = createService({ protectHeroes: false })
  t.equal((await json('POST', '/heroes', [{ name: 'a' }])).statusCode, 400)
  t.equal((await json('POST', '/register', [ADA])).statusCode, 400)
})

t.test('wire 2.5: a key that is not a field of the record is 400', async t => {
  const { json } = createService({ protectHeroes: false })
  t.equal((await json('POST', '/heroes', { name: 'a', power: 1 })).statusCode, 400)
  t.equal((await json('POST', '/register', { ...ADA, age: 1 })).statusCode, 400)
})

t.test('wire 2.5: a required key that is missing is 400', async t => {
  const { json, form } = await createInhabited({ protectHeroes: false })
  t.equal((await json('POST', '/heroes', {})).statusCode, 400)
  t.equal((await form('/auth/token', { grant_type: 'refresh_token' }, basic('app'))).statusCode, 400)
})

t.test('wire 2.5: a path, query or header value that cannot be parsed is 400', async t => {
  const { ask, http } = createService({ protectHeroes: false })
  t.equal((await ask('/heroes/x')).statusCode, 400)
  t.equal((await ask('/heroes?limit=x')).statusCode, 400)
  const headers = { 'content-type': 'application/json', 'content-length': '3' }
  t.equal((await http.inject({ method: 'POST', url: '/heroes', headers, payload: '{"name":"a"}' })).statusCode, 400)
})

t.test('wire 2.2: /register without a password is 400, and the error says so in words', async t => {
  const answer = await createService().json('POST', '/register', { username: 'ada' })
  t.strictSame([answer.statusCode, answer.json()], [400, { error: 'the body has no password: add it' }])
})

t.test('wire 2.6: a protected endpoint without a valid bearer token is 401', async t => {
  const { ask } = createService()
  for (const headers of [{}, bearer(UNKNOWN_TOKEN), basic('app'), { authorization: 'Bearer' }]) {
    t.equal((await ask('/heroes', { headers })).statusCode, 401)
  }
})

t.test('wire 2.7: a path without a route and an unknown id are 404', async t => {
  const { ask } = createService({ protectHeroes: false })
  t.equal((await ask('/nothing')).statusCode, 404)
  t.equal((await ask('/heroes/1')).statusCode, 404)
})

t.test('wire 2.8: a name or username that is taken is 409', async t => {
  const { json } = createService({ protectHeroes: false })
  for (const [url, body] of [
    ['/heroes', { name: 'a' }],
    ['/register', ADA]
  ] as const) {
    t.equal((await json('POST', url, body)).statusCode, 200)
    t.equal((await json('POST', url, body)).statusCode, 409)
  }
})

const INSIDE = 'password=hunter2 at 10.0.0.7'
const UNKNOWN_TOKEN = 'x'.repeat(32)

const everyEndpoint = (stores: Stores) => {
  const { ask, json, form } = createService({ stores })
  const token = 'x'.repeat(32)
  const login = { grant_type: 'password', ...ADA }
  return Promise.all([
    ask('/heroes', { headers: bearer(token) }),
    ask('/heroes/1', { headers: bearer(token) }),
    json('POST', '/heroes', { name: 'a' }, bearer(token)),
    json('PUT', '/heroes/1', { name: 'a' }, bearer(token)),
    ask('/heroes/1', { method: 'DELETE', headers: bearer(token) }),
    json('POST', '/register', ADA),
    form('/auth/token', login, basic('app')),
    form('/auth/revoke', { token }, basic('app')),
    form('/auth/introspect', { token }, basic('app')),
    ask(`/auth/code?${new URLSearchParams(REQUEST)}`),
    form('/auth/code', { ...REQUEST, ...ADA })
  ])
}

t.test('wire 2.9: an unexpected failure is 500, and the body says nothing of the inside', async t => {
  for (const { statusCode, payload, headers } of await everyEndpoint(rejecting(() => new Error(INSIDE)))) {
    t.equal(statusCode, 500)
    t.notMatch(payload, /hunter2|10\.0\.0\.7/)
    t.match(payload, /the service failed/i)
    t.match(headers, { server: /^heroes\// })
  }
})

t.test('wire 2.10: a database that cannot be reached is 503, and the body says nothing of the inside', async t => {
  const unavailable = () =>
    new DomainError('unavailable', 'the database is away', { retryAfterSeconds: 1, cause: new Error(INSIDE) })
  for (const { statusCode, payload, headers } of await everyEndpoint(rejecting(unavailable))) {
    t.equal(statusCode, 503)
    t.notMatch(payload, /hunter2|10\.0\.0\.7/)
    t.equal(headers['retry-after'], '1')
  }
})

t.test('wire 2.3: a database that goes away under way is 503 under /auth/ as temporarily_unavailable', async t => {
  const stores = createMemoryStores()
  const away = {
    ...stores.tokens,
    insert: () => Promise.reject(new DomainError('unavailable', 'the database is away', { retryAfterSeconds: 1 }))
  }
  const service = createService({ stores: { ...stores, tokens: away } })
  await addClient(service, 'app')
  await service.useCases.registerUser(ADA)
  const answer = await service.form('/auth/token', { grant_type: 'password', ...ADA }, basic('app'))
  t.strictSame([answer.statusCode, answer.json().error], [503, 'temporarily_unavailable'])
  t.has(answer.headers, { 'cache-control': 'no-store', pragma: 'no-cache' })
})

t.test('wire 1.6: a body of 10 MB is read and one of a byte more is 413, for every request with a body', async t => {
  const { json, form } = await createInhabited({ protectHeroes: false })
  const exact = (head: string, tail: string) => `${head}${'x'.repeat(10_485_760 - head.length - tail.length)}${tail}`
  const object = exact('{"name":"a","id":"', '"}')
  t.equal((await json('POST', '/heroes', object)).statusCode, 200)
  t.equal((await json('POST', '/heroes', `${object} `)).statusCode, 413)
  t.equal((await json('POST', '/register', `${object} `)).statusCode, 413)
  // No value is longer than 16 kB.
  const padding = Array.from({ length: 655 }, (_, part) => `&x${part}=${'x'.repeat(15_990)}`).join('')
  const fields = exact(`grant_type=password&username=ada&password=correct+horse${padding}&x=`, '')
  t.equal((await form('/auth/token', fields, basic('app'))).statusCode, 200)
  for (const url of ['/auth/token', '/auth/revoke', '/auth/introspect', '/auth/code']) {
    t.equal((await form(url, `${fields}x`, basic('app'))).statusCode, 413, url)
  }
})

t.test('wire 5.4: expires_in is in seconds, after which the access token opens nothing', async t => {
  const { login, ask, clock } = await createInhabited({ policy: { accessTokenSeconds: 100 } })
  const { access_token, expires_in } = await login()
  t.equal(expires_in, 100)
  clock.advance(99.999)
  t.equal((await ask('/heroes', { headers: bearer(access_token) })).statusCode, 200)
  clock.advance(0.001)
  t.equal((await ask('/heroes', { headers: bearer(access_token) })).statusCode, 401)
})

t.test('wire 1.1: no path carries a version', async t => {
  const answer = await createService().ask('/v1/heroes')
  t.equal(answer.statusCode, 404)
})
