import { gunzipSync } from 'node:zlib'
import t from 'tap'
import type { Http } from '../../../app/http/http.js'
import { createTestHttp, listen } from '../../support/http.js'

const texts: Record<string, string> = {
  empty: '[]',
  'not ASCII': JSON.stringify({ name: 'Ünïcødé 🦸' }),
  huge: JSON.stringify(Array.from({ length: 20_000 }, (_, id) => ({ id, name: `hero ${id * 7919}` })))
}

const http = createTestHttp()
let sent: string | Buffer = ''
// Routes of a plugin of their own, as those of the service are.
http.register((http: Http, _options: object, done: () => void) => {
  http.get<{ Params: { name: string } }>('/json/:name', (request, reply) => {
    reply.type('application/json').send(texts[request.params.name])
  })
  http.get<{ Querystring: { type: string } }>('/typed', (request, reply) => {
    reply.type(request.query.type).send('some text')
  })
  http.get('/sent', (_request, reply) => {
    reply.type('text/plain').send(sent)
  })
  http.get('/bytes', (_request, reply) => {
    reply.type('text/css').send(Buffer.from([0xe2, 0x82, 0xac]))
  })
  http.get('/varied', (_request, reply) => {
    reply.header('vary', 'origin').send({})
  })
  http.get('/nothing', (_request, reply) => {
    reply.code(204).send()
  })
  http.get('/elsewhere', (_request, reply) => {
    reply.redirect('/json/empty')
  })
  http.get<{ Querystring: { fail?: string } }>(
    '/hooked',
    {
      onRequest: [
        (_request, reply, done) => {
          reply.header('x-hooks', 'onRequest')
          done()
        }
      ],
      onSend: [
        ({ query }, reply, _payload, done) => {
          reply.header('x-hooks', `${reply.getHeader('x-hooks')} onSend`)
          if (query.fail !== undefined && reply.statusCode === 200) return done(new Error('the hook failed'))
          done()
        }
      ]
    },
    async () => ({})
  )
  done()
})
t.teardown(() => http.close())
await http.ready()

for (const [name, text] of Object.entries(texts)) {
  t.test(`a JSON body that is ${name} is compressed, with the length of what is sent`, async t => {
    const url = `/json/${encodeURIComponent(name)}`
    const answer = await http.inject({ url, headers: { 'accept-encoding': 'gzip' } })
    t.equal(answer.headers['content-encoding'], 'gzip')
    t.equal(answer.headers.vary, 'accept-encoding')
    t.equal(Number(answer.headers['content-length']), answer.rawPayload.length)
    t.equal(gunzipSync(answer.rawPayload).toString(), text)
    t.ok(answer.rawPayload.length < Buffer.byteLength(text) + 24)

    const plain = await http.inject({ url })
    t.equal(plain.headers['content-encoding'], undefined)
    t.equal(plain.headers.vary, 'accept-encoding')
    t.equal(Number(plain.headers['content-length']), Buffer.byteLength(text))
    t.equal(plain.payload, text)
  })

  t.test(`HEAD tells what GET would say of a JSON body that is ${name}`, async t => {
    for (const coding of ['gzip', 'identity']) {
      const request = { url: `/json/${encodeURIComponent(name)}`, headers: { 'accept-encoding': coding } }
      const got = await http.inject({ ...request, method: 'GET' })
      const head = await http.inject({ ...request, method: 'HEAD' })
      t.equal(head.payload, '')
      t.strictSame({ ...head.headers, date: '' }, { ...got.headers, date: '' })
    }
  })
}

t.test('nothing is compressed but for those who name gzip', async t => {
  const yes = ['gzip', 'GZIP', 'deflate, gzip;q=0.5, br', 'gzip ; q=1.000 , br', 'br;q=1.0,gzip;Q=0.001', ' gzip']
  const no = [
    '',
    'identity',
    '*',
    'br',
    'zstd, deflate',
    'gzip;q=0',
    'gzip; q=0.000, *',
    'x-gzip',
    'gzipped',
    'gzip;q=x'
  ]
  for (const accepted of [...yes, ...no]) {
    const answer = await http.inject({ url: '/json/empty', headers: { 'accept-encoding': accepted } })
    t.equal(answer.headers['content-encoding'], yes.includes(accepted) ? 'gzip' : undefined, accepted)
    t.equal(answer.headers.vary, 'accept-encoding')
  }
})

t.test('JSON, forms and text are compressed, and no other types', async t => {
  const yes = [
    'application/json',
    'application/json; charset=utf-8',
    'application/problem+json',
    'application/x-www-form-urlencoded',
    'application/json ;charset=utf-8',
    'text/html; charset=utf-8',
    'text/event-stream',
    'Text/Plain'
  ]
  const no = ['image/png', 'application/octet-stream', 'application/jsonish', 'application/javascript', 'video/mp4']
  for (const type of [...yes, ...no]) {
    const answer = await http.inject({ url: '/typed', query: { type }, headers: { 'accept-encoding': 'gzip' } })
    t.equal(answer.headers['content-encoding'], yes.includes(type) ? 'gzip' : undefined, type)
    t.equal(answer.headers.vary, yes.includes(type) ? 'accept-encoding' : undefined, type)
  }
})

t.test('bytes are compressed as they are', async t => {
  const answer = await http.inject({ url: '/bytes', headers: { 'accept-encoding': 'gzip' } })
  t.equal(gunzipSync(answer.rawPayload).toString(), '€')
})

t.test('what a route varies by already is kept', async t => {
  t.equal((await http.inject('/varied')).headers.vary, 'origin, accept-encoding')
})

t.test('answers without a body are left alone', async t => {
  const headers = { 'accept-encoding': 'gzip' }
  const none = await http.inject({ url: '/nothing', headers })
  for (const name of ['content-length', 'content-type', 'content-encoding', 'vary']) t.notOk(none.headers[name])
  for (const method of ['GET', 'HEAD'] as const) {
    const redirect = await http.inject({ method, url: '/elsewhere', headers })
    t.equal(redirect.headers['content-length'], '0')
    t.equal(redirect.headers['content-encoding'], undefined)
  }
})

t.test('wire 1.5: on the wire, a compressed body is neither chunked nor cut', async t => {
  const send = await listen(http)
  for (const name of ['empty', 'huge']) {
    const answer = await send(
      `GET /json/${name} HTTP/1.1\r\nhost: a\r\naccept-encoding: gzip\r\nconnection: close\r\n\r\n`
    )
    const [head = '', ...rest] = answer.split('\r\n\r\n')
    const body = Buffer.from(rest.join('\r\n\r\n'), 'latin1')
    t.match(head, new RegExp(`content-length: ${body.length}\r\n`))
    t.notMatch(head, /transfer-encoding/i)
    t.equal(gunzipSync(body).toString(), texts[name])
  }
  const head = await send('HEAD /json/huge HTTP/1.1\r\nhost: a\r\naccept-encoding: gzip\r\nconnection: close\r\n\r\n')
  t.match(head, /content-encoding: gzip\r\ncontent-length: \d+\r\n/)
  t.ok(head.endsWith('\r\n\r\n'))
})

t.test('a request header cannot switch compression off', async t => {
  const headers = { 'accept-encoding': 'gzip', 'x-no-compression': 'true' }
  for (const url of ['/json/empty', '/json/huge']) {
    const answer = await http.inject({ url, headers })
    t.equal(answer.headers['content-encoding'], 'gzip', url)
    t.doesNotThrow(() => gunzipSync(answer.rawPayload))
  }
})

// RFC 1952: gzip. RFC 1950 section 2.2: zlib, with each window; "x " and "80" are among them.
const starts = [Buffer.from([0x1f, 0x8b, 8])]
for (let first = 0x08; first <= 0x78; first += 0x10) {
  for (let second = 0; second < 256; second++) {
    if ((first * 256 + second) % 31 === 0) starts.push(Buffer.from([first, second]))
  }
}

t.test('a body that begins like a compressed one is sent as it is, and does not pass for compressed', async t => {
  const get = () => http.inject({ url: '/sent', headers: { 'accept-encoding': 'gzip' } })
  t.equal(starts.length, 67)
  for (const start of starts) {
    for (const rest of ['', ' marks the spot', ' marks the spot'.repeat(3000)]) {
      sent = Buffer.concat([start, Buffer.from(rest)])
      const answer = await get()
      t.strictSame(answer.rawPayload, sent, `${start.toString('hex')} and ${rest.length} bytes`)
      t.equal(answer.headers['content-encoding'], undefined)
      t.equal(answer.headers.vary, 'accept-encoding')
      t.equal(Number(answer.headers['content-length']), answer.rawPayload.length)
    }
  }
  sent = 'x marks the spot'
  t.equal((await get()).payload, sent)
  for (const text of ['a', '€', '']) {
    sent = text
    t.equal(gunzipSync((await get()).rawPayload).toString(), text)
  }
})

t.test('404 and 405 are not compressed, and HEAD tells what GET would say of them', async t => {
  const headers = { 'accept-encoding': 'gzip' }
  for (const [method, url, status] of [
    ['GET', '/unknown', 404],
    ['GET', '/unknown/%zz', 404],
    ['DELETE', '/json/empty', 405]
  ] as const) {
    const answer = await http.inject({ method, url, headers })
    t.equal(answer.statusCode, status)
    t.equal(answer.headers['content-encoding'], undefined)
    t.equal(Number(answer.headers['content-length']), answer.rawPayload.length)
    t.type(answer.json().error, 'string')
  }
  const [get, head] = [await http.inject('/unknown'), await http.inject({ method: 'HEAD', url: '/unknown' })]
  t.strictSame({ ...head.headers, date: '' }, { ...get.headers, date: '' })
})

t.test("a route's own hooks see what is sent, and an error of theirs is compressed as well", async t => {
  const headers = { 'accept-encoding': 'gzip' }
  for (const method of ['GET', 'HEAD'] as const) {
    t.equal((await http.inject({ method, url: '/hooked', headers })).headers['x-hooks'], 'onRequest onSend')
  }
  const failed = await http.inject({ url: '/hooked?fail', headers })
  t.equal(failed.statusCode, 500)
  t.equal(failed.headers['content-encoding'], 'gzip')
  t.equal(gunzipSync(failed.rawPayload).toString(), '{"error":"the service failed"}')
})
