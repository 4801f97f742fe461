import t from 'tap'
import { basic, createInhabited, type Headers, PUBLIC_URL } from '../../../support/service.js'
import { ADA } from '../../../support/world.js'

const ENDPOINTS: [url: string, fields: Record<string, string>][] = [
  ['/auth/token', { grant_type: 'password', ...ADA }],
  ['/auth/revoke', { token: 'x' }],
  ['/auth/introspect', { token: 'x' }]
]

t.test('wire 5.13: what a browser sends to an endpoint for another site is 403 before its body is read', async t => {
  const { form, json } = await createInhabited()
  const { origin } = new URL(PUBLIC_URL)
  for (const [url, fields] of ENDPOINTS) {
    const status = async (headers: Headers) => (await form(url, fields, { ...basic('app'), ...headers })).statusCode
    t.equal(await status({}), 200, url)
    for (const site of ['same-origin', 'none']) {
      t.equal(await status({ 'sec-fetch-site': site, origin: 'https://evil.example' }), 200, site)
    }
    for (const site of ['cross-site', 'same-site']) {
      t.equal(await status({ 'sec-fetch-site': site }), 403, site)
      t.equal(await status({ 'sec-fetch-site': site, origin }), 403, `${site} decides`)
    }
    for (const own of [origin, 'null', 'app://heroes', 'capacitor://localhost']) {
      t.equal(await status({ origin: own }), 200, own)
    }
    for (const other of [
      'https://evil.example',
      'HTTP://evil.example',
      `${origin}.evil.example`,
      'http://heroes.example'
    ]) {
      t.equal(await status({ origin: other }), 403, other)
    }
    const refused = await form(url, 'a=1&a=2', { 'sec-fetch-site': 'cross-site' })
    t.has(refused.headers, { 'cache-control': 'no-store', pragma: 'no-cache' })
    t.same(refused.json(), {
      error: 'invalid_request',
      error_description: 'another website sent this request: send it from an application or a server'
    })
    t.equal((await json('POST', url, {}, { 'sec-fetch-site': 'cross-site' })).statusCode, 403, 'before the type')
    t.equal((await json('PUT', url, {}, { 'sec-fetch-site': 'cross-site' })).statusCode, 405)
  }
})

t.test('a page of another site cannot spend the attempts of its visitor', async t => {
  const { form } = await createInhabited({ policy: { loginAttempts: 1 } })
  const fields = { grant_type: 'password', ...ADA }
  for (let attempt = 0; attempt < 20; attempt++) {
    await form('/auth/token', { ...fields, password: 'wrong' }, { ...basic('app'), 'sec-fetch-site': 'cross-site' })
  }
  t.equal((await form('/auth/token', fields, basic('app'))).statusCode, 200)
})

t.test('wire 5.13: the site of a public URL with a path is no other site', async t => {
  const { form } = await createInhabited({ publicUrl: () => 'https://heroes.example/a' })
  const headers = { ...basic('app'), origin: 'https://heroes.example' }
  t.equal((await form('/auth/token', { grant_type: 'password', ...ADA }, headers)).statusCode, 200)
})
