import t from 'tap'
import { createCrypto } from '../../../../adapters/crypto/crypto.js'
import { createHashQueue } from '../../../../adapters/crypto/hash-queue.js'
import { createMemoryStores } from '../../../../adapters/memory/stores.js'
import { createUseCases, DomainError, type TokenStore } from '../../../../core/index.js'
import { basic, bearer, createInhabited, createService, LOGIN, loginPath, REQUEST } from '../../../support/service.js'
import { signal, turns } from '../../../support/waiting.js'
import { ADA, addClient, notingIn } from '../../../support/world.js'

const BODY = 'grant_type=password&username=ada&password=correct+horse'

t.test('a form of more than 1000 parameters is invalid_request', async t => {
  const { form } = await createInhabited()
  const more = (count: number): string => Array.from({ length: count }, (_, i) => `&x${i}=`).join('')
  t.equal((await form('/auth/token', BODY + more(997), basic('app'))).statusCode, 200)
  const answer = await form('/auth/token', BODY + more(998), basic('app'))
  t.strictSame([answer.statusCode, answer.json().error], [400, 'invalid_request'])
})

t.test('wire 1.8: several resource parameters are ignored, in forms and in links', async t => {
  const { form, ask } = await createInhabited()
  const resources = '&resource=https%3A%2F%2Fa.example&resource=https%3A%2F%2Fb.example&resource='
  t.equal((await form('/auth/token', BODY + resources, basic('app'))).statusCode, 200)
  t.equal((await ask(`${loginPath()}${resources}`)).statusCode, 200)
  const sent = await form(`${loginPath()}${resources}`, `${new URLSearchParams({ ...REQUEST, ...ADA })}${resources}`)
  t.equal(sent.statusCode, 302)
})

t.test('wire 1.8: a repeated parameter is invalid_request, known or not, empty or not', async t => {
  const { form } = await createInhabited()
  for (const repeated of [
    'scope=a&scope=a',
    'username=ada',
    'x=1&x=2',
    'x=&x=',
    'x&x',
    '%78=1&x=1',
    'scope=&scope=a'
  ]) {
    const answer = await form('/auth/token', `${BODY}&${repeated}`, basic('app'))
    t.strictSame([answer.statusCode, answer.json().error], [400, 'invalid_request'], repeated)
  }
})

t.test('wire 1.8: an empty parameter counts as absent', async t => {
  const { form } = await createInhabited()
  const answer = await form('/auth/token', `${BODY}&scope=&refresh_token=&code`, basic('app'))
  t.equal(answer.statusCode, 200)
  t.notOk('scope' in answer.json())
  for (const name of ['grant_type', 'username', 'password']) {
    const { statusCode, ...answer } = await form('/auth/token', { ...LOGIN, [name]: '' }, basic('app'))
    t.strictSame([statusCode, answer.json().error_description], [400, `${name} is missing: send it`])
  }
})

t.test('wire 1.8: unknown parameters are ignored', async t => {
  const { form } = await createInhabited()
  for (const extra of ['x=1', '__proto__=1', 'constructor=1', 'grant%20type=x', 'GRANT_TYPE=x', '=', '=x', '&&&']) {
    t.equal((await form('/auth/token', `${BODY}&${extra}`, basic('app'))).statusCode, 200, extra)
  }
})

t.test('wire 1.8: the query string is not read', async t => {
  const { form } = await createInhabited()
  const query = new URLSearchParams({ ...LOGIN, client_id: 'spa' })
  t.equal((await form(`/auth/token?${query}`, {})).json().error, 'invalid_client')
  t.equal(
    (await form(`/auth/token?${query}`, {}, basic('app'))).json().error_description,
    'grant_type is missing: send it'
  )
  t.equal((await form('/auth/token?scope=x&scope=%zz&grant_type=nonsense', BODY, basic('app'))).statusCode, 200)
})

t.test('an unknown grant type is unsupported_grant_type', async t => {
  const { form } = await createInhabited()
  const types = ['CLIENT_CREDENTIALS', 'implicit', 'PASSWORD', 'password ', 'constructor', '__proto__']
  for (const grant_type of types) {
    const answer = await form('/auth/token', { ...LOGIN, grant_type }, basic('app'))
    t.strictSame([answer.statusCode, answer.json().error], [400, 'unsupported_grant_type'], grant_type)
  }
})

t.test('every answer is no-store, whatever its status', async t => {
  const { form, ask, json } = await createInhabited({ bodyLimit: 1000 })
  const answers = [
    await form('/auth/token', LOGIN, basic('app')),
    await form('/auth/token', LOGIN),
    await form('/auth/token', {}, basic('app')),
    await form('/auth/token', { ...LOGIN, password: 'wrong' }, basic('app')),
    await form('/auth/token', 'a=1&a=2', basic('app')),
    await form('/auth/token', 'a'.repeat(1001), basic('app')),
    await form('/auth/token', LOGIN, { ...basic('app'), 'content-encoding': 'gzip' }),
    await json('POST', '/auth/token', {}, basic('app')),
    await ask('/auth/token')
  ]
  t.strictSame(
    answers.map(answer => answer.statusCode),
    [200, 401, 400, 400, 400, 413, 415, 400, 405]
  )
  for (const { headers, statusCode } of answers) {
    t.match(headers, { 'cache-control': 'no-store', pragma: 'no-cache' }, String(statusCode))
  }
})

t.test('error descriptions keep to the characters of RFC 6749 and never echo input', async t => {
  const { form } = await createInhabited()
  const canary = 'CANARY"\\<é>'
  const fields = {
    grant_type: canary,
    username: canary,
    password: canary,
    scope: canary,
    code: canary,
    refresh_token: canary
  }
  for (const grant_type of [canary, 'password', 'refresh_token', 'authorization_code']) {
    for (const headers of [basic('app'), basic(canary), { authorization: canary }]) {
      const answer = await form('/auth/token', { ...fields, grant_type, [canary]: canary }, headers)
      t.ok(answer.statusCode === 400 || answer.statusCode === 401)
      t.match(answer.json().error_description, /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/)
      t.notMatch(answer.payload, 'CANARY')
    }
  }
})

t.test(
  'a token gets the requested scopes that its client is allowed, in the order of the request and each once',
  async t => {
    const { login, form } = await createInhabited()
    const granted: [requested: string, granted: string][] = [
      ['b a', 'b a'],
      ['a b a b', 'a b'],
      ['x a y', 'a'],
      ['a:heroes b.readonly', 'a:heroes b.readonly'],
      ['ab a', 'a']
    ]
    for (const [requested, scope] of granted) t.equal((await login(requested)).scope, scope, requested)
    for (const scope of ['x', 'A', 'a"', 'a\\', 'é', 'a\tb', 'a\nb']) {
      const answer = await form('/auth/token', { ...LOGIN, scope }, basic('app'))
      t.strictSame([answer.statusCode, answer.json().error], [400, 'invalid_scope'], JSON.stringify(scope))
    }
  }
)

t.test('a client that is allowed no scope may still log in without one', async t => {
  const service = await createInhabited()
  await addClient(service, 'plain', { allowedScopes: [] })
  t.equal((await service.form('/auth/token', LOGIN, basic('plain'))).statusCode, 200)
  t.equal((await service.form('/auth/token', { ...LOGIN, scope: 'a' }, basic('plain'))).json().error, 'invalid_scope')
})

t.test('a bad scope is refused before the password is looked at, and costs no attempt', async t => {
  const { form } = await createInhabited({ policy: { loginAttempts: 1 } })
  for (let i = 0; i < 5; i += 1) {
    const fields = { ...LOGIN, password: 'wrong', scope: 'x' }
    t.equal((await form('/auth/token', fields, basic('app'))).json().error, 'invalid_scope')
  }
  t.equal((await form('/auth/token', LOGIN, basic('app'))).statusCode, 200)
})

t.test('a refresh by a public client is unauthorized_client', async t => {
  const { form, login } = await createInhabited()
  const { refresh_token } = await login()
  for (const token of [refresh_token, 'x', undefined]) {
    const answer = await form('/auth/token', { grant_type: 'refresh_token', refresh_token: token, client_id: 'spa' })
    t.strictSame([answer.statusCode, answer.json().error], [400, 'unauthorized_client'])
  }
})

t.test(
  'wire 5.8: a repeated refresh is the first body again, byte for byte but for expires_in, and a theft after the grace',
  async t => {
    const { form, login, ask, clock } = await createInhabited()
    const { refresh_token } = await login('a b')
    const refresh = () => form('/auth/token', { grant_type: 'refresh_token', refresh_token, scope: 'a' }, basic('app'))
    const first = await refresh()
    t.equal((await refresh()).payload, first.payload)
    clock.advance(29.999)
    t.equal((await refresh()).payload, first.payload.replace('"expires_in":3600', '"expires_in":3570'))
    const headers = bearer(first.json().access_token)
    t.equal((await ask('/heroes', { headers })).statusCode, 200)
    clock.advance(0.001)
    t.strictSame([(await refresh()).statusCode, (await refresh()).json().error], [400, 'invalid_grant'])
    t.equal((await ask('/heroes', { headers })).statusCode, 401)
  }
)

t.test('a repeated refresh after the end of its grant is invalid_grant even within the grace', async t => {
  const { form, login, clock } = await createInhabited({ policy: { grantSeconds: 100 } })
  const { refresh_token } = await login()
  const refresh = () => form('/auth/token', { grant_type: 'refresh_token', refresh_token }, basic('app'))
  clock.advance(90)
  t.equal((await refresh()).json().expires_in, 10)
  clock.advance(9.999)
  t.equal((await refresh()).json().expires_in, 0)
  clock.advance(0.001)
  t.equal((await refresh()).json().error, 'invalid_grant')
})

t.test('a repeated refresh is invalid_grant when its grant is revoked meanwhile', async t => {
  const { ports, policy, login, form } = await createInhabited()
  const { refresh_token } = await login()
  const fields = { grant_type: 'refresh_token', refresh_token }
  t.equal((await form('/auth/token', fields, basic('app'))).statusCode, 200)
  const tokens: TokenStore = {
    ...ports.tokens,
    async findByRefresh(digest) {
      const found = await ports.tokens.findByRefresh(digest)
      if (found !== undefined) await ports.grants.revoke(found.grant.id, found.issuedAt)
      return found
    }
  }
  const overtaken = createService({ useCases: createUseCases({ ...ports, tokens }, policy) })
  t.equal((await overtaken.form('/auth/token', fields, basic('app'))).json().error, 'invalid_grant')
})

t.test('a login is refused when its user is revoked while the password is verified', async t => {
  const world = await createInhabited()
  const { useCases, ports, policy } = world
  const overtaken = {
    ...ports.passwords,
    verify: async (...args: Parameters<typeof ports.passwords.verify>) => {
      const verdict = await ports.passwords.verify(...args)
      await useCases.revokeUser('ada')
      return verdict
    }
  }
  const { form } = createService({ useCases: createUseCases({ ...ports, passwords: overtaken }, policy) })
  t.equal((await form('/auth/token', LOGIN, basic('app'))).json().error, 'invalid_grant')
  const page = { ...REQUEST, ...ADA }
  t.equal((await form('/auth/code', page)).statusCode, 403)
})

t.test('a login succeeds although its hash cannot be replaced because hashing is overloaded', async t => {
  const { ports, policy } = await createInhabited()
  const passwords = { ...createCrypto().passwords, hash: () => Promise.reject(new DomainError('overloaded', 'busy')) }
  const { form } = createService({ useCases: createUseCases({ ...ports, passwords }, policy) })
  t.equal((await form('/auth/token', LOGIN, basic('app'))).statusCode, 200)
})

t.test('a login succeeds although its new hash cannot be stored, unless a bug is the reason', async t => {
  const { ports, policy } = await createInhabited()
  for (const [error, status] of [
    [new DomainError('unavailable', 'lost'), 200],
    [new Error('a bug'), 500]
  ] as const) {
    const users = { ...ports.users, rehash: () => Promise.reject(error) }
    const { form } = createService({ useCases: createUseCases({ ...ports, ...createCrypto(), users }, policy) })
    t.equal((await form('/auth/token', LOGIN, basic('app'))).statusCode, status)
  }
})

t.test(
  'wire 4.10: a login while hashing is overloaded is 503 with Retry-After, at the token endpoint and on the page',
  async t => {
    const { ports, policy } = await createInhabited()
    const { run: pass } = createHashQueue({ concurrency: 1, capacity: 0, pauses: true })
    void pass(() => new Promise(() => {}))
    const passwords = { ...ports.passwords, verify: () => pass(async () => 'match' as const) }
    const { form } = createService({ useCases: createUseCases({ ...ports, passwords }, policy) })
    const page = { ...REQUEST, ...ADA }
    for (const answer of [await form('/auth/token', LOGIN, basic('app')), await form('/auth/code', page)]) {
      t.equal(answer.statusCode, 503)
      t.equal(answer.headers['retry-after'], '1')
    }
  }
)

t.test('while the client is looked up, so is its code or refresh token, and nothing else is done', async t => {
  const memory = createMemoryStores()
  const calls: string[] = []
  const noted = notingIn(calls)
  let opened = Promise.resolve()
  const clients: typeof memory.clients = {
    ...memory.clients,
    find: async id => {
      await opened
      return memory.clients.find(id)
    }
  }
  const stores = {
    ...memory,
    clients,
    grants: noted(memory.grants),
    codes: noted(memory.codes),
    tokens: noted(memory.tokens)
  }
  const { form, code, login } = await createInhabited({ stores })
  const refresh = { grant_type: 'refresh_token', refresh_token: (await login()).refresh_token }
  for (const [fields, lookUp, write] of [
    [{ grant_type: 'authorization_code', code: await code() }, 'find', 'redeem'],
    [refresh, 'findByRefresh', 'rotate'],
    [{ ...refresh, refresh_token: 'malformed' }, undefined, undefined],
    [{ ...refresh, grant_type: 'nonsense' }, undefined, undefined]
  ] as const) {
    calls.splice(0)
    const found = signal()
    opened = found.given
    const asked = form('/auth/token', fields, basic('app', 'the wrong secret of this client'))
    await turns(20)
    t.strictSame(calls.splice(0), lookUp === undefined ? [] : [lookUp])
    found.give()
    t.equal((await asked).json().error, 'invalid_client')
    t.strictSame(calls, [])
    t.equal((await form('/auth/token', fields, basic('app'))).statusCode, write === undefined ? 400 : 200)
    t.strictSame(calls, write === undefined ? [] : [lookUp, write])
  }
})

t.test('a look-up that fails beside the client changes nothing of what an unknown client is told', async t => {
  const memory = createMemoryStores()
  const lost = () => Promise.reject(new DomainError('unavailable', 'lost', { retryAfterSeconds: 1 }))
  const stores = { ...memory, tokens: { ...memory.tokens, findByRefresh: lost } }
  const { form } = await createInhabited({ stores })
  const refresh = { grant_type: 'refresh_token', refresh_token: 'x'.repeat(32) }
  t.equal((await form('/auth/token', refresh, basic('nobody'))).json().error, 'invalid_client')
  t.equal((await form('/auth/token', refresh, basic('app'))).statusCode, 503)
})
