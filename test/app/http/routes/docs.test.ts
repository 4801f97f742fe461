import { readFileSync } from 'node:fs'
import { runInNewContext } from 'node:vm'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { staticFile } from '../../../../app/http/static-file.js'
import { createService, PUBLIC_URL } from '../../../support/service.js'

const { ask, http } = createService()
t.teardown(() => http.close())

const FILES: [url: string, type: string][] = [
  ['/docs/swagger-ui.css', 'text/css'],
  ['/docs/swagger-ui-bundle.js', 'text/javascript'],
  ['/docs/docs.css', 'text/css'],
  ['/docs/docs.js', 'text/javascript'],
  ['/docs/callback.js', 'text/javascript']
]
const GZIP = { 'accept-encoding': 'gzip' }

t.test(
  'wire 7.6: the page is a shell whose every part comes from the service, and its policy allows nothing else',
  async t => {
    const answer = await ask('/docs')
    t.equal(answer.statusCode, 200)
    t.has(answer.headers, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
      'x-frame-options': 'SAMEORIGIN'
    })
    const policy = String(answer.headers['content-security-policy']).split(';')
    t.strictSame(policy.sort(), [
      "base-uri 'none'",
      "connect-src 'self'",
      "default-src 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      'img-src data:',
      "script-src 'self'",
      "style-src 'self'"
    ])
    t.notMatch(answer.payload, /<script>|<style|style=|\son\w+=/)
    const links = [...answer.payload.matchAll(/(?:src|href|data-bundle)="([^"]+)"/g)].map(([, link = '']) => link)
    t.strictSame(
      links.map(link => link.replace(/\?v=[\w-]{16}$/, '?v')).sort(),
      [
        'data:,',
        'docs/docs.css?v',
        'docs/docs.js?v',
        'docs/swagger-ui-bundle.js?v',
        'docs/swagger-ui.css?v',
        `${PUBLIC_URL}/docs`,
        'openapi.json'
      ].sort()
    )
    for (const link of links.filter(link => link.includes('?v=')))
      t.has(await ask(`/${link}`), { statusCode: 200 }, link)
  }
)

t.test('wire 7.6: the page knows PUBLIC_URL, whatever Host says, and shows it escaped', async t => {
  const hostile = createService({ publicUrl: () => 'https://heroes.example/a"&b' })
  t.teardown(() => hostile.http.close())
  const { payload } = await hostile.ask('/docs', { headers: { host: 'evil.example' } })
  t.match(payload, 'data-public-url="https://heroes.example/a&quot;&amp;b"')
  t.notMatch(payload, 'evil')
})

t.test(
  'wire 7.6: the page to which the login leads back is kept by nothing, and repeats nothing of its address',
  async t => {
    const answer = await ask('/docs/callback?code=A1b2&state=xyz')
    t.equal(answer.statusCode, 200)
    t.match(answer.headers, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'content-security-policy': /^default-src 'none';.*connect-src 'none'/
    })
    t.notMatch(answer.payload, /A1b2|xyz/)
    for (const [, link = ''] of answer.payload.matchAll(/(?:src|href)="(\w+\.\w+\?[^"]+)"/g)) {
      t.has(await ask(`/docs/${link}`), { statusCode: 200 }, link)
    }
  }
)

t.test(
  'wire 7.6: the page to which the login leads back tells the error, and its description where there is one',
  async t => {
    const { payload } = await ask('/docs/callback.js')
    const told = (search: string): unknown => {
      const found: { message?: unknown } = {}
      const waiting = { auth: { name: 'a' }, state: 'xyz', errCb: (error: object) => void Object.assign(found, error) }
      const opener = { swaggerUIRedirectOauth2: waiting }
      runInNewContext(payload, { opener, location: { search }, URLSearchParams, close: () => {} })
      return found.message
    }
    t.equal(told('?error=access_denied&state=xyz'), 'access_denied')
    t.equal(told('?error=invalid_scope&error_description=no%20such&state=xyz'), 'invalid_scope: no such')
    t.equal(told('?error=access_denied&state=x'), 'This answer of the login page belongs to another request.')
  }
)

t.test('wire 7.6: a file is kept for good under its own version, and by nothing under another one', async t => {
  const page = (await ask('/docs')).payload + (await ask('/docs/callback')).payload
  for (const [url, type] of FILES) {
    const [, version = ''] = new RegExp(`${url.replace('/docs/', '')}(\\?v=[\\w-]+)"`).exec(page) ?? []
    t.not(version, '')
    const answer = await ask(url + version)
    t.equal(answer.headers['content-type'], `${type}; charset=utf-8`)
    t.equal(answer.headers['cache-control'], 'public, max-age=31536000, immutable', url)
    for (const other of ['', '?v=', `${version}x`, '?v=AAAAAAAAAAAAAAAA']) {
      const { headers, payload } = await ask(url + other)
      t.equal(headers['cache-control'], 'no-store', other)
      t.equal(payload, answer.payload)
    }
  }
})

t.test('a file is compressed once for those who name gzip, and HEAD tells what GET would say', async t => {
  for (const [url] of FILES) {
    const plain = await ask(url)
    t.match(plain.headers, { vary: 'accept-encoding', 'content-length': String(plain.rawPayload.length) })
    t.equal(plain.headers['content-encoding'], undefined)
    const zipped = await ask(url, { headers: GZIP })
    t.match(zipped.headers, {
      'content-encoding': 'gzip',
      vary: 'accept-encoding',
      'content-length': String(zipped.rawPayload.length)
    })
    t.ok(gunzipSync(zipped.rawPayload).equals(plain.rawPayload))
    for (const headers of [{}, GZIP]) {
      const got = await ask(url, { headers })
      const head = await ask(url, { method: 'HEAD', headers })
      t.equal(head.payload, '')
      t.strictSame({ ...head.headers, date: '' }, { ...got.headers, date: '' })
    }
  }
  const original = readFileSync(new URL(import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js')))
  t.ok((await ask('/docs/swagger-ui-bundle.js')).rawPayload.equals(original))
})

t.test('wire 7.6: /docs/ leads to /docs under PUBLIC_URL', async t => {
  const { ask } = createService()
  const { statusCode, headers } = await ask('/docs/')
  t.strictSame([statusCode, headers.location], [302, `${PUBLIC_URL}/docs`])
})

t.test('wire 7.6: no other file can be asked for', async t => {
  for (const url of [
    '/docs/index.html',
    '/docs/swagger-ui-bundle.js.map',
    '/docs/package.json',
    '/docs/../package.json',
    '/docs/%2e%2e/package.json',
    '/docs/..%2fpackage.json',
    '/docs/constructor'
  ]) {
    t.has(await ask(url), { statusCode: 404 }, url)
  }
  t.has(await ask('/docs', { method: 'POST' }), { statusCode: 405, headers: { allow: 'GET, HEAD' } })
})

t.test('wire 7.7: / sends browsers to /docs under PUBLIC_URL, and is 404 for everybody else', async t => {
  const browsers = [
    'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8',
    'text/html',
    'Text/HTML ; q=0.9',
    'application/json, text/html;q=0.1'
  ]
  for (const accept of browsers) {
    for (const method of ['GET', 'HEAD']) {
      const answer = await ask('/?x=1', { method, headers: { accept, host: 'evil.example' } })
      t.equal(answer.statusCode, 302, accept)
      t.has(answer.headers, { location: `${PUBLIC_URL}/docs`, vary: 'accept', 'content-length': '0' })
    }
  }
  for (const accept of [
    undefined,
    '',
    '*/*',
    'application/json',
    'text/*',
    'text/htmlx',
    'xtext/html',
    'text/html-x'
  ]) {
    const answer = await ask('/', { headers: accept === undefined ? {} : { accept } })
    t.equal(answer.statusCode, 404, String(accept))
    t.equal(answer.headers.vary, 'accept, accept-encoding')
    t.strictSame(Object.keys(answer.json()), ['error'])
  }
  for (const url of ['/', '/?x=1']) {
    for (const method of ['POST', 'PUT', 'OPTIONS']) {
      t.has(await ask(url, { method, headers: { accept: 'text/html' } }), { statusCode: 404 }, method)
    }
  }
})

t.test('a file is read when it is first asked for, once for all who ask, and again after a failure', async t => {
  let reads = 0
  let fault: Error | undefined = new Error('too many open files')
  const file = staticFile('text/plain', async () => {
    reads += 1
    if (fault !== undefined) throw fault
    return Buffer.from('text')
  })
  t.equal(reads, 0)
  await t.rejects(Promise.all([file.content(), file.content()]), fault)
  t.equal(reads, 1)
  fault = undefined
  const [one, other] = await Promise.all([file.content(), file.content()])
  t.equal(one, other)
  t.equal(one.plain.toString(), 'text')
  t.equal(await file.content(), one)
  t.equal(reads, 2)
})
