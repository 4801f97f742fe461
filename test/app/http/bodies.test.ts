import t from 'tap'
import { formPairs, parseForm, queryString } from '../../../app/http/forms.js'
import { createTestHttp, listen } from '../../support/http.js'
import { addRoutes, constant, form, json, read } from '../../support/sample-routes.js'

const http = addRoutes(createTestHttp())
const send = await listen(http)
t.teardown(() => http.close())

t.test('a JSON route reads JSON and nothing else', async t => {
  const payload = '{"name":"a"}'
  for (const type of ['application/json', 'Application/JSON; charset=utf-8', 'application/json;charset="UTF-8"']) {
    const answer = await http.inject({ method: 'POST', url: '/heroes', headers: { 'content-type': type }, payload })
    t.same(answer.json(), { id: 1, name: 'a' }, type)
  }
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonp',
    'application/vnd.a+json',
    'json'
  ]) {
    const answer = await http.inject({ method: 'POST', url: '/heroes', headers: { 'content-type': type }, payload })
    t.equal(answer.statusCode, 415, type)
    t.same(answer.json(), { error: 'the content type is not one that is read here' })
  }
  const untyped = await send(
    `POST /heroes HTTP/1.1\r\nhost: a\r\ncontent-length: 12\r\nconnection: close\r\n\r\n${payload}`
  )
  t.equal(read(untyped).status, 415)
})

t.test('a form route reads forms and nothing else', async t => {
  for (const type of ['application/x-www-form-urlencoded', 'application/x-www-form-urlencoded; charset=UTF-8']) {
    const answer = await http.inject({
      method: 'POST',
      url: '/auth/token',
      headers: { 'content-type': type },
      payload: 'a=1'
    })
    t.same(answer.json(), { a: '1' }, type)
  }
  for (const type of ['text/plain', 'application/json', 'multipart/form-data; boundary=x']) {
    const answer = await http.inject({
      method: 'POST',
      url: '/auth/token',
      headers: { 'content-type': type },
      payload: 'a=1'
    })
    t.equal(answer.statusCode, 400, type)
    t.equal(answer.json().error, 'invalid_request')
    t.match(answer.headers, { 'cache-control': 'no-store', pragma: 'no-cache' })
  }
  const untyped = await send(
    'POST /auth/token HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\nconnection: close\r\n\r\na=1'
  )
  t.equal(read(untyped).status, 400)
})

t.test('a body with a content coding is not read', async t => {
  for (const [url, type] of [
    ['/heroes', json],
    ['/auth/token', form]
  ] as const) {
    for (const coding of ['gzip', 'br', 'identity, gzip', '']) {
      const headers = { ...type, 'content-encoding': coding }
      t.equal((await http.inject({ method: 'POST', url, headers, payload: 'a=1' })).statusCode, 415, `${url} ${coding}`)
    }
  }
  const headers = { ...form, 'content-encoding': 'Identity' }
  t.same((await http.inject({ method: 'POST', url: '/auth/token', headers, payload: 'a=1' })).json(), { a: '1' })
})

t.test('what is wrong with a JSON body is said, and not what was sent', async t => {
  const bodies: [string | Buffer, string][] = [
    ['', 'the body must be object'],
    ['null', 'the body must be object'],
    ['[]', 'the body must be object'],
    ['5', 'the body must be object'],
    ['"secret"', 'the body must be object'],
    ['{}', 'the body has no name'],
    ['{"name":5}', 'name must be string'],
    ['{"name":null}', 'name must be string'],
    ['{"name":["secret"]}', 'name must be string'],
    ['{"name":"a","tags":["b",7]}', 'tags.1 must be string'],
    ['{"name":"secret secret secret!"}', 'name must NOT have more than 20 characters'],
    ['{"name":"a","secret":1}', 'the body has a key that is unknown'],
    ['{"name":"secret', 'the body is not valid JSON'],
    ['{"name":"a"} secret', 'the body is not valid JSON'],
    ['{"name":"a","__proto__":{}}', 'the body is not valid JSON'],
    ['{"name":"a","constructor":{"prototype":{}}}', 'the body is not valid JSON'],
    [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), 'the body is not valid UTF-8'],
    ['{"name":"\\u0000"}', 'the body holds a NUL character or half of a surrogate pair'],
    ['{"name":"a","id":[{"\\ud800":1}]}', 'the body holds a NUL character or half of a surrogate pair'],
    ['{"name":"a","id":"\\udc00\\ud800"}', 'the body holds a NUL character or half of a surrogate pair']
  ]
  for (const [payload, error] of bodies) {
    const answer = await http.inject({ method: 'POST', url: '/heroes', headers: json, payload })
    t.equal(answer.statusCode, 400, String(payload))
    t.same(answer.json(), { error }, String(payload))
  }
  const none = await http.inject({ method: 'POST', url: '/heroes' })
  t.same([none.statusCode, none.json()], [400, { error: 'the body must be object' }])
})

t.test('escapes that make characters are read', async t => {
  const payload = '{"id":null,"name":"\\u00e9 \\ud83e\\uddb8 \\\\u0000"}'
  const answer = await http.inject({ method: 'POST', url: '/heroes', headers: json, payload })
  t.same(answer.json(), { id: 1, name: 'é 🦸 \\u0000' })
})

t.test('JSON of more than 1,000 values or 32 levels is refused before it is parsed', async t => {
  const roomy = addRoutes(createTestHttp({ bodyLimit: 12_000_000 }))
  t.teardown(() => roomy.close())
  const post = async (payload: string) => {
    const answer = await roomy.inject({ method: 'POST', url: '/heroes', headers: json, payload })
    return answer.statusCode === 400 ? answer.json().error : answer.statusCode
  }
  const withId = (id: string) => `{"name":"a",\r\n\t"id": ${id} }`
  const list = (length: number, item = '0') => `[ ${Array(length).fill(item).join(' , ')} ]`
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
  const beyond = 'the body has more than 1000 values or 32 levels'
  // The object, its name and the list itself are three.
  t.equal(await post(withId(list(997))), 200)
  t.equal(await post(withId(list(998))), beyond)
  t.equal(await post(withId(list(997, '[]'))), 200, 'what is empty is one value')
  t.equal(await post(withId(list(998, '{}'))), beyond)
  t.equal(await post(withId(list(498, '{"a,b":"[\\"{,"}'))), 200, 'what stands in a text is no value')
  t.equal(await post(withId(list(499, '{"a,b":"[\\"{,"}'))), beyond)
  t.equal(await post(withId(nested(31))), 200)
  t.equal(await post(withId(nested(32))), beyond)
  t.equal(await post(withId(`[${'['.repeat(30)}${']'.repeat(30)},${nested(30)}]`)), 200, 'levels that end are left')
  t.equal(await post(`${'['.repeat(1_000_000)}`), beyond)
  t.equal(await post(withId(list(2_000_000))), beyond)
  t.equal(await post(withId('"\\u0000"')), 'the body holds a NUL character or half of a surrogate pair')
  t.equal(await post(withId('{"\\u0000":[null]}')), 'the body holds a NUL character or half of a surrogate pair')
  t.equal(await post('"unfinished'), 'the body is not valid JSON')
  t.equal(await post('"unfinished\\'), 'the body is not valid JSON')
})

t.test('DELETE may say that its body is JSON and have none', async t => {
  for (const headers of [{}, json]) {
    const answer = await http.inject({ method: 'DELETE', url: '/heroes/1', headers })
    t.equal(answer.statusCode, 204)
    for (const name of ['content-length', 'content-type', 'transfer-encoding']) t.notOk(answer.headers[name])
  }
})

t.test('a body of another length than it says is refused', async t => {
  const headers = { ...json, 'content-length': '5' }
  const answer = await http.inject({ method: 'POST', url: '/heroes', headers, payload: '{"name":"a"}' })
  t.same([answer.statusCode, answer.json()], [400, { error: 'the request is malformed' }])
})

t.test('a body beyond the limit is 413, and a client that is still sending reads it', async t => {
  const head = (length: string) =>
    `POST /heroes HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n${length}\r\n\r\n`
  const megabyte = Buffer.alloc(1_000_000, 'x')
  const next = 'GET /heroes HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'
  const chunk = [Buffer.from('f4240\r\n'), megabyte, '\r\n']
  const answers = [
    await send(head('content-length: 8000000'), ...Array<Buffer>(8).fill(megabyte), next),
    await send(head('transfer-encoding: chunked'), ...Array(8).fill(chunk).flat(), '0\r\n\r\n', next)
  ]
  for (const answer of answers) {
    t.match(read(answer), { status: 413, headers: constant })
    t.match(answer, '{"error":"the body is too large"}')
    t.match(answer, /HTTP\/1.1 200 OK/, 'and the connection goes on')
  }
  const exact = JSON.stringify({ id: 'x'.repeat(980), name: 'a' })
  t.equal((await http.inject({ method: 'POST', url: '/heroes', headers: json, payload: exact })).statusCode, 200)
  t.equal((await http.inject({ method: 'POST', url: '/heroes', headers: json, payload: `${exact} ` })).statusCode, 413)
})

t.test('a form has each parameter once and none that is empty', async t => {
  t.strictSame([...parseForm('')], [])
  t.strictSame(
    [...parseForm('a=1&b=&c&&d=x+y%2Bz%26&e==&%C3%A9=%F0%9F%A6%B8')],
    [
      ['a', '1'],
      ['d', 'x y+z&'],
      ['e', '='],
      ['é', '🦸']
    ]
  )
  t.strictSame(
    [...parseForm('__proto__=1&constructor=2')],
    [
      ['__proto__', '1'],
      ['constructor', '2']
    ]
  )
  t.strictSame(parseForm('name=é 🦸').get('name'), 'é 🦸')
  t.strictSame(parseForm('name=%EF%BF%BD').get('name'), '\uFFFD', 'a replacement character that is meant')
  t.strictSame(formPairs('a=1&a=&b'), [
    ['a', '1'],
    ['a', ''],
    ['b', '']
  ])
})

t.test('a form that cannot be read as it was meant is refused', async t => {
  const texts = [
    'a=1&a=2',
    'a=&a=',
    'a&%61',
    'a=%',
    'a=%zz',
    'a=%4',
    'a=%g0',
    'a=%:0',
    'a=%0/',
    'a=%@0',
    'a=%FF',
    '%FF=a',
    'a=%C0%80',
    'a=%ED%A0%80',
    'a=%00',
    'a=\0'
  ]
  for (const text of texts) t.throws(() => parseForm(text), { code: 'invalid_request' }, text)
  for (const bytes of [
    [0x61, 0x3d, 0xff],
    [0x61, 0x3d, 0xed, 0xa0, 0x80]
  ]) {
    const payload = Buffer.from(bytes)
    t.equal((await http.inject({ method: 'POST', url: '/auth/token', headers: form, payload })).statusCode, 400)
  }
})

t.test('a form is judged by lengths and count before anything of it is decoded', async t => {
  const longest = 'x'.repeat(16_384)
  t.equal(parseForm(`a=${longest}`).get('a'), longest)
  t.equal(parseForm(`${longest}=a`).get(longest), 'a')
  t.equal(parseForm(`a=${'%41'.repeat(5461)}`).get('a'), 'A'.repeat(5461))
  t.equal(parseForm(Array.from({ length: 1000 }, (_, part) => `${part}=1`).join('&')).size, 1000)
  const texts = [
    `a=${longest}x`,
    `${longest}x=a`,
    `${longest}x`,
    `a=${'é'.repeat(8193)}`,
    `a=${'%41'.repeat(5462)}`,
    // The escape is what a decoder would find first.
    `%zz=1&a=${longest}x`,
    `a=${'+'.repeat(10_000_000)}`
  ]
  for (const text of texts) t.throws(() => parseForm(text), { message: 'a parameter is longer than 16384 bytes' })
  for (const text of ['a=1&'.repeat(1000), '&'.repeat(1000), `%zz${'&'.repeat(1000)}`]) {
    t.throws(() => parseForm(text), { message: 'there are more than 1000 parameters' })
  }
  t.equal(formPairs(`a=${longest}x`).length, 1, 'a query string is bounded as it arrives')
})

t.test('a query string is what stands between the question mark and the end', async t => {
  t.equal(queryString('/a'), '')
  t.equal(queryString('/a?b=1?2&c=%20'), 'b=1?2&c=%20')
  t.equal(queryString('/a?b#c?d'), 'b')
  t.throws(() => queryString('/a?b=é'), { code: 'invalid_request' })
})
