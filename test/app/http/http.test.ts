import t from 'tap'
import { CONSTANT_HEADERS, listen } from '../../support/http.js'
import { createSampleHttp } from '../../support/sample-routes.js'
import { createInhabited, createService } from '../../support/service.js'
import { dial, FORM_TYPE, JSON_TYPE, readAnswer, statusesIn } from '../../support/wire.js'

const http = createSampleHttp()
const send = await listen(http)
t.teardown(() => http.close())

/** A request behind which the connection ends. */
const LAST = 'GET /sample HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'
/** A sample in one chunk. */
const BODY = 'c\r\n{"name":"a"}\r\n0\r\n\r\n'

t.test('every answer has the constant headers', async t => {
  const { ask, json, opened } = await createInhabited()
  const open = await opened()
  await json('POST', '/heroes', { name: 'a' }, open)
  const answers = [
    await ask('/heroes', { headers: open }),
    await ask('/unknown'),
    await ask('/heroes', { method: 'DELETE' }),
    await ask('/heroes/x', { headers: open }),
    await ask('/heroes/1', { method: 'DELETE', headers: open }),
    await ask('/heroes', { method: 'POST' }),
    await ask('/auth/code'),
    await ask('/heroes', { method: 'HEAD', headers: open })
  ]
  t.strictSame(
    answers.map(answer => answer.statusCode),
    [200, 404, 405, 400, 204, 401, 400, 200]
  )
  for (const answer of answers) t.match(answer.headers, { ...CONSTANT_HEADERS, server: 'heroes/1' })
})

t.test("an answer to what Node's parser refuses has the constant headers, a date and a length", async t => {
  const requests: [string, number][] = [
    ['nonsense\r\n\r\n', 400],
    ['FOO /sample HTTP/1.1\r\nhost: a\r\n\r\n', 400],
    ['CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n', 404],
    [`GET /sample HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(40_000)}\r\n\r\n`, 431],
    ['GET /sample HTTP/1.1\r\nconnection: close\r\n\r\n', 400],
    ['GET /sample HTTP/1.1\r\nhost: a\r\nexpect: the unexpected\r\nconnection: close\r\n\r\n', 200],
    ['GET /sample HTTP/1.0\r\n\r\n', 200]
  ]
  for (const [request, status] of requests) {
    const answer = readAnswer(await send(request))
    t.equal(answer.status, status, request.slice(0, 40))
    t.match(answer.headers, { ...CONSTANT_HEADERS, 'content-type': 'application/json; charset=utf-8' })
    t.equal(answer.headers.date, new Date(String(answer.headers.date)).toUTCString(), 'RFC 9110 section 6.6.1')
    t.equal(Number(answer.headers['content-length']), answer.body.length)
    if (status !== 200) t.type(JSON.parse(answer.body).error, 'string')
  }
})

t.test('wire 2.3, 2.4: what the parser refuses has the form of its path', async t => {
  const { http } = createService()
  const send = await listen(http)
  t.teardown(() => http.close())
  const long = `client_id=shop&state=${'a'.repeat(40_000)}`
  const malformed = 'content-length: -1'
  for (const [request, status, body] of [
    [
      `GET /auth/code?${long} HTTP/1.1\r\nhost: a\r\n\r\n`,
      431,
      /^<!doctype html>.*The link, or what was sent with it, is too long/is
    ],
    [`GET /account HTTP/1.1\r\nhost: a\r\n${malformed}\r\n\r\n`, 400, /^<!doctype html>/i],
    [`POST /auth/token HTTP/1.1\r\nhost: a\r\n${malformed}\r\n\r\n`, 400, /^{"error":"invalid_request","error_desc/],
    [`POST /auth/nothing HTTP/1.1\r\nhost: a\r\n${malformed}\r\n\r\n`, 400, /^{"error":"invalid_request","error_desc/],
    [`GET /heroes?${long} HTTP/1.1\r\nhost: a\r\n\r\n`, 431, /^{"error":"the address and the headers are too large/]
  ] as const) {
    const answer = readAnswer(await send(request))
    t.match(
      answer,
      { status, body, headers: { ...CONSTANT_HEADERS, server: 'heroes/1', connection: 'close' } },
      request.slice(0, 30)
    )
    t.match(answer.headers['cache-control'], 'no-store')
    t.notMatch(answer.body, 'Request <', 'it has no id')
  }
})

t.test('what is too large behind the head is told as that', async t => {
  const extension = `1;a=${'x'.repeat(20_000)}\r\n{\r\n`
  const trailer = `2\r\n{}\r\n0\r\na: ${'x'.repeat(50_000)}\r\n\r\n`
  const head = `POST /sample HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`
  for (const [body, status] of [
    [extension, 413],
    [trailer, 431]
  ] as const) {
    t.equal(readAnswer(await send(head + body)).status, status, 'in one packet')
    const { socket, closed } = dial(http.listeningOrigin)
    http.server.once('request', () => socket.write(body))
    socket.write(head)
    t.strictSame(statusesIn(await closed), [status], 'in two')
  }
})

t.test('a client that resets its connection harms nothing, and two malformed packets get one answer', async t => {
  const { socket } = dial(http.listeningOrigin)
  await new Promise(resolve => socket.once('connect', resolve))
  socket.write('GET /sample HTTP/1.1\r\nhost: a\r\nx: ')
  socket.resetAndDestroy()
  t.strictSame(statusesIn(await send('nonsense\r\n\r\n', 'more nonsense\r\n\r\n')), [400])
  t.equal((await http.inject('/sample')).statusCode, 200)
})

t.test('wire 1.10: a request that does not arrive in time is answered 408', async t => {
  const slow = createSampleHttp()
  const send = await listen(slow)
  t.teardown(() => slow.close())
  t.match(slow.server, { headersTimeout: 20_000, requestTimeout: 120_000 })
  slow.server.headersTimeout = 50
  slow.server.requestTimeout = 100
  const type = `content-type: ${FORM_TYPE['content-type']}`
  const [head, body] = await Promise.all([
    send('GET /sample HTTP/1.1\r\nhost: a\r\n'),
    send(`POST /sample/form HTTP/1.1\r\nhost: a\r\n${type}\r\ncontent-length: 9\r\n\r\na=`)
  ])
  const closed = { ...CONSTANT_HEADERS, connection: 'close', date: / GMT$/ }
  t.match(readAnswer(head), { status: 408, headers: closed })
  t.match(readAnswer(body), { status: 408, headers: { ...closed, 'cache-control': 'no-store' } })
  t.equal(JSON.parse(readAnswer(body).body).error, 'invalid_request')
})

t.test('a body that breaks off in the middle of a chunk is answered in the form of its route', async t => {
  const type = `content-type: ${FORM_TYPE['content-type']}`
  const request = `POST /sample/form HTTP/1.1\r\nhost: a\r\n${type}\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n`
  const answer = readAnswer(await send(request))
  t.match(answer, { status: 400, headers: { ...CONSTANT_HEADERS, 'cache-control': 'no-store', pragma: 'no-cache' } })
  t.equal(JSON.parse(answer.body).error, 'invalid_request')
})

t.test('a path without a route is 404 before anything else is looked at', async t => {
  const { http } = createService({ bodyLimit: 1000, protectHeroes: false })
  const requests = [
    { url: '/' },
    { url: '/heroes/' },
    { url: '/heroes/?x=1' },
    { url: '/heroes/1/' },
    { url: '/Heroes' },
    { url: '//heroes' },
    { url: '/heroes/1/2' },
    { url: '/nothing/%zz' },
    { url: '/openapi-json' },
    { url: '/authx' },
    { url: '/nothing', headers: { 'content-type': 'text/plain' }, payload: 'x' },
    { url: '/nothing', headers: { 'content-type': 'not a type' }, payload: 'x' },
    { url: '/nothing', headers: JSON_TYPE, payload: '{' },
    { url: '/nothing', headers: { ...JSON_TYPE, 'content-encoding': 'br' }, payload: 'x'.repeat(2000) }
  ]
  for (const request of requests) {
    for (const method of ['GET', 'POST', 'DELETE'] as const) {
      const answer = await http.inject({ ...request, method })
      t.equal(answer.statusCode, 404, `${method} ${JSON.stringify(request)}`)
      t.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
      t.same(answer.json(), { error: 'there is nothing at this path: /openapi.json lists the paths' })
    }
  }
  t.equal((await http.inject('/heroes?x=/')).statusCode, 200)
})

t.test('a method that a path does not have is 405, and the answer names the methods that the path has', async t => {
  const { http } = createService()
  const send = await listen(http)
  t.teardown(() => http.close())
  const requests = [
    ['PUT', '/heroes', 'GET, HEAD, POST'],
    ['OPTIONS', '/heroes?x=1', 'GET, HEAD, POST'],
    ['POST', '/heroes/12', 'GET, HEAD, DELETE, PUT'],
    ['PATCH', '/her%6Fes/12', 'GET, HEAD, DELETE, PUT'],
    ['POST', '/heroes/%zz', 'GET, HEAD, DELETE, PUT'],
    ['GET', '/register', 'POST']
  ] as const
  for (const [method, url, allow] of requests) {
    const answer = await http.inject({ method, url, headers: { 'content-type': 'text/plain' }, payload: 'x' })
    t.equal(answer.statusCode, 405, `${method} ${url}`)
    t.equal(answer.headers.allow, allow)
  }
  for (const method of ['PROPFIND', 'QUERY', 'TRACE', 'M-SEARCH']) {
    const answer = readAnswer(await send(`${method} /heroes HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`))
    const headers = { ...CONSTANT_HEADERS, server: 'heroes/1', allow: 'GET, HEAD, POST' }
    t.match(answer, { status: 405, headers }, method)
  }
})

t.test('a request target that is no path has no route', async t => {
  for (const target of ['*', 'sample', 'http://a%zz/sample']) {
    const answer = readAnswer(await send(`OPTIONS ${target} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`))
    t.ok([400, 404].includes(answer.status), target)
    t.match(answer.headers, CONSTANT_HEADERS)
  }
})

t.test('a path with a broken escape reaches its route, and so does an id of any length', async t => {
  const { ask } = createService({ protectHeroes: false })
  for (const id of ['%zz', '%ff', '%', '%2', '1%zz?q=%20']) {
    const answer = await ask(`/heroes/${id}`)
    t.equal(answer.statusCode, 400, id)
    t.same(answer.json(), { error: 'id must be an integer' })
  }
  t.same((await ask(`/heroes/${'9'.repeat(8000)}`)).json(), {
    error: 'no hero has this id: send that of a hero in the list'
  })
})

t.test(
  'wire 2.1: a request with several faults is refused for the first: 404, 405, 401, 415, 413 and then 400',
  async t => {
    const post = (url: string, headers: Record<string, string>, payload: string) =>
      http.inject({ method: 'POST', url, headers, payload }).then(({ statusCode }) => statusCode)
    const long = 'x'.repeat(2000)
    t.equal(await post('/nothing', { 'content-type': 'text/plain' }, long), 404)
    const other = { method: 'PATCH', headers: { 'content-type': 'text/plain' }, payload: long } as const
    t.equal((await http.inject({ ...other, url: '/sample/protected' })).statusCode, 405)
    t.equal(await post('/sample/protected', { 'content-type': 'text/plain' }, long), 401)
    t.equal(await post('/sample', { 'content-type': 'text/plain' }, long), 415)
    t.equal(await post('/sample', { ...JSON_TYPE, 'content-encoding': 'gzip' }, long), 415)
    t.equal(await post('/sample', JSON_TYPE, long), 413)
    t.equal(await post('/sample', JSON_TYPE, 'x'), 400)
  }
)

t.test('a key that the schema of the answer does not name never leaves', async t => {
  const answer = await http.inject({ method: 'POST', url: '/sample', headers: JSON_TYPE, payload: '{"name":"a"}' })
  t.same(answer.json(), { id: 1, name: 'a' })
})

t.test('wire 2.5: a request with two Host headers, whatever they say, is 400', async t => {
  for (const second of ['Host: b', 'host: a', 'HOST:', 'hOsT: a']) {
    for (const target of ['/sample', '/nothing']) {
      const answer = readAnswer(
        await send(`GET ${target} HTTP/1.1\r\nHost: a\r\nX: y\r\n${second}\r\nconnection: close\r\n\r\n`)
      )
      t.match(answer, { status: 400, headers: CONSTANT_HEADERS }, second)
    }
  }
  const others = 'X-Host: a\r\nCost: b\r\nX: host\r\nX: host'
  t.equal(
    readAnswer(await send(`GET /sample HTTP/1.1\r\nHost: a\r\n${others}\r\nconnection: close\r\n\r\n`)).status,
    200
  )
})

t.test('a request with two Authorization headers, whatever they say, is 400', async t => {
  for (const second of ['Authorization: Bearer b', 'AUTHORIZATION:', 'authorization: Bearer a']) {
    const answer = await send(
      `GET /sample HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer a\r\n${second}\r\nconnection: close\r\n\r\n`
    )
    t.match(readAnswer(answer), { status: 400, headers: CONSTANT_HEADERS }, second)
    t.match(answer, 'more than one Authorization header')
  }
})

t.test('a header counts behind two thousand others as in front of them', async t => {
  const others = 'a:b\r\n'.repeat(2100)
  const last = 'content-type: application/json\r\nconnection: close\r\ncontent-length: 12\r\n\r\n{"name":"a"}'
  const answer = readAnswer(await send(`POST /sample HTTP/1.1\r\nhost: a\r\n${others}${last}`))
  t.match(answer, { status: 200, body: '{"id":1,"name":"a"}' })
  const refused = await send(`GET /sample HTTP/1.1\r\nhost: a\r\n${others}host: b\r\nconnection: close\r\n\r\n`)
  t.equal(readAnswer(refused).status, 400, 'a second Host')
})

t.test('wire 2.5: a request of HTTP/1.0 with Transfer-Encoding is 400, and its connection ends', async t => {
  const smuggled = 'GET /sample HTTP/1.1\r\nHost: a\r\n\r\n'
  for (const keep of ['', 'Connection: keep-alive\r\n']) {
    const head = `POST /sample HTTP/1.0\r\nHost: a\r\n${keep}Content-Type: application/json\r\n`
    const answer = await send(`${head}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`)
    t.match(readAnswer(answer), { status: 400, headers: { ...CONSTANT_HEADERS, connection: 'close' } })
    t.equal(answer.split('HTTP/1.1 ').length, 2, 'what follows is not answered')
  }
})

t.test('the target * has no route, with any method', async t => {
  const { http } = createService()
  const send = await listen(http)
  t.teardown(() => http.close())
  for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
    for (const target of ['*', '*?x=1']) {
      const request = `${method} ${target} HTTP/1.1\r\nhost: a\r\naccept: text/html\r\nconnection: close\r\n\r\n`
      t.equal(readAnswer(await send(request)).status, 404, `${method} ${target}`)
    }
  }
})

t.test('a refusal on a connection that stays open says that it does, and for how long', async t => {
  const ask = async (...requests: readonly string[]): Promise<readonly string[]> =>
    (await send(...requests)).split(/(?=HTTP\/1\.1 )/)
  const typed = `POST /sample HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n`
  for (const [request, status] of [
    ['GET /sample HTTP/1.1\r\nhost: a\r\n\r\n', 200],
    ['GET /nothing HTTP/1.1\r\nhost: a\r\n\r\n', 404],
    ['PUT /sample HTTP/1.1\r\nhost: a\r\n\r\n', 405],
    ['POST /sample/protected HTTP/1.1\r\nhost: a\r\n\r\n', 401]
  ] as const) {
    const [answer = '', last = ''] = await ask(request, LAST)
    t.match(readAnswer(answer), { status, headers: { connection: 'keep-alive', 'keep-alive': 'timeout=72' } })
    t.equal(readAnswer(last).status, 200)
  }
  // Fastify would end the connection with these.
  for (const [request, status] of [
    [`${typed}content-length: 1\r\n\r\n{`, 400],
    [`${typed}content-length: 2000\r\n\r\n${'x'.repeat(2000)}`, 413],
    [`${typed.replace('json', 'xml')}content-length: 1\r\n\r\n{`, 415]
  ] as const) {
    const [answer = '', last = ''] = await ask(request, LAST)
    t.match(readAnswer(answer), { status, headers: { connection: 'keep-alive' } })
    t.equal(readAnswer(last).status, 200)
    const closing = request.replace('host: a', 'host: a\r\nconnection: close')
    const [closed = ''] = await ask(closing)
    t.match(readAnswer(closed), { status, headers: { connection: 'close' } })
  }
})

t.test('wire 2.5: a request with another transfer coding than chunked is 400, and its connection ends', async t => {
  const ask = (path: string, coding: string) =>
    send(`POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n${coding}\r\n\r\n${BODY}${LAST}`)
  for (const coding of [
    'Transfer-Encoding: foo, chunked',
    'Transfer-Encoding: gzip, chunked',
    'Transfer-Encoding: identity, chunked',
    'Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked'
  ]) {
    for (const path of ['/sample', '/nothing', '/nothing/']) {
      const answer = await ask(path, coding)
      t.match(readAnswer(answer), { status: 400, headers: { ...CONSTANT_HEADERS, connection: 'close' } }, coding)
      t.match(readAnswer(answer).body, 'send chunked alone')
      t.strictSame(statusesIn(answer), [400], 'what follows is not answered')
    }
  }
  for (const coding of ['chunked', 'Chunked', 'CHUNKED', ' \t chunked  ']) {
    t.strictSame(statusesIn(await ask('/sample', `Transfer-Encoding:${coding}`)), [200, 200], coding)
  }
})

t.test('wire 2.5: a request of another version than 1.0 and 1.1 is 400, and its connection ends', async t => {
  for (const version of ['0.9', '2.0']) {
    for (const more of ['host: a\r\n', '', 'host: a\r\nconnection: keep-alive\r\n']) {
      const answer = await send(`GET /sample HTTP/${version}\r\n${more}\r\n`, LAST)
      t.match(readAnswer(answer), { status: 400, headers: { ...CONSTANT_HEADERS, connection: 'close' } }, version)
      t.match(readAnswer(answer).body, 'HTTP/1.1')
      t.strictSame(statusesIn(answer), [400], 'what follows is not answered')
    }
  }
})

t.test('wire 2.5: a request whose Host is no host with a port is 400', async t => {
  const ask = async (host: string, version = '1.1') =>
    readAnswer(
      await send(Buffer.from(`GET /sample HTTP/${version}\r\nhost:${host}\r\nconnection: close\r\n\r\n`, 'latin1'))
    )
  for (const host of [
    ...['a b', 'bad/host', 'h:port', 'h:80:90', '[::1', '::1', '[]', '[::1]x', '[g::1]', '[::1%eth0]', '[v1]'],
    ...['http://x/', 'h@x', 'h?x', 'h#x', 'h\\x', 'a,b c', '%4', '%zz', 'a"', '\xe9', 'h:8\xe9']
  ]) {
    for (const version of ['1.1', '1.0']) {
      const answer = await ask(host, version)
      t.match(answer, { status: 400, headers: CONSTANT_HEADERS }, host)
      t.match(answer.body, 'Host header')
    }
  }
  for (const host of [
    ...['', 'a', ' localhost:3000 ', 'a_b.example', '%41', "!$&'()*+,;=-.~", '192.0.2.1', 'h:', ':80', 'xn--4ca.'],
    ...['[::1]:3000', '[::ffff:192.0.2.1]', '[fe80::1%25eth0]', '[fe80::1%25%65th0]:80', '[v1.a:b]', '[::1]:']
  ]) {
    t.equal((await ask(host)).status, 200, host)
  }
  // A pattern that goes back again and again would not be done with these before the test's time is over.
  for (const part of ['a', '%41', ':', '[', '[v1.', '[::1%25', '1:']) {
    t.not((await ask(`${part.repeat(30_000 / part.length)} x`)).status, 200)
  }
})
