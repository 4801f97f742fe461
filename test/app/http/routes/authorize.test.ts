import t from 'tap'
import { createMemoryStores } from '../../../../adapters/memory/stores.js'
import type { AuthorizationRequest, Client } from '../../../../core/index.js'
import {
  basic,
  CALLBACK,
  challengeOf,
  createInhabited,
  createService,
  loginPath,
  PUBLIC_URL,
  parametersOf,
  REQUEST,
  type Service
} from '../../../support/service.js'
import { ADA, addClient } from '../../../support/world.js'

type Parameters = Readonly<Record<string, string | undefined>>

const PKCE = { code_challenge: challengeOf('a'.repeat(43)), code_challenge_method: 'S256' }

/** A service with one more client, `own`, that has this redirect URI. */
const withRedirect = async (redirectUri: string): Promise<Service> => {
  const service = await createInhabited()
  await addClient(service, 'own', { redirectUris: [redirectUri] })
  return service
}

t.test('a fault in the client or its redirect URI is a page and no redirect', async t => {
  const service = await createInhabited()
  await addClient(service, 'bare', { redirectUris: [] })
  const { ask, form } = service
  const faults: Parameters[] = [
    { client_id: undefined },
    { client_id: '' },
    { client_id: 'nobody' },
    { client_id: 'APP' },
    { client_id: 'app\u0001' },
    { client_id: 'x'.repeat(1000) },
    { client_id: 'bare' },
    { redirect_uri: 'https://evil.example/callback' },
    { client_id: 'bare', redirect_uri: CALLBACK }
  ]
  for (const fault of faults) {
    const sent = { ...REQUEST, ...ADA, ...fault }
    for (const answer of [await ask(loginPath(fault)), await form('/auth/code', sent)]) {
      t.strictSame([answer.statusCode, answer.headers.location], [400, undefined], JSON.stringify(fault))
      t.equal(answer.headers['content-type'], 'text/html; charset=utf-8')
      t.notMatch(answer.payload, /evil|<form/)
    }
  }
})

t.test('what others stored as a redirect URI and no redirect can have is none', async t => {
  const stores = createMemoryStores()
  const service = await createInhabited({ stores })
  const odd = [
    'https://x.example/\u0101',
    'https://x.example/\r\na:b',
    'javascript:alert(1)',
    'https://x.example/#a',
    'not a url',
    ''
  ]
  const client = await addClient(service, 'odd')
  await stores.clients.insert({ ...client, id: 'foreign', redirectUris: [...odd, CALLBACK] })
  for (const redirect_uri of odd.filter(uri => uri !== '')) {
    for (const answer of [
      await service.ask(loginPath({ client_id: 'foreign', redirect_uri })),
      await service.form('/auth/code', { ...REQUEST, ...ADA, client_id: 'foreign', redirect_uri })
    ]) {
      t.strictSame([answer.statusCode, answer.headers.location], [400, undefined], redirect_uri)
    }
  }
  const answer = await service.form('/auth/code', { ...REQUEST, ...ADA, client_id: 'foreign' })
  t.match([answer.statusCode, answer.headers.location], [302, new RegExp(`^${CALLBACK}`)], 'the one that is left')
})

t.test('a link without client_id and a code that is sent to the login page are told as that', async t => {
  const { ask, form } = await createInhabited()
  const missing = await ask(loginPath({ client_id: undefined }))
  t.equal(missing.statusCode, 400)
  t.match(missing.payload, 'The link does not say which application it belongs to: it has no client_id.')
  t.match(missing.payload, 'client_id is missing: send the id of the application')
  const code = { grant_type: 'authorization_code', code: 'x'.repeat(32) }
  for (const answer of [await form('/auth/code', code), await form('/auth/code', code, basic('app'))]) {
    t.equal(answer.statusCode, 400)
    t.match(answer.payload, 'The application sent a code to this page. Its place is the token endpoint, /auth/token.')
  }
})

t.test('a repeated or unreadable parameter is a page and no redirect', async t => {
  const { ask, form } = await createInhabited()
  for (const extra of ['state=x', 'client_id=app', 'x=1&x=2', 'x=&x=', 'x=%', 'x=%ff', 'x=%00']) {
    const answer = await ask(`${loginPath()}&${extra}`)
    t.strictSame([answer.statusCode, answer.headers.location], [400, undefined], extra)
    const sent = await form('/auth/code', `${new URLSearchParams({ ...REQUEST, ...ADA })}&${extra}`)
    t.strictSame([sent.statusCode, sent.headers.location], [400, undefined], extra)
  }
})

t.test('a redirect URI that is not exactly the registered one is a page', async t => {
  const registered = 'https://app.example/callback?tenant=a'
  const { ask } = await withRedirect(registered)
  const others = [
    'https://app.example/Callback?tenant=a',
    'https://APP.example/callback?tenant=a',
    'HTTPS://app.example/callback?tenant=a',
    'http://app.example/callback?tenant=a',
    'https://app.example:443/callback?tenant=a',
    'https://app.example/callback/?tenant=a',
    'https://app.example/callback',
    'https://app.example/callback?tenant=b',
    'https://app.example/callback?tenant=a&x=1',
    'https://app.example/callback?tenant=a#',
    'https://app.example/callback?tenant=a#x',
    'https://user@app.example/callback?tenant=a',
    'https://app.example/x/../callback?tenant=a',
    'https://app.example/callbac%6B?tenant=a',
    'https://app.example.evil.example/callback?tenant=a',
    ' https://app.example/callback?tenant=a',
    'https://app.example/callback?tenant=a\n'
  ]
  for (const redirect_uri of others)
    t.equal((await ask(loginPath({ client_id: 'own', redirect_uri }))).statusCode, 400, redirect_uri)
  t.equal((await ask(loginPath({ client_id: 'own', redirect_uri: registered }))).statusCode, 200)
  t.equal((await ask(loginPath({ client_id: 'own', redirect_uri: '' }))).statusCode, 200, 'empty counts as absent')
})

t.test('the port of a loopback redirect URI may differ, and nothing else of it', async t => {
  for (const host of ['127.0.0.1', '[::1]', 'localhost']) {
    const { ask, form } = await withRedirect(`http://${host}:3000/callback?x=1`)
    const same = [`http://${host}/callback?x=1`, `http://${host}:1/callback?x=1`, `http://${host}:65535/callback?x=1`]
    for (const redirect_uri of same) {
      t.equal((await ask(loginPath({ client_id: 'own', redirect_uri }))).statusCode, 200, redirect_uri)
      const answer = await form('/auth/code', { ...REQUEST, ...ADA, client_id: 'own', redirect_uri })
      t.ok(String(answer.headers.location).startsWith(`${redirect_uri}&code=`), redirect_uri)
    }
    const others = [
      `https://${host}:3000/callback?x=1`,
      `http://${host}:3000/callback?x=2`,
      `http://${host}:3000/other?x=1`,
      `http://${host}:3000/callback`,
      `http://${host}:3000@evil.example/callback?x=1`,
      `http://${host}:@evil.example/callback?x=1`,
      `http://${host}:80:80/callback?x=1`,
      `http://${host}:x/callback?x=1`,
      `http://${host}:123456/callback?x=1`,
      `http://${host}:65536/callback?x=1`,
      `http://${host}:99999/callback?x=1`,
      `http://${host}:0/callback?x=1`,
      `http://${host}:03000/callback?x=1`,
      `http://${host}:/callback?x=1`,
      `http://${host}.evil.example/callback?x=1`,
      `http://user@${host}/callback?x=1`,
      `http://${host === 'localhost' ? '127.0.0.1' : 'localhost'}:3000/callback?x=1`
    ]
    for (const redirect_uri of others)
      t.equal((await ask(loginPath({ client_id: 'own', redirect_uri }))).statusCode, 400, redirect_uri)
  }
  const { ask } = await withRedirect('https://localhost:3000/callback')
  const redirect_uri = 'https://localhost:3001/callback'
  t.equal(
    (await ask(loginPath({ client_id: 'own', redirect_uri }))).statusCode,
    400,
    'the port of an https URI may not differ'
  )
})

t.test('wire 6.1: of several redirect URIs the request names one, exactly, and the code goes there', async t => {
  const service = await createInhabited()
  const uris = ['https://app.example/callback?x=1', 'http://127.0.0.1/cb', 'http://[::1]:1/cb', 'com.example:/cb']
  await addClient(service, 'own', { redirectUris: uris })
  const { ask, form } = service
  for (const redirect_uri of [...uris, 'http://127.0.0.1:65535/cb', 'http://[::1]/cb']) {
    t.equal((await ask(loginPath({ client_id: 'own', redirect_uri }))).statusCode, 200, redirect_uri)
    const { location } = (await form('/auth/code', { ...REQUEST, ...ADA, client_id: 'own', redirect_uri })).headers
    const { code = '' } = parametersOf(location, redirect_uri)
    const exchange = { grant_type: 'authorization_code', code }
    const answer = await form('/auth/token', { ...exchange, redirect_uri }, basic('own'))
    t.equal(answer.statusCode, 200, redirect_uri)
  }
  const faults = [
    undefined,
    '',
    'https://app.example/callback',
    'com.example:/cb/',
    'http://localhost/cb',
    uris.join(' ')
  ]
  for (const redirect_uri of faults) {
    const sent = { ...REQUEST, ...ADA, client_id: 'own', redirect_uri }
    for (const answer of [await ask(loginPath(sent)), await form('/auth/code', sent)]) {
      t.strictSame([answer.statusCode, answer.headers.location], [400, undefined], String(redirect_uri))
      t.equal(answer.headers['content-type'], 'text/html; charset=utf-8')
    }
  }
})

t.test('wire 5.6: a code that went to one redirect URI is not exchanged with another one', async t => {
  const service = await createInhabited()
  const uris = ['https://app.example/a', 'https://app.example/b']
  await addClient(service, 'own', { redirectUris: uris })
  for (const given of [undefined, uris[1]]) {
    const { location } = (
      await service.form('/auth/code', { ...REQUEST, ...ADA, client_id: 'own', redirect_uri: uris[0] })
    ).headers
    const { code } = parametersOf(location, uris[0])
    const exchange = { grant_type: 'authorization_code', code, redirect_uri: given }
    t.match(
      (await service.form('/auth/token', exchange, basic('own'))).json(),
      { error: 'invalid_grant' },
      String(given)
    )
  }
})

t.test('wire 6.2: response_mode=query is what the service does anyway', async t => {
  const { form } = await createInhabited()
  const { location } = (await form('/auth/code', { ...REQUEST, ...ADA, response_mode: 'query' })).headers
  t.match(parametersOf(location), { code: String })
})

t.test(
  'wire 6.2 and 6.4: any other fault is told to the client by a redirect with the state and the issuer',
  async t => {
    const service = await createInhabited()
    await addClient(service, 'strict', { requirePkce: true })
    const faults: [Parameters, string][] = [
      [{ response_type: undefined }, 'invalid_request'],
      [{ response_type: 'token' }, 'unsupported_response_type'],
      [{ response_type: 'code token' }, 'unsupported_response_type'],
      [{ response_type: 'CODE' }, 'unsupported_response_type'],
      [{ response_mode: 'fragment' }, 'invalid_request'],
      [{ response_mode: 'form_post' }, 'invalid_request'],
      [{ response_mode: 'QUERY' }, 'invalid_request'],
      [{ state: undefined }, 'invalid_request'],
      [{ state: '' }, 'invalid_request'],
      [{ scope: 'x' }, 'invalid_scope'],
      [{ scope: 'a"b' }, 'invalid_scope'],
      [{ scope: 'é' }, 'invalid_scope'],
      [{ code_challenge: PKCE.code_challenge }, 'invalid_request'],
      [{ ...PKCE, code_challenge_method: 'plain' }, 'invalid_request'],
      [{ ...PKCE, code_challenge_method: 's256' }, 'invalid_request'],
      [{ code_challenge_method: 'S256' }, 'invalid_request'],
      [{ ...PKCE, code_challenge: 'a'.repeat(42) }, 'invalid_request'],
      [{ ...PKCE, code_challenge: 'a'.repeat(44) }, 'invalid_request'],
      [{ ...PKCE, code_challenge: `${'a'.repeat(42)}=` }, 'invalid_request'],
      [{ client_id: 'strict' }, 'invalid_request']
    ]
    for (const [fault, error] of faults) {
      const sent = { ...REQUEST, ...ADA, ...fault }
      for (const answer of [await service.ask(loginPath(fault)), await service.form('/auth/code', sent)]) {
        t.equal(answer.statusCode, 302, JSON.stringify(fault))
        const { error_description, ...told } = parametersOf(answer.headers.location)
        t.match(error_description, /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/)
        const state = 'state' in fault ? {} : { state: REQUEST.state }
        t.strictSame(told, { error, ...state, iss: PUBLIC_URL }, JSON.stringify(fault))
        t.has(answer.headers, { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
      }
    }
    t.equal((await service.ask(loginPath({ client_id: 'strict', ...PKCE }))).statusCode, 200)
  }
)

t.test('a state of up to 4 kB comes back unchanged, whatever characters it has', async t => {
  const { ask, form } = await createInhabited()
  const ascii = Array.from({ length: 127 }, (_, i) => String.fromCharCode(i + 1)).join('')
  const states = [
    ascii,
    '+',
    ' ',
    '%20',
    '%2B',
    '&=#?;',
    'é🦸\u2028\ufeff',
    '\r\n',
    '\u0085',
    'x'.repeat(4096),
    'é'.repeat(2048)
  ]
  for (const state of states) {
    t.equal((await ask(loginPath({ state }))).statusCode, 200)
    const inForm = await form('/auth/code', { ...REQUEST, ...ADA, state })
    t.equal(parametersOf(inForm.headers.location).state, state, 'from the form')
    const inLink = await form(loginPath({ state }), ADA)
    t.equal(parametersOf(inLink.headers.location).state, state, 'from the link')
    const fault = await ask(loginPath({ state, response_type: 'x' }))
    t.equal(parametersOf(fault.headers.location).state, state, 'with an error')
  }
})

t.test('a state over 4 kB, a value over 16 kB or more parameters than a page can repeat are a 400 page', async t => {
  const { ask, form, useCases } = await createInhabited()
  const client = await useCases.findClient('app')
  const parts = Object.fromEntries(Array.from({ length: 4 }, (_, part) => [`x${part}`, 'x'.repeat(4000)]))
  const requests: Record<string, string>[] = [
    { state: 'x'.repeat(4097) },
    { state: 'é'.repeat(2049) },
    { unknown: 'x'.repeat(16_385) },
    { client_id: 'x'.repeat(16_385) },
    { client_id: 'nobody', state: 'x'.repeat(4097) },
    { ...parts, x4: 'secret'.repeat(100) }
  ]
  for (const request of requests) {
    for (const answer of [
      await ask(loginPath(request)),
      await form('/auth/code', { ...REQUEST, ...ADA, ...request })
    ]) {
      t.equal(answer.statusCode, 400)
      t.has(answer.headers, { 'content-type': 'text/html; charset=utf-8' })
      t.notMatch(answer.headers, { location: String })
      t.notMatch(answer.payload, /x{20}|é|secret/, 'the page repeats nothing of the request')
    }
  }
  t.equal((await ask(loginPath(parts))).statusCode, 200)
  t.equal((await form(loginPath(parts), { ...ADA, username: 'x'.repeat(255) })).statusCode, 403)
  t.equal((await form(loginPath(parts), { ...ADA, username: 'x'.repeat(500) })).statusCode, 400)
  const asked = { state: 'x'.repeat(4097), responseType: 'code' }
  t.throws(() => useCases.judgeRequest(client, { ...NOTHING, ...asked }), { code: 'invalid_request' })
})

const NOTHING = {
  clientId: undefined,
  redirectUri: undefined,
  responseMode: undefined,
  responseType: undefined,
  state: undefined,
  scope: undefined,
  codeChallenge: undefined,
  codeChallengeMethod: undefined
}

t.test('code, state and iss are added to whatever query the registered URI has', async t => {
  const uris = [
    ['https://app.example/cb', '?code='],
    ['https://app.example/cb?tenant=a%26b+c&code=x', '&code='],
    ['https://app.example', '?code='],
    ['com.example.app:/cb', '?code=']
  ] as const
  for (const [uri, next] of uris) {
    const { form } = await withRedirect(uri)
    const { location } = (await form('/auth/code', { ...REQUEST, ...ADA, client_id: 'own' })).headers
    t.ok(String(location).startsWith(uri + next), String(location))
    const added = new URLSearchParams(String(location).slice(uri.length + 1))
    t.strictSame([...added.keys()], ['code', 'state', 'iss'])
    t.equal(added.get('iss'), PUBLIC_URL)
  }
})

t.test('the form holds every query parameter, unknown ones too, and so does the form after a failed login', async t => {
  const { ask, form } = await createInhabited()
  const parameters = { scope: 'a', tenant: '"<é>', ...PKCE, __proto__x: '1' }
  const fields = Object.entries({ ...REQUEST, ...parameters })
  const failed = await form('/auth/code', { ...REQUEST, ...parameters, username: 'ada', password: 'wrong' })
  const fromLink = await form(loginPath(parameters), { username: 'ada', password: 'wrong' })
  for (const page of [await ask(loginPath(parameters)), failed, fromLink]) {
    for (const [name, value] of fields) {
      const escaped = value.replace('"', '&quot;').replace('<', '&lt;').replace('>', '&gt;')
      t.match(page.payload, `<input type="hidden" name="${name}" value="${escaped}">`)
    }
  }
  const empty = loginPath({ ...parameters, scope: '', foo: '' })
  for (const page of [await ask(empty), await form(empty, { foo: '', username: 'ada', password: 'wrong' })]) {
    for (const name of ['scope', 'foo']) t.match(page.payload, `<input type="hidden" name="${name}" value="">`)
    t.match(page.payload, /action="[^"]*&amp;foo=[&"]/)
  }
})

t.test('an empty parameter of the link counts as absent', async t => {
  const { ask, form } = await createInhabited()
  const empty = { scope: '', code_challenge: '', code_challenge_method: '', response_mode: '', redirect_uri: '' }
  t.equal((await ask(loginPath(empty))).statusCode, 200)
  t.equal((await form(loginPath(empty), { ...ADA, scope: 'a' })).statusCode, 302)
  t.has(parametersOf((await ask(loginPath({ state: '' }))).headers.location), { error: 'invalid_request' })
  t.equal((await ask(loginPath({ client_id: '' }))).statusCode, 400)
})

t.test('a request is judged once: what was found to be in order is what the login is for', async t => {
  const { useCases, ...world } = await createInhabited()
  const calls: string[] = []
  const counted = {
    ...useCases,
    resolveRedirect: (request: AuthorizationRequest) => {
      calls.push('resolveRedirect')
      return useCases.resolveRedirect(request)
    },
    judgeRequest: (client: Client, request: AuthorizationRequest) => {
      calls.push('judgeRequest')
      return useCases.judgeRequest(client, request)
    }
  }
  const service = createService({ ...world, useCases: counted })
  t.equal((await service.form(loginPath({ scope: 'a', ...PKCE }), ADA)).statusCode, 302)
  t.strictSame(calls, ['resolveRedirect', 'judgeRequest'])
})
