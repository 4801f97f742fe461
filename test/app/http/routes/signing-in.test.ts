import t from 'tap'
import { DomainError } from '../../../../core/index.js'
import { recordLog } from '../../../support/recorded-log.js'
import {
  createInhabited,
  createService,
  type Headers,
  loginPath,
  PUBLIC_URL,
  parametersOf,
  REQUEST
} from '../../../support/service.js'
import { ADA, addClient } from '../../../support/world.js'

t.test(
  'wire 6.6: a parameter is read from the form or else from the link, and two different values are a 400 page',
  async t => {
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
  }
)

t.test('wire 6.6: username and password are read from the form alone', async t => {
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

t.test(
  'wire 6.12: Cancel tells the client access_denied, and counts no attempt, whatever the person typed',
  async t => {
    const { form, ports } = await createInhabited({ policy: { loginAttempts: 1 } })
    const typed = [{}, { username: '', password: '' }, ADA, { ...ADA, password: 'wrong' }]
    for (const fields of [...typed, ...typed]) {
      const answer = await form('/auth/code', { ...REQUEST, ...fields, cancel: 'yes' })
      t.equal(answer.statusCode, 302)
      t.strictSame(parametersOf(answer.headers.location), {
        error: 'access_denied',
        state: REQUEST.state,
        iss: PUBLIC_URL
      })
      t.has(answer.headers, { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
    }
    t.equal(await ports.attempts.removeExpired(new Date(Date.UTC(9999, 0)), 1000), 0, 'no attempt is counted')
    await form('/auth/code', { ...REQUEST, ...ADA, password: 'wrong' })
    t.equal((await form('/auth/code', { ...REQUEST, ...ADA })).statusCode, 429)
    t.equal((await form('/auth/code', { ...REQUEST, cancel: 'yes' })).statusCode, 302, 'a throttled person can cancel')
  }
)

t.test('a cancelled request is checked like any other', async t => {
  const { form } = await createInhabited()
  const cancel = 'yes'
  t.equal((await form('/auth/code', { ...REQUEST, client_id: 'nobody', cancel })).statusCode, 400)
  t.equal((await form('/auth/code', { ...REQUEST, redirect_uri: 'https://evil.example', cancel })).statusCode, 400)
  t.equal((await form('/auth/code', { ...REQUEST, cancel }, { 'sec-fetch-site': 'cross-site' })).statusCode, 403)
  const fault = await form('/auth/code', { ...REQUEST, scope: 'x', cancel })
  t.has(parametersOf(fault.headers.location), { error: 'invalid_scope' })
})

t.test('a parameter of the request that is called cancel cancels nothing', async t => {
  const { ask, form } = await createInhabited()
  const page = await ask(loginPath({ cancel: 'x' }))
  t.notMatch(page.payload, /type="hidden" name="cancel"/)
  t.match(parametersOf((await form(loginPath({ cancel: 'x' }), ADA)).headers.location), { code: String })
  const cancelled = await form(loginPath({ cancel: 'x' }), { cancel: 'yes' })
  t.has(parametersOf(cancelled.headers.location), { error: 'access_denied' })
})

t.test('wire 6.13: the address of the form shows the form again, after every refusal as well', async t => {
  const { ask, form } = await createInhabited({ policy: { loginAttempts: 1 } })
  const path = loginPath({ scope: 'a b', tenant: 'é "&<\r\n+%', state: 'x'.repeat(4096) })
  const first = await ask(path)
  const action = (page: string): string => {
    const reference = /<form method="post" action="([^"]*)">/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const { pathname, search } = new URL(reference, 'http://x/auth/code?y')
    return pathname + search
  }
  const refused = await form(action(first.payload), { ...ADA, password: 'wrong' })
  const throttled = await form(action(refused.payload), ADA)
  t.strictSame([refused.statusCode, throttled.statusCode], [403, 429])
  for (const { payload } of [first, refused, throttled]) {
    const again = await ask(action(payload))
    t.equal(again.statusCode, 200)
    t.equal(again.payload, first.payload)
  }
})

t.test('wire 6.14: the page is in the language that the browser likes best', async t => {
  const service = await createInhabited({ policy: { loginAttempts: 1 }, callbackPage: true })
  const { ask, form } = service
  for (const [accepted, language, button, error] of [
    ['de-AT,de;q=0.9,en;q=0.8', 'de', 'Anmelden', 'Fehler 4'],
    ['fr', 'fr', 'Se connecter', 'erreur 4'],
    ['es-419', 'es', 'Iniciar sesión', 'error 4'],
    ['it', 'en', 'Sign in', 'error 4']
  ] as const) {
    const headers = { 'accept-language': accepted }
    const wrong = { ...REQUEST, username: language, password: 'wrong' }
    const pages = [
      await ask(loginPath(), { headers }),
      await form('/auth/code', wrong, headers),
      await form('/auth/code', wrong, headers),
      await ask('/auth/code', { headers }),
      await ask('/auth/code', { method: 'PUT', headers }),
      await ask('/callback?error=x', { headers }),
      await ask('/callback', { headers }),
      await ask(loginPath(), { headers: { ...headers, 'accept-encoding': 'gzip' } })
    ]
    t.strictSame(
      pages.map(({ statusCode }) => statusCode),
      [200, 403, 429, 400, 405, 200, 400, 200]
    )
    for (const page of pages) {
      t.has(page.headers, { 'content-language': language, vary: 'accept-language, accept-encoding' })
      if (!page.headers['content-encoding']) t.match(page.payload, `<html lang="${language}">`)
    }
    for (const page of pages.slice(0, 3)) t.match(page.payload, `<button>${button}</button>`)
    for (const page of pages.slice(3, 5)) t.match(page.payload, error)
  }
})

t.test('wire 6.15: scopes are told in the words of the operator, and others as they are', async t => {
  const { ask, form, useCases } = await createInhabited()
  const before = await ask(loginPath({ scope: 'a b' }))
  t.match(before.payload, '<li><code>a</code></li>\n<li><code>b</code></li>')
  await useCases.setScopeText({ name: 'a', text: 'See "all" the <heroes>' })
  await useCases.setScopeText({ name: 'c', text: 'nothing that is asked for' })
  const words = '<li><bdi>See &quot;all&quot; the &lt;heroes&gt;</bdi><code>a</code></li>\n<li><code>b</code></li>'
  const failed = await form('/auth/code', { ...REQUEST, scope: 'a b', username: 'ada', password: 'wrong' })
  for (const { payload } of [await ask(loginPath({ scope: 'a b' })), failed]) {
    t.match(payload, words)
    t.notMatch(payload, 'nothing that')
  }
})

t.test('wire 6.16: the page names the service and says where it leads and where to get an account', async t => {
  const signupUrl = 'https://shop.example/join'
  const resetUrl = 'https://shop.example/forgotten'
  const { ask, useCases } = await createInhabited({ serviceName: 'Hero & Co', signupUrl, resetUrl })
  const page = (await ask(loginPath())).payload
  t.match(page, '<title>Sign in to Hero &amp; Co</title>')
  t.match(page, `<a href="${signupUrl}">`)
  t.match(page, `<a href="${resetUrl}">`)
  t.match(page, 'You will return to <strong><bdi>app.example</bdi></strong>.')
  t.match((await ask('/auth/code')).payload, 'Hero &amp; Co, error 400')
  await useCases.changeClient('app', { redirectUris: ['http://127.0.0.1/callback'] })
  const redirect_uri = 'http://127.0.0.1:4711/callback'
  t.match((await ask(loginPath({ redirect_uri }))).payload, '<bdi>127.0.0.1:4711</bdi>', 'the port of the request')
})

t.test('wire 6.17: an error page has the id of the request in the log', async t => {
  const { log, take } = recordLog('info')
  const { useCases } = await createInhabited()
  const down = () => Promise.reject(new DomainError('unavailable', 'the database is away'))
  const { http } = createService({ useCases: { ...useCases, authorize: down }, log })
  const url = await http.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => http.close())
  const shown: (string | undefined)[] = []
  for (const path of ['/auth/code', loginPath({ client_id: 'nobody' })]) {
    shown.push(/<span class="id">([^<]+)</.exec(await (await fetch(url + path)).text())?.[1])
  }
  const body = new URLSearchParams({ ...REQUEST, ...ADA })
  shown.push(
    /<span class="id">([^<]+)</.exec(await (await fetch(`${url}/auth/code`, { method: 'POST', body })).text())?.[1]
  )
  const lines = take()
  t.strictSame(
    lines.filter(({ path }) => path === '/auth/code').map(({ reqId }) => reqId),
    shown
  )
  t.equal(lines.find(({ msg }) => msg === 'a request failed')?.reqId, shown[2])
})

t.test('a person reads why a link does not work, and the author of the application in which way', async t => {
  const service = await createInhabited()
  await addClient(service, 'bare', { redirectUris: [] })
  await addClient(service, 'several', { redirectUris: ['https://a.example/', 'https://b.example/'] })
  const pages: [request: Parameters<typeof loginPath>[0], words: string][] = [
    [{ client_id: 'nobody' }, 'The link names an application that is not known here.'],
    [{ client_id: 'several' }, 'The application has several addresses to return to, and the link names none of them.'],
    [{ client_id: 'bare' }, 'The application has registered no address to return to.'],
    [
      { redirect_uri: 'https://x.example' },
      'The link leads back to an address that the application has not registered.'
    ],
    [{ state: 'x'.repeat(4097) }, 'The link, or what was sent with it, is too long.'],
    [{ x: 'x'.repeat(16_385) }, 'The link, or what was sent with it, is too long.'],
    [{ x: 'x'.repeat(9000), y: 'y'.repeat(9000) }, 'The link, or what was sent with it, is too long.']
  ]
  for (const [request, words] of pages) {
    const { payload } = await service.ask(loginPath(request))
    t.match(payload, `<p>${words}</p>`)
    t.match(payload, /For developers: <span lang="en">[^<]+<\/span>/)
  }
  t.match((await service.form(loginPath({ x: '1' }), { ...ADA, x: '2' })).payload, 'contradict each other')
  t.match((await service.ask(`${loginPath()}&state=2`)).payload, 'Part of the link is missing, is unreadable or')
  const many = Array.from({ length: 1001 }, (_, number) => `x${number}=1`).join('&')
  t.match((await service.ask(`/auth/code?${many}`)).payload, 'is too long')
})

t.test('a throttled login is 429 with Retry-After and the page', async t => {
  const { form } = await createInhabited({ policy: { loginAttempts: 1, loginWindowSeconds: 50 } })
  await form('/auth/code', { ...REQUEST, ...ADA, password: 'wrong' })
  const before = Date.now()
  const answer = await form('/auth/code', { ...REQUEST, ...ADA })
  const after = Date.now()
  t.strictSame([answer.statusCode, answer.headers['retry-after'], answer.headers.location], [429, '50', undefined])
  t.match(answer.payload, /There were too many attempts.*name="username" value="ada"/s)
  const [, until = '', shown = ''] = /<time datetime="([^"]+)">(\d\d:\d\d) UTC</.exec(answer.payload) ?? []
  t.equal(shown, until.slice(11, 16))
  t.ok(Date.parse(until) >= before + 50_000 && Date.parse(until) <= after + 110_000, 'rounded up to a minute')
})

t.test(
  'wire 6.9: a POST is served only when its headers say that it comes from this site, or do not say where it comes from',
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

t.test('wire 6.10: every page has its headers, and sets no cookie', async t => {
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
    t.has(headers, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
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
    [new DomainError('unavailable', 'the database is away', { retryAfterSeconds: 1 }), 503],
    [new Error('inside'), 500]
  ] as const) {
    const { form } = createService({ useCases: { ...useCases, authorize: () => Promise.reject(fault) } })
    const sent = await form('/auth/code', { ...REQUEST, ...ADA })
    t.strictSame([sent.statusCode, sent.headers.location], [status, undefined])
    t.notMatch(sent.payload, 'inside')
  }
})
