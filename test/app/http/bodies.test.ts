import { Readable } from 'node:stream'
import t from 'tap'
import { CONSTANT_HEADERS, listen } from '../../support/http.js'
import { createSampleHttp } from '../../support/sample-routes.js'
import { createService } from '../../support/service.js'
import { dial, FORM_TYPE, JSON_TYPE, readAnswer, statusesIn } from '../../support/wire.js'

const http = createSampleHttp()
const send = await listen(http)
t.teardown(() => http.close())
const post = (url: string, headers: Record<string, string>, payload: string | Buffer) =>
  http.inject({ method: 'POST', url, headers, payload })

t.test('a JSON route reads JSON and nothing else', async t => {
  const payload = '{"name":"a"}'
  for (const type of ['application/json', 'Application/JSON; charset=utf-8', 'application/json;charset="UTF-8"']) {
    const answer = await post('/sample', { 'content-type': type }, payload)
    t.same(answer.json(), { id: 1, name: 'a' }, type)
  }
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonp',
    'application/vnd.a+json',
    'json'
  ]) {
    const answer = await post('/sample', { 'content-type': type }, payload)
    t.equal(answer.statusCode, 415, type)
    t.same(answer.json(), { error: 'the content type is not one that is read here: send application/json' })
  }
  const untyped = await send(
    `POST /sample HTTP/1.1\r\nhost: a\r\ncontent-length: 12\r\nconnection: close\r\n\r\n${payload}`
  )
  t.equal(readAnswer(untyped).status, 415)
})

t.test('a form route reads forms and nothing else', async t => {
  for (const type of ['application/x-www-form-urlencoded', 'application/x-www-form-urlencoded; charset=UTF-8']) {
    const answer = await post('/sample/form', { 'content-type': type }, 'a=1')
    t.same(answer.json(), { a: '1' }, type)
  }
  for (const type of ['text/plain', 'application/json', 'multipart/form-data; boundary=x']) {
    const answer = await post('/sample/form', { 'content-type': type }, 'a=1')
    t.equal(answer.statusCode, 400, type)
    t.equal(answer.json().error, 'invalid_request')
    t.match(answer.headers, { 'cache-control': 'no-store', pragma: 'no-cache' })
  }
  const untyped = await send(
    'POST /sample/form HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\nconnection: close\r\n\r\na=1'
  )
  t.equal(readAnswer(untyped).status, 400)
})

t.test('wire 1.9: a request without a body is not judged by what its headers say of one', async t => {
  const { ask } = createService({ protectHeroes: false })
  const headers: Record<string, string>[] = [
    { 'content-type': 'text/plain' },
    { 'content-type': 'not a type' },
    { 'content-type': '' },
    { 'content-type': 'multipart/form-data' },
    { 'content-encoding': 'gzip' },
    { 'content-language': 'de', 'content-location': '/', 'content-range': 'bytes 0-1/2' },
    { trailer: 'x', expect: 'nothing', digest: 'md5=x', 'content-md5': 'x' }
  ]
  for (const about of headers) {
    for (const length of [{}, { 'content-length': '0' }, { 'content-length': '00' }]) {
      const given = { headers: { ...about, ...length } }
      const name = JSON.stringify(given)
      t.equal((await ask('/heroes/1', { method: 'DELETE', ...given })).statusCode, 404, name)
      t.equal((await ask('/heroes', given)).statusCode, 200, name)
      const none = await ask('/heroes', { method: 'POST', ...given })
      t.strictSame([none.statusCode, none.json().error], [400, 'the body must be a JSON object'], name)
      const form = await ask('/auth/token', { method: 'POST', ...given })
      t.match(form.json(), { error_description: /^the client must authenticate: / }, name)
    }
  }
})

t.test('a body with a content coding is not read', async t => {
  for (const [url, type] of [
    ['/sample', JSON_TYPE],
    ['/sample/form', FORM_TYPE]
  ] as const) {
    for (const coding of ['gzip', 'br', 'identity, gzip', '']) {
      const headers = { ...type, 'content-encoding': coding }
      t.equal((await post(url, headers, 'a=1')).statusCode, 415, `${url} ${coding}`)
    }
  }
  const headers = { ...FORM_TYPE, 'content-encoding': 'Identity' }
  t.same((await post('/sample/form', headers, 'a=1')).json(), { a: '1' })
})

t.test('a refusal of a JSON body says what is wrong with it and repeats nothing of what was sent', async t => {
  const bodies: [string | Buffer, string][] = [
    ['', 'the body must be a JSON object'],
    ['null', 'the body must be a JSON object'],
    ['[]', 'the body must be a JSON object'],
    ['5', 'the body must be a JSON object'],
    ['"secret"', 'the body must be a JSON object'],
    ['{}', 'the body has no name: add it'],
    ['{"name":5}', 'name must be of type string'],
    ['{"name":null}', 'name must be of type string'],
    ['{"name":["secret"]}', 'name must be of type string'],
    ['{"name":"a","tags":["b",7]}', 'tags.1 must be of type string'],
    ['{"name":"secret secret secret!"}', 'name must NOT have more than 20 characters'],
    ['{"name":"a","secret":1}', 'the body has a key that is unknown: it may have id, name, tags'],
    ['{"name":"secret', 'the body is not valid JSON at line 1, column 16: send one JSON object'],
    ['{"name":"a"} secret', 'the body is not valid JSON at line 1, column 14: send one JSON object'],
    ['{\n  "name": secret\n}', 'the body is not valid JSON at line 2, column 11: send one JSON object'],
    ['{"name":', 'the body is not valid JSON at line 1, column 9: send one JSON object'],
    ['secret', 'the body is not valid JSON at line 1, column 1: send one JSON object'],
    ['[object Object]', 'the body is not valid JSON at line 1, column 2: send one JSON object'],
    ['x"end of JSON input"', 'the body is not valid JSON at line 1, column 1: send one JSON object'],
    ['undefined', 'the body is not valid JSON at line 1, column 1: send one JSON object'],
    ['{"name":"a",}', 'the body is not valid JSON at line 1, column 13: send one JSON object'],
    ['{"name":"a","__proto__":{}}', 'the body has a key that no JSON body may have: leave it out'],
    ['{"name":"a","constructor":{"prototype":{}}}', 'the body has a key that is unknown: it may have id, name, tags'],
    ['{"name":"a","id":{"__proto__":{}}}', 'the body has a key that no JSON body may have: leave it out'],
    [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), 'the body is not valid UTF-8: encode it as UTF-8'],
    ['{"name":"\\u0000"}', 'the body holds a NUL character or half of a surrogate pair: leave it out'],
    ['{"name":"a","id":[{"\\ud800":1}]}', 'the body holds a NUL character or half of a surrogate pair: leave it out'],
    ['{"name":"a","id":"\\udc00\\ud800"}', 'the body holds a NUL character or half of a surrogate pair: leave it out']
  ]
  for (const [payload, error] of bodies) {
    const answer = await post('/sample', JSON_TYPE, payload)
    t.equal(answer.statusCode, 400, String(payload))
    t.same(answer.json(), { error }, String(payload))
  }
  const none = await http.inject({ method: 'POST', url: '/sample' })
  t.same([none.statusCode, none.json()], [400, { error: 'the body must be a JSON object' }])
})

t.test('escapes in JSON that make characters are read', async t => {
  const payload = '{"id":null,"name":"\\u00e9 \\ud83e\\uddb8 \\\\u0000"}'
  const answer = await post('/sample', JSON_TYPE, payload)
  t.same(answer.json(), { id: 1, name: 'é 🦸 \\u0000' })
})

t.test('JSON of more than 1,000 values or 32 levels is refused before it is parsed', async t => {
  const roomy = createSampleHttp({ bodyLimit: 12_000_000 })
  t.teardown(() => roomy.close())
  const outcome = async (payload: string) => {
    const answer = await roomy.inject({ method: 'POST', url: '/sample', headers: JSON_TYPE, payload })
    return answer.statusCode === 400 ? answer.json().error : answer.statusCode
  }
  const withId = (id: string) => `{"name":"a",\r\n\t"id": ${id} }`
  const list = (length: number, item = '0') => `[ ${Array(length).fill(item).join(' , ')} ]`
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
  const beyond = 'the body has more than 1000 values or 32 levels: send a smaller one'
  // The object, the name and the list itself count as three values.
  t.equal(await outcome(withId(list(997))), 200)
  t.equal(await outcome(withId(list(998))), beyond)
  t.equal(await outcome(withId(list(997, '[\t\r\n ]'))), 200, 'an empty list is one value')
  t.equal(await outcome(withId(list(998, '{}'))), beyond)
  t.equal(await outcome(withId(list(498, '{"a,b":"[\\"{,"}'))), 200, 'commas and brackets in a text count as nothing')
  t.equal(await outcome(withId(list(499, '{"a,b":"[\\"{,"}'))), beyond)
  t.equal(await outcome(withId(nested(31))), 200)
  t.equal(await outcome(withId(nested(32))), beyond)
  t.equal(
    await outcome(withId(`[${'['.repeat(30)}${']'.repeat(30)},${nested(30)}]`)),
    200,
    'a level that has ended does not count'
  )
  t.equal(await outcome(`${'['.repeat(1_000_000)}`), beyond)
  t.equal(await outcome(withId(list(2_000_000))), beyond)
  t.equal(
    await outcome(withId('"\\u0000"')),
    'the body holds a NUL character or half of a surrogate pair: leave it out'
  )
  t.equal(
    await outcome(withId('{"\\u0000":[null]}')),
    'the body holds a NUL character or half of a surrogate pair: leave it out'
  )
  t.equal(await outcome('"unfinished'), 'the body is not valid JSON at line 1, column 12: send one JSON object')
  t.equal(await outcome('"unfinished\\'), 'the body is not valid JSON at line 1, column 13: send one JSON object')
  t.equal(await outcome(`"${'a'.repeat(70_000)}`), 'the body is not valid JSON: send one JSON object')
})

t.test('a DELETE without a body may say that its body is JSON', async t => {
  const { ask, json } = createService({ protectHeroes: false })
  for (const headers of [{}, JSON_TYPE]) {
    const { id } = (await json('POST', '/heroes', { name: 'a' })).json()
    const answer = await ask(`/heroes/${id}`, { method: 'DELETE', headers })
    t.equal(answer.statusCode, 204)
    for (const name of ['content-length', 'content-type', 'transfer-encoding']) t.notOk(answer.headers[name])
  }
})

t.test('a body whose length is not its Content-Length is refused', async t => {
  const headers = { ...JSON_TYPE, 'content-length': '5' }
  const answer = await post('/sample', headers, '{"name":"a"}')
  t.same([answer.statusCode, answer.json()], [400, { error: 'the request is malformed: send HTTP as RFC 9112 has it' }])
})

t.test('a body beyond the limit is 413, and a client that is still sending it reads the answer', async t => {
  const head = (length: string) =>
    `POST /sample HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n${length}\r\n\r\n`
  const megabyte = Buffer.alloc(1_000_000, 'x')
  const next = 'GET /sample HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'
  const chunk = [Buffer.from('f4240\r\n'), megabyte, '\r\n']
  const answers = [
    await send(head('content-length: 2000000'), ...Array<Buffer>(2).fill(megabyte), next),
    await send(head('transfer-encoding: chunked'), ...Array(2).fill(chunk).flat(), '0\r\n\r\n', next)
  ]
  for (const answer of answers) {
    t.match(readAnswer(answer), { status: 413, headers: CONSTANT_HEADERS })
    t.match(answer, '{"error":"the body is too large: send at most 1000 bytes"}')
    t.match(answer, /HTTP\/1.1 200 OK/, 'the connection goes on')
  }
  const { socket, closed } = dial(http.listeningOrigin)
  const arrived = new Promise(resolve => http.server.once('request', request => request.once('end', resolve)))
  socket.write(Buffer.concat([Buffer.from(head('content-length: 1000000')), megabyte]))
  await arrived
  socket.write(next)
  t.strictSame(statusesIn(await closed), [413, 200], 'also when all of it has arrived')
  const last = 'connection: close\r\n'
  for (const answer of [
    await send(head(`${last}content-length: 2000000`), ...Array<Buffer>(2).fill(megabyte)),
    await send(head(`${last}transfer-encoding: chunked`), ...Array(2).fill(chunk).flat(), '0\r\n\r\n')
  ]) {
    t.match(readAnswer(answer), { status: 413, headers: { ...CONSTANT_HEADERS, connection: 'close' } })
  }
  const exact = JSON.stringify({ id: 'x'.repeat(980), name: 'a' })
  t.equal((await post('/sample', JSON_TYPE, exact)).statusCode, 200)
  t.equal((await post('/sample', JSON_TYPE, `${exact} `)).statusCode, 413)
})

t.test('a long body is decoded and parsed in two turns of the event loop', async t => {
  const http = createSampleHttp({ bodyLimit: 3_000_000 })
  t.teardown(() => http.close())
  let turn = 0
  let over = false
  const tick = (): void => {
    turn += 1
    if (!over) setImmediate(tick)
  }
  tick()
  t.teardown(() => {
    over = true
  })
  for (const [characters, turns] of [
    [100_000, 0],
    [1_000_000, 1]
  ] as const) {
    const payload = JSON.stringify({ id: '\u0301'.repeat(characters), name: 'a' })
    const { toString: decode } = Buffer.prototype
    const { parse } = JSON
    const seen: number[] = []
    const restores = [
      t.intercept(Buffer.prototype, 'toString', {
        value(this: Buffer, ...args: []) {
          if (this.length > characters) seen.push(turn)
          return decode.apply(this, args)
        }
      }),
      t.intercept(JSON, 'parse', {
        value(text: string) {
          if (text.length > characters) seen.push(turn)
          return parse(text)
        }
      })
    ]
    const answer = await http.inject({ method: 'POST', url: '/sample', headers: JSON_TYPE, payload })
    for (const { restore } of restores) restore()
    t.same(answer.json(), { id: 1, name: 'a' })
    t.equal(Number(seen[1]) - Number(seen[0]), turns, `${characters} characters`)
  }
})

t.test('a form whose bytes are not UTF-8 is 400', async t => {
  for (const bytes of [
    [0x61, 0x3d, 0xff],
    [0x61, 0x3d, 0xed, 0xa0, 0x80]
  ]) {
    const payload = Buffer.from(bytes)
    t.equal((await post('/sample/form', FORM_TYPE, payload)).statusCode, 400)
  }
})

t.test('a chunked body that ends at once is no JSON', async t => {
  const { http } = createService({ protectHeroes: false })
  const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
  const answer = await http.inject({ method: 'POST', url: '/heroes', headers, payload: Readable.from([]) })
  t.equal(answer.statusCode, 400)
})
