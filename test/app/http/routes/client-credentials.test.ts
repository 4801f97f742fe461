import t from 'tap'
import { createUseCases } from '../../../../core/index.js'
import {
  basic,
  bearer,
  challengeOf,
  createInhabited,
  type Headers,
  type Inhabited,
  LOGIN,
  opens,
  PUBLIC_URL,
  parametersOf,
  REQUEST,
  type ServiceOptions
} from '../../../support/service.js'
import { ADA, addClient, blankRequest } from '../../../support/world.js'

const FORM = { grant_type: 'client_credentials' }

interface Setting extends Inhabited {
  /** The token that `robot` gets for itself. */
  own(scope?: string): Promise<string>
  /** The body of the answer to an introspection. */
  introspect(token: string): Promise<Record<string, unknown>>
}

/** A service with one more client, `robot`, which acts for itself and for nobody else. */
const createSetting = async (options: ServiceOptions = {}): Promise<Setting> => {
  const service = await createInhabited(options)
  await addClient(service, 'robot', { grantTypes: ['client_credentials'] })
  return {
    ...service,
    own: async scope => (await service.form('/auth/token', { ...FORM, scope }, basic('robot'))).json().access_token,
    introspect: async token => (await service.form('/auth/introspect', { token }, basic('app'))).json()
  }
}

t.test('wire 5.14: a client that was given the grant gets a token for itself, and no refresh token', async t => {
  const { form, json, ask } = await createSetting({ readScope: 'a', writeScope: 'b' })
  const answer = await form('/auth/token', { ...FORM, scope: 'x b a' }, basic('robot'))
  t.equal(answer.statusCode, 200)
  t.has(answer.headers, { 'cache-control': 'no-store', pragma: 'no-cache' })
  const { access_token, ...rest } = answer.json()
  t.match(access_token, /^[A-Za-z0-9]{32}$/)
  t.strictSame(rest, { expires_in: 3600, token_type: 'bearer', scope: 'b a' })
  const headers = bearer(access_token)
  const { id } = (await json('POST', '/heroes', { name: 'Starling' }, headers)).json()
  t.strictSame((await ask(`/heroes/${id}`, { headers })).json(), { id, name: 'Starling' })
  const narrow = (await form('/auth/token', { ...FORM, scope: 'a' }, basic('robot'))).json()
  const refused = await json('POST', '/heroes', { name: 'Robin' }, bearer(narrow.access_token))
  t.equal(refused.statusCode, 403)
})

t.test('wire 5.14: scopes are granted as everywhere, and who requests none is granted none', async t => {
  const { form } = await createSetting()
  t.notOk('scope' in (await form('/auth/token', FORM, basic('robot'))).json())
  for (const scope of ['x', 'é', 'a"']) {
    const answer = await form('/auth/token', { ...FORM, scope }, basic('robot'))
    t.strictSame([answer.statusCode, answer.json().error], [400, 'invalid_scope'], scope)
  }
})

t.test('wire 5.12: the introspection of such a token has the client as its subject, and no username', async t => {
  const { own, introspect, clock } = await createSetting()
  const token = await own('b')
  const at = Math.floor(clock.now().getTime() / 1000)
  t.strictSame(await introspect(token), {
    active: true,
    scope: 'b',
    client_id: 'robot',
    token_type: 'bearer',
    sub: 'robot',
    iss: PUBLIC_URL,
    exp: at + 3600,
    iat: at
  })
  clock.advance(3600)
  t.strictSame(await introspect(token), { active: false })
})

t.test('wire 5.14: such a token ends with its revocation or its client, and with no user', async t => {
  const service = await createSetting()
  const { form, own, useCases, introspect } = service
  const [one, other] = [await own(), await own()]
  const foreign = await form('/auth/revoke', { token: one }, basic('app'))
  t.strictSame([foreign.statusCode, foreign.json().error], [400, 'invalid_grant'])
  t.ok(await opens(service, one))
  t.equal((await form('/auth/revoke', { token: one }, basic('robot'))).statusCode, 200)
  t.notOk(await opens(service, one))
  t.strictSame(await introspect(one), { active: false })
  await useCases.revokeUser(ADA.username)
  await useCases.removeUser(ADA.username)
  t.ok(await opens(service, other))
  await useCases.removeClient('robot')
  t.notOk(await opens(service, other))
  await addClient(service, 'robot', { grantTypes: ['client_credentials'] })
  t.notOk(await opens(service, other), 'a new client with the id starts empty')
  t.equal((await form('/auth/revoke', { token: other }, basic('robot'))).statusCode, 200)
})

t.test('a client that is removed while its requests are served gets no token that lives', async t => {
  const service = await createSetting()
  const { form, useCases } = service
  const answers = await Promise.all(
    Array.from({ length: 20 }, async (_, rival) => {
      if (rival === 10) await useCases.removeClient('robot')
      return form('/auth/token', FORM, basic('robot'))
    })
  )
  const refused = answers.filter(({ statusCode }) => statusCode === 401)
  t.ok(refused.length > 0)
  for (const answer of refused) {
    t.equal(answer.json().error, 'invalid_client')
    t.has(answer.headers, { 'www-authenticate': 'Basic realm="heroes"' })
  }
  for (const answer of answers) t.notOk(await opens(service, String(answer.json().access_token)))
})

t.test('a client that is removed while its token is made is no client any more', async t => {
  const { ports, policy, clock } = await createSetting()
  const tokens = { ...ports.tokens, insert: async () => false }
  const useCases = createUseCases({ ...ports, tokens, clock }, policy)
  const robot = await useCases.findClient('robot')
  const request = { ...blankRequest, grantType: 'client_credentials' }
  await t.rejects(useCases.issueToken(robot, request), { code: 'invalid_client' })
})

t.test('a public client gets no token for itself, even if its record says so', async t => {
  const { form, ports, useCases } = await createSetting()
  const spa = await useCases.findClient('spa')
  await ports.clients.insert({ ...spa, id: 'odd', grantTypes: ['client_credentials'] })
  const answer = await form('/auth/token', { ...FORM, client_id: 'odd' })
  t.strictSame([answer.statusCode, answer.json().error], [400, 'unauthorized_client'])
})

const VERIFIER = 'v'.repeat(43)
const PKCE = { code_challenge: challengeOf(VERIFIER), code_challenge_method: 'S256' }

t.test('wire 5.15: a grant type that the client is not allowed is unauthorized_client', async t => {
  const service = await createSetting()
  const { form, login, code, useCases } = service
  const fields: Readonly<Record<string, () => Promise<Record<string, string>>>> = {
    password: async () => ADA,
    authorization_code: async () => ({ code: await code({ client_id: 'narrow' }) }),
    refresh_token: async () => ({ refresh_token: (await login(undefined, basic('narrow'))).refresh_token }),
    client_credentials: async () => ({})
  }
  await addClient(service, 'narrow')
  const all = Object.keys(fields)
  for (const [grant_type, make] of Object.entries(fields)) {
    const ask = (sent: Record<string, string>) => form('/auth/token', { grant_type, ...sent }, basic('narrow'))
    await useCases.changeClient('narrow', { grantTypes: all })
    const sent = await make()
    await useCases.changeClient('narrow', { grantTypes: all.filter(type => type !== grant_type) })
    for (const what of [sent, {}]) {
      const refused = await ask(what)
      t.strictSame([refused.statusCode, refused.json().error], [400, 'unauthorized_client'], grant_type)
    }
    await useCases.changeClient('narrow', { grantTypes: [grant_type] })
    t.equal((await ask(sent)).statusCode, 200, `${grant_type}: the refusal has spent nothing`)
  }
  await useCases.changeClient('narrow', { grantTypes: [] })
  const unknown = await form('/auth/token', { grant_type: 'implicit' }, basic('narrow'))
  t.equal(unknown.json().error, 'unsupported_grant_type')
  t.equal((await form('/auth/introspect', { token: 'x' }, basic('narrow'))).statusCode, 200)
})

t.test('wire 5.15: a client that is not allowed the refresh grant gets no refresh token', async t => {
  const service = await createSetting()
  const { form, code } = service
  await addClient(service, 'brief', { grantTypes: ['password', 'authorization_code'] })
  const codeForm = { grant_type: 'authorization_code', code: await code({ client_id: 'brief' }) }
  for (const fields of [LOGIN, codeForm]) {
    const answer = await form('/auth/token', fields, basic('brief'))
    t.strictSame(Object.keys(answer.json()), ['access_token', 'expires_in', 'token_type'])
  }
})

t.test('wire 6.2: a client without the code grant is told so by a redirect, before and after the form', async t => {
  const service = await createSetting()
  const { ask, form } = service
  const query = new URLSearchParams({ ...REQUEST, ...PKCE, client_id: 'robot' })
  const sent: Headers = { ...REQUEST, ...PKCE, client_id: 'robot', ...ADA }
  for (const answer of [await ask(`/auth/code?${query}`), await form('/auth/code', sent)]) {
    t.equal(answer.statusCode, 302)
    t.match(parametersOf(answer.headers.location), {
      error: 'unauthorized_client',
      state: REQUEST.state,
      iss: PUBLIC_URL
    })
  }
})
