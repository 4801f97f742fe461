import { getTableColumns } from 'drizzle-orm'
import t from 'tap'
import * as schema from '../../../../adapters/postgres/schema.js'
import { basic, bearer, CALLBACK, createInhabited, REQUEST } from '../../../support/service.js'
import { ADA, addClient, SECRET } from '../../../support/world.js'

const PASSWORD = { grant_type: 'password', ...ADA }
const RANDOM = /^[A-Za-z0-9]{32}$/

t.test('wire 5.3: credentials, refresh tokens and codes become access tokens', async t => {
  const { form, code } = await createInhabited()
  const first = (await form('/auth/token', PASSWORD, basic('app'))).json()
  const second = await form(
    '/auth/token',
    { grant_type: 'refresh_token', refresh_token: first.refresh_token },
    basic('app')
  )
  const third = await form('/auth/token', { grant_type: 'authorization_code', code: await code() }, basic('app'))
  for (const token of [first, second.json(), third.json()]) t.match(token.access_token, RANDOM)
})

t.test('wire 6.7: the login page ends in a redirect that carries a code', async t => {
  const { form } = await createInhabited()
  const answer = await form('/auth/code', { ...REQUEST, ...ADA })
  t.equal(answer.statusCode, 302)
  t.match(new URL(String(answer.headers.location)).searchParams.get('code'), RANDOM)
})

t.test('wire 5.4: a refresh token needs a client with a secret, and one without is public', async t => {
  const { login } = await createInhabited()
  t.match((await login()).refresh_token, RANDOM)
  t.notOk((await login(undefined, basic('spa', ''))).refresh_token)
})

t.test('wire 5.1: there is no endpoint for registering clients', async t => {
  const { json } = await createInhabited()
  for (const path of ['/clients', '/client', '/auth/clients', '/auth/register']) {
    t.equal((await json('POST', path, { id: 'new' })).statusCode, 404)
  }
})

t.test('wire 5.10: an access token is a random string of 32 characters', async t => {
  const { login } = await createInhabited()
  const tokens = await Promise.all(Array.from({ length: 5 }, () => login()))
  for (const { access_token } of tokens) t.match(access_token, RANDOM)
  t.equal(new Set(tokens.map(token => token.access_token)).size, 5)
})

t.test('wire 5.4: a password grant of a client with a secret brings a refresh token', async t => {
  const { login } = await createInhabited()
  t.match((await login()).refresh_token, RANDOM)
  t.notOk('refresh_token' in (await login(undefined, basic('spa', ''))))
})

t.test('wire 5.4: expires_in is the seconds from the issue date to the expiration date', async t => {
  const { login, ports } = await createInhabited({ policy: { accessTokenSeconds: 1234 } })
  const { access_token, expires_in } = await login()
  const stored = await ports.tokens.findByAccess(await ports.secrets.digest(access_token))
  t.equal(expires_in, 1234)
  t.equal(Number(stored?.expiresAt) - Number(stored?.issuedAt), 1_234_000)
})

t.test('wire 5.4: token_type is bearer', async t => {
  t.equal((await (await createInhabited()).login()).token_type, 'bearer')
})

t.test('wire 5.4: scope is there only when one was requested and granted', async t => {
  const { login } = await createInhabited()
  t.equal((await login('b a')).scope, 'b a')
  t.notOk('scope' in (await login()))
})

t.test('wire 5.10: the stored record has the columns issuedate and expirationdate', async t => {
  const columns = Object.values(getTableColumns(schema.tokens)).map(column => column.name)
  t.ok(columns.includes('issuedate'))
  t.ok(columns.includes('expirationdate'))
})

t.test('wire 5.6: a code is short-lived and exchanged once', async t => {
  const { code, form, clock } = await createInhabited()
  const exchange = (code: string) => form('/auth/token', { grant_type: 'authorization_code', code }, basic('app'))
  const once = await code()
  t.equal((await exchange(once)).statusCode, 200)
  t.equal((await exchange(once)).json().error, 'invalid_grant')
  const late = await code()
  clock.advance(60)
  t.equal((await exchange(late)).json().error, 'invalid_grant')
})

t.test('wire 5.10: a token has its limit in time, and can be revoked', async t => {
  const { login, form, ask, clock } = await createInhabited()
  const opens = async (token: string) => (await ask('/heroes', { headers: bearer(token) })).statusCode === 200
  const { access_token } = await login()
  t.ok(await opens(access_token))
  await form('/auth/revoke', { token: access_token }, basic('app'))
  t.notOk(await opens(access_token))
  const another = await login()
  clock.advance(3600)
  t.notOk(await opens(another.access_token))
})

t.test('wire 5.6: a code becomes a token only on POST /auth/token', async t => {
  const { code, form, ask } = await createInhabited()
  const secret = await code()
  const body = { grant_type: 'authorization_code', code: secret }
  t.equal((await form('/auth/code', body, basic('app'))).statusCode, 400)
  t.equal((await ask('/heroes', { headers: bearer(secret) })).statusCode, 401)
  t.equal((await form('/auth/token', body, basic('app'))).statusCode, 200)
})

t.test('wire 5.7: a refresh token is redeemed with grant_type=refresh_token', async t => {
  const { login, form, ask } = await createInhabited()
  const { refresh_token } = await login()
  t.equal((await ask('/heroes', { headers: bearer(refresh_token) })).statusCode, 401)
  const answer = await form('/auth/token', { grant_type: 'refresh_token', refresh_token }, basic('app'))
  t.match(answer.json(), { access_token: RANDOM, refresh_token: RANDOM })
})

t.test('wire 5.3: /auth/token does not sit behind a bearer check', async t => {
  const { form } = await createInhabited({ readScope: 'a', writeScope: 'a' })
  t.equal((await form('/auth/token', PASSWORD, basic('app'))).statusCode, 200)
})

t.test('wire 5.2: a public client sends Basic with an empty secret after the colon', async t => {
  const { form } = await createInhabited()
  t.equal((await form('/auth/token', PASSWORD, basic('app'))).statusCode, 200)
  t.equal((await form('/auth/token', PASSWORD, basic('spa', ''))).statusCode, 200)
  const colonless = { authorization: `Basic ${Buffer.from('spa').toString('base64')}` }
  t.equal((await form('/auth/token', PASSWORD, colonless)).statusCode, 401)
})

t.test('wire 1.9: /auth/token reads application/x-www-form-urlencoded and no other type', async t => {
  const { json, form } = await createInhabited()
  t.equal((await form('/auth/token', PASSWORD, basic('app'))).statusCode, 200)
  const answer = await json('POST', '/auth/token', PASSWORD, basic('app'))
  t.strictSame([answer.statusCode, answer.json().error], [400, 'invalid_request'])
})

t.test('wire 1.2: /auth/token reads form-encoded pairs', async t => {
  const { form } = await createInhabited()
  const body = 'grant_type=password&username=%61da&password=correct+horse'
  t.equal((await form('/auth/token', body, basic('app'))).statusCode, 200)
})

t.test('wire 5.4: /auth/token answers 200 and the whole access token response', async t => {
  const { form } = await createInhabited()
  const answer = await form('/auth/token', { ...PASSWORD, scope: 'a' }, basic('app'))
  t.equal(answer.statusCode, 200)
  const keys = ['access_token', 'refresh_token', 'expires_in', 'token_type', 'scope']
  t.strictSame(Object.keys(answer.json()).sort(), keys.sort())
})

t.test('wire 5.5: the password grant requires username and password, and scope is optional', async t => {
  const { form } = await createInhabited()
  for (const missing of ['username', 'password']) {
    const answer = await form('/auth/token', { ...PASSWORD, [missing]: undefined }, basic('app'))
    t.strictSame([answer.statusCode, answer.json().error], [400, 'invalid_request'], missing)
  }
  t.equal((await form('/auth/token', PASSWORD, basic('app'))).statusCode, 200)
  t.equal((await form('/auth/token', { ...PASSWORD, scope: 'a b' }, basic('app'))).statusCode, 200)
})

t.test('wire 5.7: the refresh grant requires refresh_token, and scope is optional', async t => {
  const { form, login } = await createInhabited()
  t.equal((await form('/auth/token', { grant_type: 'refresh_token' }, basic('app'))).json().error, 'invalid_request')
  for (const scope of [undefined, 'a']) {
    const { refresh_token } = await login('a b')
    const answer = await form('/auth/token', { grant_type: 'refresh_token', refresh_token, scope }, basic('app'))
    t.strictSame([answer.statusCode, answer.json().scope], [200, scope ?? 'a b'])
  }
})

t.test('wire 5.6: the code grant requires code, and the token is the user’s who signed in', async t => {
  const { form, code } = await createInhabited()
  const grant_type = 'authorization_code'
  t.equal((await form('/auth/token', { grant_type }, basic('app'))).json().error, 'invalid_request')
  const { access_token } = (await form('/auth/token', { grant_type, code: await code() }, basic('app'))).json()
  t.equal((await form('/auth/introspect', { token: access_token }, basic('app'))).json().username, 'ada')
})

t.test('wire 5.2: the client must be registered', async t => {
  const { form } = await createInhabited()
  const answer = await form('/auth/token', PASSWORD, basic('nobody'))
  t.strictSame([answer.statusCode, answer.json().error], [401, 'invalid_client'])
})

t.test(
  'wire 5.9: only allowed scopes are granted, the answer tells which, and a request for others alone fails',
  async t => {
    const { form } = await createInhabited()
    t.equal((await form('/auth/token', { ...PASSWORD, scope: 'x b y' }, basic('app'))).json().scope, 'b')
    const answer = await form('/auth/token', { ...PASSWORD, scope: 'x y' }, basic('app'))
    t.strictSame([answer.statusCode, answer.json().error], [400, 'invalid_scope'])
  }
)

t.test('wire 5.6: the code exchange is not served by /auth/code', async t => {
  const { form, code } = await createInhabited()
  const answer = await form('/auth/code', { grant_type: 'authorization_code', code: await code() }, basic('app'))
  t.equal(answer.statusCode, 400)
  t.notMatch(answer.payload, 'access_token')
})

const page = (parameters: Readonly<Record<string, string>>) => `/auth/code?${new URLSearchParams(parameters)}`

t.test('wire 6.1: client_id is required, and names a registered client that has a redirect URI', async t => {
  const service = await createInhabited()
  await addClient(service, 'bare', { redirectUris: [] })
  t.equal((await service.ask(page(REQUEST))).statusCode, 200)
  for (const client_id of ['', 'nobody', 'bare']) {
    const answer = await service.ask(page({ ...REQUEST, client_id }))
    t.strictSame([answer.statusCode, answer.headers.location], [400, undefined], client_id)
  }
})

t.test('wire 6.2: response_type is required, and must be code', async t => {
  const { ask } = await createInhabited()
  for (const [response_type, error] of [
    ['', 'invalid_request'],
    ['token', 'unsupported_response_type']
  ] as const) {
    const { statusCode, headers } = await ask(page({ ...REQUEST, response_type }))
    t.equal(statusCode, 302)
    t.equal(new URL(String(headers.location)).searchParams.get('error'), error)
  }
})

t.test('wire 6.3: state is required and comes back unchanged', async t => {
  const { ask, form } = await createInhabited()
  const without = await ask(page({ ...REQUEST, state: '' }))
  t.equal(new URL(String(without.headers.location)).searchParams.get('error'), 'invalid_request')
  const state = '&=+%20 /?#é🦸"<'
  const { headers } = await form('/auth/code', { ...REQUEST, ...ADA, state })
  t.equal(new URL(String(headers.location)).searchParams.get('state'), state)
})

t.test('wire 6.2: scope is optional and separated by spaces', async t => {
  const { ask } = await createInhabited()
  t.match((await ask(page({ ...REQUEST, scope: 'a b' }))).payload, /<code>a<\/code>.*<code>b<\/code>/s)
  t.equal((await ask(page(REQUEST))).statusCode, 200)
})

t.test('wire 6.5: the answer is a page whose form posts to the same path and carries every parameter', async t => {
  const { ask } = await createInhabited()
  const answer = await ask(page({ ...REQUEST, scope: 'a', tenant: 'x' }))
  t.equal(answer.statusCode, 200)
  t.equal(answer.headers['content-type'], 'text/html; charset=utf-8')
  const action = /<form method="post" action="([^"]*)">/.exec(answer.payload)?.[1] ?? ''
  t.equal(new URL(action, 'http://x/auth/code?y').pathname, '/auth/code')
  for (const [name, value] of Object.entries({ ...REQUEST, scope: 'a', tenant: 'x' })) {
    t.match(answer.payload, `<input type="hidden" name="${name}" value="${value}">`)
  }
})

t.test('wire 6.7: username, password and the parameters give 302 with code and state', async t => {
  const { form } = await createInhabited()
  const answer = await form('/auth/code', { ...REQUEST, ...ADA })
  t.equal(answer.statusCode, 302)
  const location = new URL(String(answer.headers.location))
  t.equal(location.origin + location.pathname, CALLBACK)
  t.match(location.searchParams.get('code'), RANDOM)
  t.equal(location.searchParams.get('state'), REQUEST.state)
})

t.test('wire 6.8: a failed login is 403 and the page again', async t => {
  const { form } = await createInhabited()
  const answer = await form('/auth/code', { ...REQUEST, ...ADA, password: 'wrong' })
  t.strictSame([answer.statusCode, answer.headers.location], [403, undefined])
  t.match(answer.payload, '<form method="post"')
})

t.test('wire 5.2: the client authenticates by Basic, the person by the form', async t => {
  const { form } = await createInhabited()
  t.equal((await form('/auth/token', PASSWORD, basic('app', SECRET))).statusCode, 200)
  t.equal((await form('/auth/token', PASSWORD, basic('app', 'wrong'))).statusCode, 401)
  t.equal((await form('/auth/token', { ...PASSWORD, password: 'wrong' }, basic('app'))).json().error, 'invalid_grant')
})

t.test('wire 3.4: only a valid, unexpired token of the service opens /heroes and /heroes/{id}', async t => {
  const { ask, opened, clock } = await createInhabited()
  const open = await opened()
  for (const path of ['/heroes', '/heroes/1']) {
    t.not((await ask(path, { headers: open })).statusCode, 401)
    for (const headers of [{}, bearer('x'), bearer(''), basic('app')])
      t.equal((await ask(path, { headers })).statusCode, 401)
  }
  clock.advance(3600)
  for (const path of ['/heroes', '/heroes/1']) t.equal((await ask(path, { headers: open })).statusCode, 401)
})

t.test('wire 5.10: passwords, tokens and codes are stored as hashes alone', async t => {
  const { login, code, ports } = await createInhabited()
  const { access_token, refresh_token } = await login()
  const issued = await code()
  const token = await ports.tokens.findByRefresh(await ports.secrets.digest(refresh_token ?? ''))
  const stored = await ports.codes.find(await ports.secrets.digest(issued))
  t.ok(token && stored)
  const everything = JSON.stringify([token, stored, await ports.users.list({}), await ports.clients.list()])
  for (const secret of [access_token, refresh_token, issued, ADA.password, SECRET]) t.notOk(everything.includes(secret))
})

t.test('wire 2.3: clients read in the error what is invalid, and in expires_in how long a token lives', async t => {
  const { login, form } = await createInhabited()
  t.equal((await login()).expires_in, 3600)
  const errors = [
    await form('/auth/token', PASSWORD, basic('app', 'wrong')),
    await form('/auth/token', { ...PASSWORD, password: 'wrong' }, basic('app')),
    await form('/auth/token', { grant_type: 'refresh_token', refresh_token: 'wrong' }, basic('app')),
    await form('/auth/token', { grant_type: 'authorization_code', code: 'wrong' }, basic('app'))
  ]
  t.strictSame(
    errors.map(answer => [answer.statusCode, answer.json().error]),
    [
      [401, 'invalid_client'],
      [400, 'invalid_grant'],
      [400, 'invalid_grant'],
      [400, 'invalid_grant']
    ]
  )
})

t.test('wire 3.4: anyone may call /register, /auth/token and /auth/code, and the heroes need a token', async t => {
  const { json, form, ask } = await createInhabited()
  t.equal((await json('POST', '/register', { username: 'bob', password: 'x' })).statusCode, 200)
  t.equal((await form('/auth/token', { client_id: 'spa', ...PASSWORD })).statusCode, 200)
  t.equal((await ask(page(REQUEST))).statusCode, 200)
  t.equal((await ask('/heroes')).statusCode, 401)
})
