import t from 'tap'
import type { SecurityEvent } from '../../../../core/index.js'
import {
  basic,
  bearer,
  createInhabited,
  createService,
  loginPath,
  opens,
  PUBLIC_URL
} from '../../../support/service.js'
import { ADA, addClient, blankRequest, rejecting } from '../../../support/world.js'

/** Ada's account, with a client that has a name, and the page in English. */
const createAccount = async (options = {}) => {
  const events: SecurityEvent[] = []
  const service = await createInhabited({ events: { emit: event => events.push(event) }, ...options })
  await addClient(service, 'shop', { name: 'The <Shop>' })
  const post = (fields: Readonly<Record<string, string | undefined>> | string, headers = {}) =>
    service.form('/account', fields, headers)
  /** The ids of the logins that the page shows. */
  const ids = (page: string): string[] => [...page.matchAll(/name="end" value="([\w-]+)"/g)].map(([, id = '']) => id)
  return { ...service, events, post, ids }
}

const NEW = 'battery staple'

t.test('wire 8.1: the account page asks for username and password, in the manners of the login page', async t => {
  const { ask } = await createAccount()
  const answer = await ask('/account', { headers: { 'accept-language': 'de-AT' } })
  const login = await ask(loginPath(), { headers: { 'accept-language': 'de-AT' } })
  t.equal(answer.statusCode, 200)
  for (const name of ['content-security-policy', 'cache-control', 'referrer-policy', 'content-language', 'vary']) {
    t.equal(answer.headers[name], login.headers[name], name)
  }
  t.equal(answer.headers['set-cookie'], undefined)
  t.match(answer.payload, '<h1>Ihr Konto bei Heroes</h1>')
  t.match(answer.payload, '<form method="post" action="account">')
  t.match(answer.payload, ' name="username"')
  t.match(answer.payload, ' autocomplete="current-password"')
  t.match(login.payload, '<a href="../account">Ihre Anmeldungen und Ihr Passwort</a>')
})

t.test('wire 8.1: password managers are led to the account page', async t => {
  const { ask } = await createAccount()
  const { statusCode, headers } = await ask('/.well-known/change-password')
  t.strictSame([statusCode, headers.location], [302, `${PUBLIC_URL}/account`])
})

t.test('wire 8.2: username and password list the logins: application, since when, last refreshed, scopes', async t => {
  const { post, login, form, clock } = await createAccount()
  t.match((await post(ADA)).payload, 'You are not logged in anywhere.')
  const { refresh_token } = await login('a b', basic('shop'))
  clock.advance(3600)
  await form('/auth/token', { grant_type: 'refresh_token', refresh_token }, basic('shop'))
  await login(undefined, basic('app'))
  const answer = await post(ADA)
  t.equal(answer.statusCode, 200)
  t.match(answer.payload, '<legend>You are logged in 2 times</legend>')
  t.match(answer.payload, '<bdi>The &lt;Shop&gt;</bdi>')
  t.match(answer.payload, '<bdi>app</bdi>')
  t.match(answer.payload, 'Logged in <time datetime="2026-01-01T00:00:00.000Z">1 January 2026 at 00:00 UTC</time>')
  t.match(answer.payload, 'Last refreshed <time datetime="2026-01-01T01:00:00.000Z">')
  t.match(answer.payload, '<code>a</code>\n<code>b</code>')
  t.notMatch(answer.payload, 'id="done"', 'nothing was done')
})

t.test('wire 8.2: a person ends one login, several or all, and each end is effective at once', async t => {
  const { post, login, ask, ids, events } = await createAccount()
  const tokens = [await login(), await login(), await login(), await login()]
  const open = async () => Promise.all(tokens.map(({ access_token }) => opens({ ask }, access_token)))
  const [first, ...others] = ids((await post(ADA)).payload)
  events.length = 0
  const one = await post({ ...ADA, end: first })
  t.equal(one.statusCode, 200)
  t.match(one.payload, '<p role="status" id="done">1 login was ended.</p>')
  t.equal((await open()).filter(Boolean).length, 3)
  t.match(
    events.filter(({ event }) => event === 'grant.revoked'),
    [{ reason: 'account', client: 'app', address: '192.0.2.1' }]
  )
  const form = new URLSearchParams({ ...ADA })
  for (const id of others.slice(0, 2)) form.append('end', id)
  t.match((await post(form.toString())).payload, '2 logins were ended.')
  t.equal((await open()).filter(Boolean).length, 1)
  t.match((await post({ ...ADA, end: first })).payload, 'There was no login left to end.')
  t.match((await post({ ...ADA, end_all: 'yes' })).payload, '1 login was ended.')
  t.strictSame(await open(), [false, false, false, false])
})

t.test('wire 8.2: a new password ends every login and is the one that counts', async t => {
  const { post, login, ask, form, events } = await createAccount()
  const { access_token, refresh_token } = await login()
  events.length = 0
  const answer = await post({ ...ADA, new_password: NEW })
  t.equal(answer.statusCode, 200)
  t.match(answer.payload, 'Your password was changed, and every login was ended.')
  t.notMatch(answer.payload, NEW)
  t.match(events.at(-1), { event: 'user.password_changed', reason: 'account' })
  t.notOk(await opens({ ask }, access_token))
  const refreshed = await form('/auth/token', { grant_type: 'refresh_token', refresh_token }, basic('app'))
  t.match(refreshed.json(), { error: 'invalid_grant' })
  t.equal((await post(ADA)).statusCode, 403)
  t.equal((await post({ ...ADA, password: NEW })).statusCode, 200)
})

t.test('wire 8.3: what is missing, too short or wrong is the form again, which keeps what was wanted', async t => {
  const { post, login, ids } = await createAccount({ policy: { passwordMinLength: 10 } })
  await login()
  const [id] = ids((await post(ADA)).payload)
  for (const [fields, status, text] of [
    [{}, 400, 'Enter your username and your password.'],
    [{ username: 'ada' }, 400, 'Enter your username and your password.'],
    [{ password: 'x' }, 400, 'Enter your username and your password.'],
    [{ ...ADA, password: 'wrong' }, 403, 'The username or the password is wrong.'],
    [{ ...ADA, new_password: 'short' }, 400, 'The new password must have 10 to 1024 characters.']
  ] as const) {
    const answer = await post({ end: id, ...fields })
    t.equal(answer.statusCode, status)
    t.match(answer.payload, `<p role="alert" id="message">${text}</p>`)
    t.match(answer.payload, '<title>Error: Your account at Heroes</title>')
    t.match(answer.payload, `name="username" value="${'username' in fields ? 'ada' : ''}"`)
    t.strictSame(ids(answer.payload), [id], 'the login that was chosen is sent again')
    t.match(answer.payload, 'When you sign in, the login that you chose will end.')
    t.equal(answer.payload.includes('name="new_password"'), 'new_password' in fields)
    t.notMatch(answer.payload, /short|value="wrong"/)
  }
  const all = await post({ username: 'ada', password: 'wrong', end_all: 'yes' })
  t.match(all.payload, 'name="end_all" value="yes" checked')
  t.match((await post({ username: 'x'.repeat(256), password: 'x' })).payload, 'name="username" value=""')
})

t.test(
  'wire 8.3: the attempts count with those of the other logins, and beyond them the form says when to come back',
  async t => {
    const { post, form } = await createAccount({ policy: { loginAttempts: 1 } })
    t.equal((await post({ ...ADA, password: 'wrong' })).statusCode, 403)
    const answer = await post(ADA)
    t.equal(answer.statusCode, 429)
    t.match(answer.headers['retry-after'], /^\d+$/)
    t.match(answer.payload, /There were too many attempts to sign in\. Try again in \d+ minutes, after/)
    t.equal((await form('/auth/token', { grant_type: 'password', ...ADA }, basic('app'))).statusCode, 429)
  }
)

t.test('wire 8.3: a form that a browser sends for another site is refused, and nothing is done', async t => {
  const { post, login, ask } = await createAccount()
  const { access_token } = await login()
  for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }]) {
    t.equal((await post({ ...ADA, end_all: 'yes' }, headers)).statusCode, 403)
  }
  t.ok(await opens({ ask }, access_token))
})

t.test('a body of another type is 415, as everywhere outside /auth/, and the login page answers 400', async t => {
  const { ask } = await createAccount()
  const body = { method: 'POST', payload: '{}' }
  const wanted = 'send application/x-www-form-urlencoded'
  for (const [path, status] of [
    ['/account', 415],
    [loginPath(), 400]
  ] as const) {
    const typed = await ask(path, { ...body, headers: { 'content-type': 'application/json' } })
    const untyped = await ask(path, body)
    for (const { statusCode, headers, payload } of [typed, untyped]) {
      t.equal(statusCode, status, path)
      t.match(headers['content-type'], 'text/html')
      t.match(payload, wanted)
    }
  }
})

t.test('an error of the account page speaks of the account, and of no link or application', async t => {
  const { ask, post } = await createAccount({ bodyLimit: 2000 })
  const answers = [
    [400, await post('username=%zz')],
    [403, await post(ADA, { 'sec-fetch-site': 'cross-site' })],
    [405, await ask('/account', { method: 'DELETE' })],
    [413, await post('x'.repeat(2001))]
  ] as const
  for (const [status, { statusCode, payload }] of answers) {
    t.equal(statusCode, status)
    t.match(payload, '<p>Open the account page again, and start from there.</p>')
    t.notMatch(payload, /application|sign-in link/)
  }
  t.match(answers[0][1].payload, '<title>Error: This request was refused</title>')
  t.match(answers[1][1].payload, 'Another website sent this form.')
})

t.test('what the page would repeat beyond 16 kB is a 400 page that repeats nothing', async t => {
  const { post } = await createAccount()
  const id = 'x'.repeat(1000)
  const chosen = (count: number) => `${new URLSearchParams({ ...ADA, password: 'x' })}${`&end=${id}`.repeat(count)}`
  t.equal((await post(chosen(16))).statusCode, 403)
  const { statusCode, payload } = await post(chosen(17))
  t.equal(statusCode, 400)
  t.match(payload, 'longer than 16384 bytes together')
  t.notMatch(payload, id)
  const longName = new URLSearchParams({ username: '🦸'.repeat(255), password: 'x', end: id.repeat(16).slice(500) })
  t.equal((await post(longName.toString())).statusCode, 400, 'together with the username, in bytes')
  const spaces = '+'.repeat(9000)
  t.equal((await post(`${new URLSearchParams(ADA)}&end=${spaces}&end=${spaces}`)).statusCode, 400)
})

t.test('one parameter is the id of one login, whatever is in it', async t => {
  const { post } = await createAccount()
  const end = 'a b '.repeat(4000)
  const { payload } = await post({ ...ADA, password: 'wrong', end })
  t.equal(payload.split('name="end"').length - 1, 1)
  t.match(payload, `value="${end}"`)
})

t.test('an empty choice beside a chosen login is none', async t => {
  const { post, login, ids } = await createAccount()
  await login()
  await login()
  const [chosen] = ids((await post(ADA)).payload)
  const { payload } = await post(`${new URLSearchParams(ADA)}&end=&end=${chosen}`)
  t.match(payload, '<p role="status" id="done">1 login was ended.</p>')
  t.notMatch((await post(`${new URLSearchParams(ADA)}&end=&end=`)).payload, 'id="done"')
})

t.test('the newest hundred logins are shown, with the number of the others', async t => {
  const { post, useCases, ids } = await createAccount()
  const client = await useCases.changeClient('shop', {})
  const request = { ...blankRequest, grantType: 'password', ...ADA }
  for (let i = 0; i < 102; i++) await useCases.issueToken(client, request)
  const { payload } = await post(ADA)
  t.equal(ids(payload).length, 100)
  t.match(payload, '2 older logins are not shown.')
  t.match(payload, 'You are logged in 102 times')
})

t.test('an account page whose database is away is a page that says so', async t => {
  const { form } = createService({ stores: rejecting(() => new Error('away')) })
  const answer = await form('/account', ADA)
  t.ok(answer.statusCode >= 500)
  t.match(answer.headers['content-type'], 'text/html')
})

t.test('wire 4.1: GET /me tells whose access token it is, and refuses the token of a client alone', async t => {
  const { ask, opened, form, useCases } = await createAccount()
  const mine = await ask('/me', { headers: await opened() })
  t.strictSame([mine.statusCode, mine.json()], [200, { id: 1, username: 'ada' }])
  t.equal(mine.headers['cache-control'], 'private')
  for (const headers of [{}, bearer('x'), bearer('a'.repeat(32))]) {
    const refused = await ask('/me', { headers })
    t.equal(refused.statusCode, 401)
    t.equal(refused.headers['cache-control'], 'private')
    t.match(
      refused.headers['www-authenticate'],
      `resource_metadata="${PUBLIC_URL}/.well-known/oauth-protected-resource"`
    )
  }
  await addClient({ useCases }, 'robot', { grantTypes: ['client_credentials'] })
  const { access_token } = (await form('/auth/token', { grant_type: 'client_credentials' }, basic('robot'))).json()
  const own = await ask('/me', { headers: bearer(access_token) })
  t.strictSame(
    [own.statusCode, own.headers['www-authenticate']],
    [403, 'Bearer realm="heroes", error="insufficient_scope"']
  )
})

t.test('the box for all ends every login, whichever others are ticked', async t => {
  const { post, login, ask, ids } = await createAccount()
  const logins = [await login(), await login()]
  const [id = ''] = ids((await post(ADA)).payload)
  t.match((await post({ ...ADA, end: id, end_all: 'yes' })).payload, '2 logins were ended.')
  for (const { access_token } of logins) t.notOk(await opens({ ask }, access_token))
})
