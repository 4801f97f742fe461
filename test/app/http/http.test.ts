import { connect } from 'node:net'
import t from 'tap'
import type { ErrorCode } from '../../../core/index.js'
import { createTestHttp, listen } from '../../support/http.js'
import { addRoutes, constant, form, json, read } from '../../support/sample-routes.js'

const http = addRoutes(createTestHttp())
const send = await listen(http)
t.teardown(() => http.close())

t.test('every answer has the constant headers', async t => {
  const requests = [
    { url: '/heroes' },
    { url: '/unknown' },
    { url: '/heroes', method: 'DELETE' as const },
    { url: '/heroes/x' },
    { url: '/heroes/1', method: 'DELETE' as const },
    { url: '/protected', method: 'POST' as const },
    { url: '/fail/hidden' },
    { url: '/unserializable' },
    { url: '/auth/code?state=1' },
    { url: '/heroes', method: 'HEAD' as const }
  ]
  for (const request of requests) t.match((await http.inject(request)).headers, constant, JSON.stringify(request))
})

t.test("what Node's parser refuses has them too, and a length", async t => {
  const requests: [string, number][] = [
    ['nonsense\r\n\r\n', 400],
    ['FOO /heroes HTTP/1.1\r\nhost: a\r\n\r\n', 400],
    [`GET /heroes HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(40_000)}\r\n\r\n`, 431],
    ['GET /heroes HTTP/1.1\r\nconnection: close\r\n\r\n', 400],
    ['GET /heroes HTTP/1.1\r\nhost: a\r\nexpect: the unexpected\r\nconnection: close\r\n\r\n', 200],
    ['GET /heroes HTTP/1.0\r\n\r\n', 200]
  ]
  for (const [request, status] of requests) {
    const answer = read(await send(request))
    t.equal(answer.status, status, request.slice(0, 40))
    t.match(answer.headers, { ...constant, 'content-type': 'application/json; charset=utf-8' })
    t.equal(Number(answer.headers['content-length']), answer.body.length)
    if (status !== 200) t.type(JSON.parse(answer.body).error, 'string')
  }
})

t.test('a client that resets its connection or has been answered is not answered', async t => {
  const socket = connect(new URL(http.listeningOrigin).port as unknown as number, '127.0.0.1')
  await new Promise(resolve => socket.once('connect', resolve))
  socket.write('GET /heroes HTTP/1.1\r\nhost: a\r\nx: ')
  socket.resetAndDestroy()
  t.match(await send('nonsense\r\n\r\n', 'more nonsense\r\n\r\n'), /^HTTP\/1.1 400/)
  t.equal((await http.inject('/heroes')).statusCode, 200)
})

t.test('requests that do not arrive in time are answered 408', async t => {
  const slow = addRoutes(createTestHttp())
  const send = await listen(slow)
  t.teardown(() => slow.close())
  slow.server.headersTimeout = 50
  slow.server.requestTimeout = 100
  const [head, body] = await Promise.all([
    send('GET /heroes HTTP/1.1\r\nhost: a\r\n'),
    send(`POST /auth/token HTTP/1.1\r\nhost: a\r\ncontent-type: ${form['content-type']}\r\ncontent-length: 9\r\n\r\na=`)
  ])
  t.match(read(head), { status: 408, headers: { ...constant, connection: 'close' } })
  t.match(read(body), { status: 408, headers: { ...constant, 'cache-control': 'no-store', connection: 'close' } })
  t.equal(JSON.parse(read(body).body).error, 'invalid_request')
})

t.test('a body that breaks off in the middle of its coding is answered as its route answers', async t => {
  const answer = read(
    await send(
      `POST /auth/token HTTP/1.1\r\nhost: a\r\ncontent-type: ${form['content-type']}\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n`
    )
  )
  t.match(answer, { status: 400, headers: { ...constant, 'cache-control': 'no-store', pragma: 'no-cache' } })
  t.equal(JSON.parse(answer.body).error, 'invalid_request')
})

t.test('a path without a route is 404 before anything else', async t => {
  const requests = [
    { url: '/' },
    { url: '/heroes/' },
    { url: '/heroes/?x=1' },
    { url: '/heroes/1/' },
    { url: '/Heroes' },
    { url: '//heroes' },
    { url: '/heroes/1/2' },
    { url: '/nothing/%zz' },
    { url: '/nothing', headers: { 'content-type': 'text/plain' }, payload: 'x' },
    { url: '/nothing', headers: { 'content-type': 'not a type' }, payload: 'x' },
    { url: '/nothing', headers: json, payload: '{' },
    { url: '/nothing', headers: { ...json, 'content-encoding': 'br' }, payload: 'x'.repeat(2000) }
  ]
  for (const request of requests) {
    for (const method of ['GET', 'POST', 'DELETE'] as const) {
      const answer = await http.inject({ ...request, method })
      t.equal(answer.statusCode, 404, `${method} ${JSON.stringify(request)}`)
      t.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
      t.same(answer.json(), { error: 'there is nothing at this path' })
    }
  }
  t.equal((await http.inject('/heroes?x=/')).statusCode, 200)
})

t.test('a method that a path does not have is 405 and told which it has', async t => {
  const requests: [string, string, string][] = [
    ['PUT', '/heroes', 'GET, HEAD, POST'],
    ['OPTIONS', '/heroes?x=1', 'GET, HEAD, POST'],
    ['POST', '/heroes/12', 'GET, HEAD, DELETE'],
    ['PATCH', '/her%6Fes/12', 'GET, HEAD, DELETE'],
    ['POST', '/heroes/%zz', 'GET, HEAD, DELETE'],
    ['GET', '/protected', 'POST']
  ]
  for (const [method, url, allow] of requests) {
    const answer = await http.inject({
      method: method as 'PUT',
      url,
      headers: { 'content-type': 'text/plain' },
      payload: 'x'
    })
    t.equal(answer.statusCode, 405, `${method} ${url}`)
    t.equal(answer.headers.allow, allow)
  }
  for (const method of ['PROPFIND', 'QUERY', 'TRACE', 'M-SEARCH']) {
    const answer = read(await send(`${method} /heroes HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`))
    t.match(answer, { status: 405, headers: { ...constant, allow: 'GET, HEAD, POST' } }, method)
  }
})

t.test('a target that is no path has no route', async t => {
  for (const target of ['*', 'heroes', 'http://a%zz/heroes']) {
    const answer = read(await send(`OPTIONS ${target} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`))
    t.ok([400, 404].includes(answer.status), target)
    t.match(answer.headers, constant)
  }
})

t.test('a path with a broken escape reaches its route, and so does an id of any length', async t => {
  for (const id of ['%zz', '%ff', '%', '%2', '1%zz?q=%20']) {
    const answer = await http.inject(`/heroes/${id}`)
    t.equal(answer.statusCode, 400, id)
    t.same(answer.json(), { error: 'the id is not an integer' })
  }
  t.same((await http.inject(`/heroes/${'9'.repeat(8000)}`)).json(), { id: 8000, name: 'Superman' })
})

t.test('refusals come in their order', async t => {
  const post = (url: string, headers: Record<string, string>, payload?: string) =>
    http
      .inject({ method: 'POST', url, headers, ...(payload !== undefined && { payload }) })
      .then(({ statusCode }) => statusCode)
  const long = 'x'.repeat(2000)
  t.equal(await post('/nothing', { 'content-type': 'text/plain' }, long), 404)
  t.equal(await post('/protected', { 'content-type': 'text/plain' }, long), 401)
  t.equal(await post('/heroes', { 'content-type': 'text/plain' }, long), 415)
  t.equal(await post('/heroes', { ...json, 'content-encoding': 'gzip' }, long), 415)
  t.equal(await post('/heroes', json, long), 413)
  t.equal(await post('/heroes', json, 'x'), 400)
})

t.test('the answer to a request leaves no key out of a whitelist through', async t => {
  t.same((await http.inject('/heroes/7')).json(), { id: 1, name: 'Superman' })
})

t.test('every code has its status and its headers, as JSON and under /auth/', async t => {
  const expected: [ErrorCode, number, string][] = [
    ['invalid_input', 400, 'invalid_request'],
    ['not_found', 404, 'invalid_request'],
    ['conflict', 409, 'invalid_request'],
    ['token_required', 401, 'invalid_request'],
    ['invalid_token', 401, 'invalid_token'],
    ['insufficient_scope', 403, 'insufficient_scope'],
    ['invalid_request', 400, 'invalid_request'],
    ['invalid_client', 401, 'invalid_client'],
    ['invalid_grant', 400, 'invalid_grant'],
    ['invalid_scope', 400, 'invalid_scope'],
    ['unauthorized_client', 400, 'unauthorized_client'],
    ['unsupported_grant_type', 400, 'unsupported_grant_type'],
    ['unsupported_response_type', 400, 'unsupported_response_type'],
    ['access_denied', 403, 'access_denied'],
    ['too_many_attempts', 429, 'temporarily_unavailable'],
    ['overloaded', 503, 'temporarily_unavailable'],
    ['unavailable', 503, 'temporarily_unavailable']
  ]
  const challenges: Partial<Record<ErrorCode, string>> = {
    token_required: 'Bearer realm="heroes"',
    invalid_token: 'Bearer realm="heroes", error="invalid_token"',
    insufficient_scope: 'Bearer realm="heroes", error="insufficient_scope", scope="heroes.read"',
    invalid_client: 'Basic realm="heroes"'
  }
  for (const [code, status, oauth] of expected) {
    const answer = await http.inject(`/fail/${code}`)
    t.equal(answer.statusCode, status, code)
    t.same(answer.json(), { error: 'the message' })
    t.equal(answer.headers['www-authenticate'], challenges[code])
    t.notOk(answer.headers['cache-control'])

    const auth = await http.inject(`/auth/fail/${code}`)
    t.equal(auth.statusCode, status, code)
    t.same(auth.json(), { error: oauth, error_description: 'the message' })
    t.equal(auth.headers['www-authenticate'], challenges[code])
    t.match(auth.headers, { 'cache-control': 'no-store', pragma: 'no-cache' })
  }
  const away = await http.inject('/fail/retry')
  t.match([away.statusCode, away.headers['retry-after'], away.json()], [503, '2', { error: 'the database is away' }])
})

t.test('an unknown failure is 500 and says nothing of the inside', async t => {
  for (const url of ['/fail/hidden', '/fail/not-an-error', '/fail/foreign', '/unserializable']) {
    const answer = await http.inject(url)
    t.equal(answer.statusCode, 500)
    t.same(answer.json(), { error: 'the service failed' })
  }
  t.same((await http.inject('/auth/fail/hidden')).json(), {
    error: 'server_error',
    error_description: 'the service failed'
  })
})

t.test('everything under /auth/ that fails says so in OAuth’s words and is not cached', async t => {
  const requests = [
    { url: '/auth/nothing', status: 404 },
    { url: '/auth/token', method: 'GET' as const, status: 405 },
    { url: '/auth/token', method: 'POST' as const, headers: form, payload: 'x'.repeat(1001), status: 413 },
    {
      url: '/auth/token',
      method: 'POST' as const,
      headers: { ...form, 'content-encoding': 'br' },
      payload: 'x',
      status: 415
    },
    { url: '/auth/token', method: 'POST' as const, status: 400 },
    { url: '/auth/token', method: 'POST' as const, headers: form, payload: 'a=1&a=2', status: 400 }
  ]
  for (const { status, ...request } of requests) {
    const answer = await http.inject({ method: 'GET', ...request })
    t.equal(answer.statusCode, status, JSON.stringify(request))
    t.equal(answer.json().error, 'invalid_request')
    t.match(answer.json().error_description, /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/)
    t.match(answer.headers, { 'cache-control': 'no-store', pragma: 'no-cache' })
  }
})

t.test('/auth/code answers people', async t => {
  const requests = [
    { url: '/auth/code?state=%zz', status: 400 },
    { url: '/auth/code', method: 'DELETE' as const, status: 405 },
    { url: '/auth/code', method: 'POST' as const, headers: form, payload: 'x'.repeat(1001), status: 413 },
    { url: '/auth/code?x=1', method: 'POST' as const, headers: json, payload: '{}', status: 400 },
    { url: '/auth/code', method: 'POST' as const, status: 400 }
  ]
  for (const { status, ...request } of requests) {
    const answer = await http.inject({ method: 'GET', ...request })
    t.equal(answer.statusCode, status, JSON.stringify(request))
    t.match(answer.headers, { 'content-type': 'text/html; charset=utf-8', 'x-page': 'yes' })
    t.match(answer.payload, `<p>${status} `)
  }
  t.equal((await http.inject({ url: '/auth/code', method: 'DELETE' })).headers.allow, 'GET, HEAD, POST')
  t.equal((await http.inject('/auth/codes')).headers['content-type'], 'application/json; charset=utf-8')
})
