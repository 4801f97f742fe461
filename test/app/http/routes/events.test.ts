import t, { type Test } from 'tap'
import { createLog, createSecurityLog } from '../../../../app/serve/log.js'
import { createUseCases } from '../../../../core/index.js'
import { REQUEST_EVENTS } from '../../../support/recorded-log.js'
import { basic, challengeOf, createInhabited, type Fields, type Inhabited, REQUEST } from '../../../support/service.js'
import {
  ADA,
  addClient,
  blankRequest,
  createWorld,
  SECRET,
  type World,
  type WorldOptions
} from '../../../support/world.js'

type Line = Readonly<Record<string, unknown>>

interface Logged extends Inhabited {
  /** Every line of the log, at level debug, as text. */
  readonly log: readonly string[]
  /** The events since the last call, without what pino adds to each line. */
  events(): readonly Line[]
  /** Sends a form, and returns its status with the events that it brought. */
  send(url: string, fields: Fields, headers?: Record<string, string>): Promise<Sent>
}

interface Sent {
  readonly status: number
  readonly body: Readonly<Record<string, string>>
  readonly location: string
  readonly events: readonly Line[]
}

const INFO = 30
const WARN = 40
const FROM = '192.0.2.1'

const createLogged = async (options: WorldOptions = {}): Promise<Logged> => {
  const log: string[] = []
  const output = createLog('debug', { write: line => log.push(line) })
  const service = await createInhabited({ ...options, log: output, events: createSecurityLog(output.logger) })
  let read = 0
  const events = () => {
    const lines = log.slice(read).map((line): Line => JSON.parse(line))
    read = log.length
    return lines.filter(({ event }) => event !== undefined).map(({ time, pid, hostname, ...event }) => event)
  }
  events()
  return {
    ...service,
    log,
    events,
    async send(url, fields, headers = basic('app')) {
      const answer = await service.form(url, fields, headers)
      const { statusCode: status, headers: answered, payload } = answer
      const body = payload.startsWith('{') ? answer.json() : {}
      return { status, body, location: String(answered.location), events: events() }
    }
  }
}

/** What each event of a request has, but for what belongs to the event alone. */
const REQUESTED = { address: FROM, reqId: /^req-[\w-]+$/ }
const ABOUT_ADA = { ...REQUESTED, client: 'app', user: 1, grant: /^[\w-]{36}$/ }

/** Compares events key by key: none may be missing, and none may be there that is not expected. */
const same = (t: Test, found: readonly Line[], expected: readonly Line[]): void => {
  t.match(found, expected)
  t.strictSame(
    found.map(event => Object.keys(event).sort()),
    expected.map(event => Object.keys(event).sort())
  )
}

t.test('a refused bearer token is told with the address and the request that brought it', async t => {
  const { ask, events } = await createLogged()
  const { statusCode } = await ask('/heroes/1', { headers: { authorization: `Bearer ${'a'.repeat(32)}` }, from: FROM })
  t.equal(statusCode, 401)
  t.match(events(), [{ level: INFO, event: 'bearer.refused', reason: 'unknown', address: FROM, reqId: /^req-/ }])
})

t.test('a login by password is told, and the token that it got', async t => {
  const { send } = await createLogged()
  const { status, events } = await send('/auth/token', { grant_type: 'password', ...ADA })
  t.equal(status, 200)
  same(t, events, [
    { level: INFO, event: 'login.succeeded', ...ABOUT_ADA },
    { level: INFO, event: 'token.issued', reason: 'password', ...ABOUT_ADA }
  ])
  t.equal(events[0]?.grant, events[1]?.grant)
})

t.test('a failed login is told with its reason, and with the user only where there is one', async t => {
  const { send } = await createLogged()
  const failed = { level: INFO, event: 'login.failed', client: 'app', ...REQUESTED }
  for (const [sent, expected] of [
    [
      { ...ADA, password: 'wrong' },
      { ...failed, reason: 'wrong_password', user: 1 }
    ],
    [
      { ...ADA, username: 'nobody' },
      { ...failed, reason: 'unknown_user' }
    ],
    [
      { ...ADA, username: 'x'.repeat(256) },
      { ...failed, reason: 'impossible' }
    ]
  ] as const) {
    const token = await send('/auth/token', { grant_type: 'password', ...sent })
    t.equal(token.status, 400)
    same(t, token.events, [expected])
    const page = await send('/auth/code', { ...REQUEST, ...sent }, {})
    t.equal(page.status, 403)
    same(t, page.events, [expected])
  }
})

t.test('a login whose user is ended meanwhile has failed', async t => {
  const told: unknown[] = []
  const world = createWorld({ events: { emit: event => told.push(event) } })
  const { passwords } = world.ports
  const useCases = createUseCases(
    {
      ...world.ports,
      passwords: {
        ...passwords,
        async verify(...given) {
          const verdict = await passwords.verify(...given)
          await world.useCases.revokeUser(ADA.username)
          return verdict
        }
      }
    },
    world.policy
  )
  const client = await addClient(world, 'app')
  await useCases.registerUser(ADA)
  told.splice(0)
  const attempt = { ...ADA, address: FROM }
  await t.rejects(useCases.issueToken(client, { ...blankRequest, grantType: 'password', ...attempt }), {
    code: 'invalid_grant'
  })
  const authorization = { client, scopes: [], redirectUri: undefined, challenge: undefined }
  await t.rejects(useCases.authorize(authorization, attempt), { code: 'access_denied' })
  const ended = { event: 'login.failed', reason: 'ended', client: 'app', user: 1, address: FROM, requestId: undefined }
  t.strictSame(told, [{ event: 'user.revoked', user: 1 }, ended, { event: 'user.revoked', user: 1 }, ended])
})

t.test('a login that is throttled is a warning, and says which count was full', async t => {
  const { send, events, form } = await createLogged({ policy: { loginAttempts: 1 } })
  const wrong = { grant_type: 'password', ...ADA, password: 'wrong' }
  const throttled = { level: WARN, event: 'login.throttled', client: 'app', ...REQUESTED }
  await send('/auth/token', wrong)
  for (const [url, fields] of [
    ['/auth/token', { grant_type: 'password', ...ADA }],
    ['/auth/code', { ...REQUEST, ...ADA }]
  ] as const) {
    const sent = await send(url, fields, url === '/auth/token' ? basic('app') : {})
    t.equal(sent.status, 429)
    same(t, sent.events, [{ ...throttled, reason: 'username_and_address' }])
  }
  for (let i = 0; i < 9; i += 1) await form('/auth/token', wrong, basic('app'), `198.51.100.${i}`)
  events()
  await form('/auth/token', wrong, basic('app'), '203.0.113.1')
  same(t, events(), [{ ...throttled, address: '203.0.113.1', reason: 'username' }])
  for (let i = 0; i < 9; i += 1) await send('/auth/token', { ...wrong, username: `nobody-${i}` })
  same(t, (await send('/auth/token', { ...wrong, username: 'somebody' })).events, [{ ...throttled, reason: 'address' }])
})

t.test('a registration is told with the id of the user alone', async t => {
  const { json, events } = await createLogged()
  await json('POST', '/register', { username: 'grace', password: 'hopper' })
  same(t, events(), [{ level: INFO, event: 'user.registered', user: 2, address: '127.0.0.1', reqId: /^req-/ }])
  await json('POST', '/register', { username: 'grace', password: 'hopper' })
  t.strictSame(events(), [], 'a refused one is no event')
})

t.test('a code, its token, and its second use, which is a theft', async t => {
  const { send } = await createLogged()
  const page = await send('/auth/code', { ...REQUEST, ...ADA }, {})
  same(t, page.events, [{ level: INFO, event: 'login.succeeded', ...ABOUT_ADA }])
  const code = new URL(page.location).searchParams.get('code') ?? ''
  const exchange = { grant_type: 'authorization_code', code }
  const issued = await send('/auth/token', exchange)
  same(t, issued.events, [{ level: INFO, event: 'token.issued', reason: 'authorization_code', ...ABOUT_ADA }])
  const again = await send('/auth/token', exchange)
  t.equal(again.status, 400)
  const refused = { level: INFO, event: 'token.refused', ...ABOUT_ADA }
  same(t, again.events, [
    { level: WARN, event: 'grant.stolen', reason: 'code', ...ABOUT_ADA },
    { ...refused, reason: 'used' }
  ])
  t.equal(again.events[0]?.grant, page.events[0]?.grant)
  same(t, (await send('/auth/token', exchange)).events, [{ ...refused, reason: 'ended' }])
})

t.test('a token that a client gets for itself is told without a user', async t => {
  const service = await createLogged()
  await addClient(service, 'robot', { grantTypes: ['client_credentials'] })
  service.events()
  const { events } = await service.send('/auth/token', { grant_type: 'client_credentials' }, basic('robot'))
  const issued = { level: INFO, event: 'token.issued', reason: 'client_credentials', client: 'robot', ...REQUESTED }
  same(t, events, [{ ...issued, grant: /^[0-9a-f-]{36}$/ }])
})

t.test('a refresh, its repeat, and its repeat after the grace, which is a theft', async t => {
  const { send, clock, login, events } = await createLogged()
  const { refresh_token } = await login()
  const [{ grant } = {}] = events()
  const refresh = { grant_type: 'refresh_token', refresh_token }
  same(t, (await send('/auth/token', refresh)).events, [{ level: INFO, event: 'token.refreshed', ...ABOUT_ADA, grant }])
  same(t, (await send('/auth/token', refresh)).events, [
    { level: INFO, event: 'refresh.repeated', ...ABOUT_ADA, grant }
  ])
  clock.advance(60)
  same(t, (await send('/auth/token', refresh)).events, [
    { level: WARN, event: 'grant.stolen', reason: 'refresh_token', ...ABOUT_ADA, grant },
    { level: INFO, event: 'token.refused', reason: 'used', ...ABOUT_ADA, grant }
  ])
  same(t, (await send('/auth/token', refresh)).events, [
    { level: INFO, event: 'token.refused', reason: 'ended', ...ABOUT_ADA, grant }
  ])
})

t.test("a refresh token's revocation ends its grant, and an access token's ends none", async t => {
  const { send, login, events } = await createLogged()
  const { access_token, refresh_token } = await login()
  const [{ grant } = {}] = events()
  t.strictSame((await send('/auth/revoke', { token: access_token })).events, [])
  same(t, (await send('/auth/revoke', { token: refresh_token })).events, [
    { level: INFO, event: 'grant.revoked', reason: 'client', ...ABOUT_ADA, grant }
  ])
  t.strictSame((await send('/auth/revoke', { token: refresh_token })).events, [])
})

t.test('a client that cannot be authenticated is told, by its id only where there is such a client', async t => {
  const { send } = await createLogged()
  const failed = { level: INFO, event: 'client.authentication_failed', ...REQUESTED }
  for (const url of ['/auth/token', '/auth/revoke', '/auth/introspect']) {
    for (const [headers, expected] of [
      [basic('app', 'a wrong secret'), { ...failed, reason: 'wrong_secret', client: 'app' }],
      [basic('spa', 'a public client has none'), { ...failed, reason: 'wrong_secret', client: 'spa' }],
      [basic('stranger'), { ...failed, reason: 'unknown_client' }],
      [basic('no id at all!'), { ...failed, reason: 'unknown_client' }],
      [{ authorization: 'Basic malformed' }, { ...failed, reason: 'no_credentials' }],
      [{}, { ...failed, reason: 'no_credentials' }]
    ] as const) {
      const { status, events } = await send(url, 'grant_type=password', headers)
      t.equal(status, 401)
      same(t, events, [expected])
    }
  }
})

t.test('what an operator does is told with ids alone', async t => {
  const told: unknown[] = []
  const { useCases }: World = createWorld({ events: { emit: event => told.push(event) } })
  await addClient({ useCases }, 'app')
  await useCases.changeClient('app', { name: 'The App' })
  await useCases.rotateSecret('app', undefined, 0)
  await useCases.registerUser(ADA)
  await useCases.setPassword({ ...ADA, password: 'another horse' })
  await useCases.revokeUser(ADA.username)
  await useCases.removeUser(ADA.username)
  await useCases.removeClient('app')
  t.strictSame(told, [
    { event: 'client.added', client: 'app' },
    { event: 'client.changed', client: 'app' },
    { event: 'client.secret_rotated', client: 'app' },
    { event: 'user.added', user: 1 },
    { event: 'user.password_set', user: 1 },
    { event: 'user.revoked', user: 1 },
    { event: 'user.removed', user: 1 },
    { event: 'client.removed', client: 'app' }
  ])
})

t.test('a user who is removed while an operator changes it is unknown, and nothing is told', async t => {
  const told: unknown[] = []
  const world = createWorld({ events: { emit: event => told.push(event) } })
  const { users } = world.ports
  const gone = async () => false
  const ports = { ...world.ports, users: { ...users, setPassword: gone, revoke: gone, remove: gone } }
  const useCases = createUseCases(ports, world.policy)
  await useCases.registerUser(ADA)
  told.splice(0)
  await t.rejects(useCases.setPassword(ADA), { code: 'not_found' })
  await t.rejects(useCases.revokeUser(ADA.username), { code: 'not_found' })
  await t.rejects(useCases.removeUser(ADA.username), { code: 'not_found' })
  t.strictSame(told, [])
})

t.test('no password, token, code, secret or name that nobody has comes into the log', async t => {
  const { send, json, log, clock, useCases } = await createLogged({ policy: { loginAttempts: 3 } })
  const secrets = new Set([SECRET, ADA.password])
  /** Notes a text that must not be found, and returns it. */
  const secret = (text: string): string => {
    secrets.add(text)
    return text
  }
  const tokens = ({ body }: Sent): Readonly<Record<string, string>> => {
    for (const name of ['access_token', 'refresh_token']) if (body[name] !== undefined) secret(body[name])
    return body
  }
  await json('POST', '/register', { username: secret('grace'), password: secret('hopper-1906') })
  const verifier = secret('v'.repeat(43))
  const page = await send(
    `/auth/code?state=${secret('the-state')}`,
    {
      ...REQUEST,
      state: 'the-state',
      ...ADA,
      code_challenge: secret(challengeOf(verifier)),
      code_challenge_method: 'S256'
    },
    {}
  )
  const code = secret(new URL(page.location).searchParams.get('code') ?? '')
  t.match(code, /^\w{32}$/)
  const exchange = { grant_type: 'authorization_code', code, code_verifier: verifier }
  tokens(await send('/auth/token', exchange))
  await send('/auth/token', exchange)
  const { refresh_token = '', access_token = '' } = tokens(
    await send('/auth/token', { grant_type: 'password', ...ADA, scope: 'a' })
  )
  const refreshed = tokens(await send('/auth/token', { grant_type: 'refresh_token', refresh_token }))
  await send('/auth/token', { grant_type: 'refresh_token', refresh_token })
  await send('/auth/introspect', { token: access_token })
  await send('/auth/revoke', { token: refreshed.access_token })
  clock.advance(60)
  await send('/auth/token', { grant_type: 'refresh_token', refresh_token })
  const other = tokens(await send('/auth/token', { grant_type: 'password', ...ADA }))
  await send('/auth/revoke', { token: other.refresh_token })
  for (let i = 0; i < 5; i += 1) {
    const guess = { username: secret('a-name-that-nobody-has'), password: secret('a-guessed-password') }
    await send('/auth/token', { grant_type: 'password', ...guess })
    await send('/auth/code', { ...REQUEST, ...guess }, {})
  }
  await send('/auth/token', 'x=y', basic(secret('an-unknown-client'), secret('a-guessed-secret')))
  await send('/auth/token', 'x=y', basic('app', secret('another-guessed-secret')))
  await send('/auth/token', { client_id: 'app', client_secret: secret('a-third-guessed-secret') }, {})
  secret(await useCases.rotateSecret('app', undefined, 0))
  await useCases.setPassword({ ...ADA, password: secret('a-new-password') })

  const all = log.join('')
  const events = new Set(log.map(line => JSON.parse(line).event))
  for (const event of REQUEST_EVENTS) {
    t.ok(events.has(event), event)
  }
  t.ok(secrets.size > 20)
  for (const text of secrets) {
    t.notOk(all.includes(text), text)
    t.notOk(all.includes(encodeURIComponent(text)), text)
    t.notOk(all.includes(Buffer.from(text).toString('base64').replace(/=+$/, '')), text)
  }
})
