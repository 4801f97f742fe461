import { createHash } from 'node:crypto'
import t from 'tap'
import { type Client, DomainError, type SecurityEvent, type TokenRequest } from '../../core/index.js'
import { ADA, addClient, blankRequest, CALLBACK, createWorld, type World } from '../support/world.js'

const VERIFIER = 'v'.repeat(43)
const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url')

interface Setting extends World {
  readonly client: Client
  readonly other: Client
  readonly events: SecurityEvent[]
  issue(form: Partial<TokenRequest>, client?: Client): Promise<{ readonly refreshToken: string | undefined }>
  /** A code for the scope `a`. */
  code(request?: { readonly redirectUri?: string; readonly codeChallenge?: string }): Promise<string>
  refreshToken(): Promise<string | undefined>
}

const createSetting = async (): Promise<Setting> => {
  const events: SecurityEvent[] = []
  const world = createWorld({ events: { emit: event => events.push(event) } })
  const { useCases } = world
  const client = await addClient(world, 'app')
  const other = await addClient(world, 'other')
  await useCases.registerUser(ADA)
  const issue: Setting['issue'] = async (form, by) =>
    useCases.issueToken(by ?? (await useCases.findClient('app')), { ...blankRequest, ...form })
  return {
    ...world,
    client,
    other,
    events,
    issue,
    code(request = {}) {
      const method = request.codeChallenge === undefined ? undefined : 'S256'
      const asked = { clientId: 'app', responseType: 'code', state: 'x', scope: 'a', ...request }
      const authorization = useCases.judgeRequest(client, { ...asked, codeChallengeMethod: method })
      return useCases.authorize(authorization, { ...ADA, address: '192.0.2.1' })
    },
    refreshToken: async () => (await issue({ grantType: 'password', ...ADA, scope: 'a' })).refreshToken
  }
}

const exchange = (code: string, form: Partial<TokenRequest> = {}) => ({
  grantType: 'authorization_code',
  code,
  ...form
})
const refresh = (refreshToken: string | undefined, form: Partial<TokenRequest> = {}) => ({
  grantType: 'refresh_token',
  refreshToken,
  ...form
})

/** What each refusal is told as: the reason of its event, and a word of the text for the client whose token it is. */
const REFUSALS: readonly (readonly [string, string, RegExp, (setting: Setting) => Promise<unknown>])[] = [
  ['an unknown code', 'unknown', /unknown/, ({ issue }) => issue(exchange('x'.repeat(32)))],
  ['a malformed code', 'unknown', /unknown/, ({ issue }) => issue(exchange('x'))],
  [
    "another client's code",
    'other_client',
    /unknown/,
    async ({ issue, code, other }) => issue(exchange(await code()), other)
  ],
  [
    'an expired code',
    'expired',
    /expired/,
    async ({ issue, code, clock }) => {
      const late = await code()
      clock.advance(60)
      return issue(exchange(late))
    }
  ],
  [
    'a used code',
    'used',
    /used before/,
    async ({ issue, code }) => {
      const used = await code()
      await issue(exchange(used))
      return issue(exchange(used))
    }
  ],
  [
    'a code that was used before and ended its login',
    'ended',
    /ended/,
    async ({ issue, code }) => {
      const used = await code()
      await issue(exchange(used))
      await issue(exchange(used)).catch(() => {})
      return issue(exchange(used))
    }
  ],
  [
    'a code whose login was ended',
    'ended',
    /ended/,
    async ({ issue, code, useCases }) => {
      const ended = await code()
      await useCases.revokeUser('ada')
      return issue(exchange(ended))
    }
  ],
  [
    'a redirect_uri that was not in the authorization request',
    'redirect_uri',
    /redirect_uri/,
    async ({ issue, code }) => issue(exchange(await code(), { redirectUri: `${CALLBACK}/other` }))
  ],
  [
    'no redirect_uri where the authorization request had one',
    'redirect_uri',
    /redirect_uri/,
    async ({ issue, code }) => issue(exchange(await code({ redirectUri: CALLBACK })))
  ],
  [
    'a wrong code_verifier',
    'verifier',
    /code_verifier/,
    async ({ issue, code }) =>
      issue(exchange(await code({ codeChallenge: challengeOf(VERIFIER) }), { codeVerifier: 'w'.repeat(43) }))
  ],
  [
    'a code_verifier that is too short, although its digest matches',
    'verifier',
    /code_verifier/,
    async ({ issue, code }) => issue(exchange(await code({ codeChallenge: challengeOf('v') }), { codeVerifier: 'v' }))
  ],
  [
    'no code_verifier',
    'verifier',
    /code_verifier is missing/,
    async ({ issue, code }) => issue(exchange(await code({ codeChallenge: challengeOf(VERIFIER) })))
  ],
  [
    'a code_verifier without a challenge',
    'verifier',
    /had no code_challenge: .* without code_verifier/,
    async ({ issue, code }) => issue(exchange(await code(), { codeVerifier: VERIFIER }))
  ],
  [
    'a code whose scopes the client has lost',
    'scope',
    /scope/,
    async ({ issue, code, useCases }) => {
      const lost = await code()
      await useCases.changeClient('app', { allowedScopes: [] })
      return issue(exchange(lost))
    }
  ],
  ['an unknown refresh token', 'unknown', /unknown/, ({ issue }) => issue(refresh('x'.repeat(32)))],
  [
    "another client's refresh token",
    'other_client',
    /unknown/,
    async ({ issue, refreshToken, other }) => issue(refresh(await refreshToken()), other)
  ],
  [
    'an expired refresh token',
    'expired',
    /expired/,
    async ({ issue, refreshToken, clock, policy }) => {
      const late = await refreshToken()
      clock.advance(policy.refreshTokenSeconds)
      return issue(refresh(late))
    }
  ],
  [
    'a refresh token whose grant has expired',
    'expired',
    /expired/,
    async ({ issue, refreshToken, clock, policy }) => {
      const late = await refreshToken()
      clock.advance(policy.grantSeconds)
      return issue(refresh(late))
    }
  ],
  [
    'a refresh token that was used before',
    'used',
    /used before/,
    async ({ issue, refreshToken, clock, policy }) => {
      const used = await refreshToken()
      await issue(refresh(used))
      clock.advance(policy.refreshGraceSeconds)
      return issue(refresh(used))
    }
  ],
  [
    'a refresh token whose login was ended',
    'ended',
    /ended/,
    async ({ issue, refreshToken, useCases }) => {
      const ended = await refreshToken()
      await useCases.revokeUser('ada')
      return issue(refresh(ended))
    }
  ],
  [
    'a scope beyond the grant',
    'scope',
    /scope/,
    async ({ issue, refreshToken }) => issue(refresh(await refreshToken(), { scope: 'b' }))
  ],
  [
    'a scope that the client is not allowed',
    'scope',
    /scope/,
    ({ issue }) => issue({ grantType: 'password', ...ADA, scope: 'c' })
  ],
  [
    'a grant type that the client is not allowed',
    'grant_type',
    /grant_type/,
    ({ issue }) => issue({ grantType: 'client_credentials' })
  ],
  ['a grant type that there is not', 'grant_type', /grant_type/, ({ issue }) => issue({ grantType: 'nonsense' })]
]

t.test('each refusal of a token is told by one reason in an event, and in words to the client', async t => {
  for (const [name, reason, words, act] of REFUSALS) {
    const setting = await createSetting()
    const error: unknown = await act(setting).catch((error: unknown) => error)
    t.ok(error instanceof DomainError && words.test(error.message), `${name}: ${error}`)
    const last = setting.events.at(-1)
    t.match(last, { event: 'token.refused', address: '192.0.2.1', reason }, name)
    const refused = setting.events.filter(({ event }) => event === 'token.refused')
    t.ok(refused.length >= 1, name)
    const isOfOther = reason === 'other_client'
    t.equal(last && 'client' in last && last.client, isOfOther ? 'other' : 'app')
    t.equal(
      last && 'grant' in last,
      (!isOfOther && ['expired', 'used', 'ended', 'redirect_uri', 'verifier'].includes(reason)) ||
        ['a code whose scopes the client has lost', 'a scope beyond the grant'].includes(name)
    )
  }
})

t.test('a wrong password and a wrong client are told by their own events alone', async t => {
  const { issue, useCases, events } = await createSetting()
  events.length = 0
  await t.rejects(issue({ grantType: 'password', username: 'ada', password: 'wrong' }), { code: 'invalid_grant' })
  await t.rejects(useCases.issueToken(useCases.authenticateClient([]), { ...blankRequest, grantType: 'nonsense' }), {
    code: 'invalid_client'
  })
  await t.rejects(issue({}), { code: 'invalid_request' })
  t.strictSame(
    events.map(({ event }) => event),
    ['login.failed', 'client.authentication_failed']
  )
})

t.test("a verifier in base64's alphabet is taken when its digest is the challenge", async t => {
  const { issue, code } = await createSetting()
  const codeVerifier = `${'+/='.repeat(14)}!`
  await t.resolves(issue(exchange(await code({ codeChallenge: challengeOf(codeVerifier) }), { codeVerifier })))
  for (const wrong of [`${'v'.repeat(42)} `, 'v'.repeat(129), `${'v'.repeat(42)}é`]) {
    const form = { codeVerifier: wrong }
    await t.rejects(issue(exchange(await code({ codeChallenge: challengeOf(wrong) }), form)), { code: 'invalid_grant' })
  }
})

t.test('a client that need not send a state sends a challenge in its place', async t => {
  const world = createWorld()
  const { useCases } = world
  const judge = (client: Client, request: object) =>
    useCases.judgeRequest(client, { clientId: client.id, responseType: 'code', ...request })
  const challenge = { codeChallenge: challengeOf(VERIFIER), codeChallengeMethod: 'S256' }
  const strict = await addClient(world, 'strict')
  t.throws(() => judge(strict, challenge), { code: 'invalid_request', message: /^state is missing/ })
  const free = await addClient(world, 'free', { requireState: false })
  t.throws(() => judge(free, {}), { code: 'invalid_request', message: /^state and code_challenge are missing/ })
  t.doesNotThrow(() => judge(free, challenge))
  t.doesNotThrow(() => judge(free, { state: 'x' }))
  t.throws(() => judge(free, { ...challenge, state: 'x'.repeat(4097) }), { code: 'invalid_request' })
  const changed = await useCases.changeClient('free', { requireState: true })
  t.throws(() => judge(changed, challenge), { code: 'invalid_request' })
})

t.test('a bearer token that is refused is told by the reason', async t => {
  const { useCases, issue, events, clock, policy } = await createSetting()
  const { accessToken = '' } = Object(await issue({ grantType: 'password', ...ADA, scope: 'a' }))
  events.length = 0
  const place = { address: '192.0.2.9' }
  await t.rejects(useCases.verifyBearer(undefined, undefined, place), { code: 'token_required' })
  await t.rejects(useCases.verifyBearer('x'.repeat(32), undefined, place), { code: 'invalid_token' })
  await t.rejects(useCases.verifyBearer(accessToken, 'b', place), { code: 'insufficient_scope', requiredScope: 'b' })
  clock.advance(policy.accessTokenSeconds)
  await t.rejects(useCases.verifyBearer(accessToken, undefined, place), { code: 'invalid_token' })
  const told = { event: 'bearer.refused', address: '192.0.2.9' }
  t.match(events, [
    { ...told, reason: 'unknown', grant: undefined },
    { ...told, reason: 'scope', grant: /^[\w-]{36}$/ },
    { ...told, reason: 'expired', grant: /^[\w-]{36}$/ }
  ])
  t.equal(events.length, 3)
})
