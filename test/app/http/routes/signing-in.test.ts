import t from 'tap'
import { DomainError } from '../../../../core/index.js'
import {
  createInhabited,
  createService,
  type Headers,
  loginPath,
  PUBLIC_URL,
  parametersOf,
  REQUEST
} from '../../../support/service.js'
import { ADA } from '../../../support/world.js'

t.test('a parameter is read from the form or else from the link, and two different values are a 400 page', async t => {
  const { form } = await createInhabited()
  const { state: _, ...rest } = REQUEST
  const split = await form('/auth/code?state=here', { ...rest, ...ADA })
  t.equal(parametersOf(split.headers.location).state, 'here')
  t.equal((await form(loginPath(), { ...REQUEST, ...ADA })).statusCode, 302, 'both have the same values')
  t.equal(
    (await form(loginPath({ tenant: 'x' }), { ...REQUEST, ...ADA, tenant: '' })).statusCode,
    302,
    'an empty value counts as absent'
  )
  for (const [name, value] of Object.entries({
    client_id: 'spa',
    state: 'y',
    scope: 'b',
    tenant: 'y',
    response_type: 'x'
  })) {
    const answer = await form(loginPath({ scope: 'a', tenant: 'x' }), { ...ADA, [name]: value })
    t.strictSame([answer.statusCode, answer.headers.location], [400, undefined], name)
  }
})

t.test('username and password are read from the form alone', async t => {
  const { form, ask } = await createInhabited()
  t.equal((await form(loginPath(ADA), {})).statusCode, 403)
  t.equal((await form(loginPath({ username: ADA.username }), { password: ADA.password })).statusCode, 403)
  t.equal((await form(loginPath({ password: ADA.password }), { username: ADA.username })).statusCode, 403)
  t.equal((await form(loginPath({ username: 'mallory', password: 'x' }), ADA)).statusCode, 302)
  t.notMatch((await ask(loginPath({ username: 'mallory' }))).payload, 'mallory')
})

t.test('wire 6.8: a username of more than 255 characters is not shown again', async t => {
  const { form } = await createInhabited()
  const shown = async (username: string): Promise<string | undefined> => {
    const answer = await form('/auth/code', { ...REQUEST, username, password: 'x' })
    t.equal(answer.statusCode, 403)
    return / name="username" value="([^"]*)"/.exec(answer.payload)?.[1]
  }
  t.equal(await shown('🦸'.repeat(255)), '🦸'.repeat(255))
  t.equal(await shown('🦸'.repeat(256)), '')
  t.equal(await shown('"'.repeat(5000)), '')
})

t.test('a failed login is 403, keeps the username and gives one message for every cause', async t => {
  const { form } = await createInhabited()
  const message = '<p role="alert" id="message">The username or the password is wrong.</p>'
  for (const [username, password] of [
    ['ada', 'wrong'],
    ['ada', ''],
    ['', ''],
    ['nobody', ADA.password],
    ['"><script>', 'x'],
    ['x'.repeat(255), 'x'],
    ['ada', 'x'.repeat(2000)]
  ] as const) {
    const answer = await form('/auth/code', { ...REQUEST, username, password })
    t.strictSame([answer.statusCode, answer.headers.location], [403, undefined])
    t.match(answer.payload, message)
    t.match(
      answer.payload,
      `name="username" value="${username.replace('"', '&quot;').replaceAll('>', '&gt;').replace('<', '&lt;')}"`
    )
    t.notMatch(answer.payload, /name="password"[^>]* value=/)
  }
})

t.test('a throttled login is 429 with Retry-After and the page', async t => {
  const { form } = await createInhabited({ policy: { loginAttempts: 1, loginWindowSeconds: 50 } })
  await form('/auth/code', { ...REQUEST, ...ADA, password: 'wrong' })
  const answer = await form('/auth/code', { ...REQUEST, ...ADA })
  t.strictSame([answer.statusCode, answer.headers['retry-after'], answer.headers.location], [429, '50', undefined])
  t.match(answer.payload, /There were too many attempts.*name="username" value="ada"/s)
})

t.test(
  'a POST is served only when its headers say that it comes from this site, or do not say where it comes from',
  async t => {
    const { form } = await createInhabited()
    const status = async (headers: Headers) => (await form('/auth/code', { ...REQUEST, ...ADA }, headers)).statusCode
    const origin = new URL(PUBLIC_URL).origin
    t.equal(await status({}), 302)
    for (const site of ['same-origin', 'none']) {
      t.equal(await status({ 'sec-fetch-site': site }), 302, site)
      t.equal(await status({ 'sec-fetch-site': site, origin: 'https://evil.example' }), 302, 'Sec-Fetch-Site decides')
    }
    for (const site of ['cross-site', 'same-site', 'Same-Origin', '']) {
      t.equal(await status({ 'sec-fetch-site': site }), 403, site)
      t.equal(await status({ 'sec-fetch-site': site, origin }), 403, site)
    }
    for (const own of ['null', origin]) t.equal(await status({ origin: own }), 302, own)
    for (const other of ['https://evil.example', `${origin}.evil.example`, 'http://heroes.example', '', `${origin}/`]) {
      t.equal(await status({ origin: other }), 403, other)
    }
    const refused = await form('/auth/code', 'a=1&a=2', { 'sec-fetch-site': 'cross-site' })
    t.equal(refused.statusCode, 403, 'the refusal comes before the body is looked at')
    t.match(refused.payload, 'This sign-in was refused')
  }
)

t.test('this site is the origin of PUBLIC_URL, whatever its path', async t => {
  const { form } = createService({ publicUrl: () => 'https://example.com/heroes' })
  const headers = { origin: 'https://example.com' }
  t.equal((await form('/auth/code', REQUEST, headers)).statusCode, 400)
  t.equal((await form('/auth/code', REQUEST, { origin: PUBLIC_URL })).statusCode, 403)
})

t.test('every page has its headers, and sets no cookie', async t => {
  const { ask, form } = await createInhabited({ bodyLimit: 1000 })
  const pages = [
    await ask(loginPath()),
    await ask('/auth/code'),
    await form('/auth/code', { ...REQUEST, ...ADA, password: 'wrong' }),
    await form('/auth/code', { ...REQUEST, ...ADA }, { 'sec-fetch-site': 'cross-site' }),
    await form('/auth/code', 'x'.repeat(1001)),
    await ask('/auth/code', { method: 'PUT' })
  ]
  t.strictSame(
    pages.map(page => page.statusCode),
    [200, 400, 403, 403, 413, 405]
  )
  for (const { headers } of pages) {
    t.match(headers, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'SAMEORIGIN',
      'x-xss-protection': '1; mode=block'
    })
    const policy = String(headers['content-security-policy'])
    t.match(policy, /^default-src 'none';style-src 'sha256-[^']+';frame-ancestors 'none';base-uri 'none'$/)
    t.notOk(headers['set-cookie'])
  }
})

t.test('a failure of the service is a page and not told to the client by a redirect', async t => {
  const { useCases } = await createInhabited()
  const broken = {
    ...useCases,
    judgeRequest: () => {
      throw new Error('inside')
    }
  }
  const { ask } = createService({ useCases: broken })
  const answer = await ask(loginPath())
  t.strictSame([answer.statusCode, answer.headers.location], [500, undefined])
  for (const [fault, status] of [
    [new DomainError('unavailable', 'the database is away'), 503],
    [new Error('inside'), 500]
  ] as const) {
    const { form } = createService({ useCases: { ...useCases, authorize: () => Promise.reject(fault) } })
    const sent = await form('/auth/code', { ...REQUEST, ...ADA })
    t.strictSame([sent.statusCode, sent.headers.location], [status, undefined])
    t.notMatch(sent.payload, 'inside')
  }
})
