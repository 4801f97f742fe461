import t from 'tap'
import { createMemoryStores } from '../../adapters/memory/stores.js'
import type { ClientCredentials, PlainRefresh, SecurityEvent, TokenRequest, TokenStore } from '../../core/index.js'
import { ADA, addClient, blankRequest, createWorld, SECRET } from '../support/world.js'

const CREDENTIALS: ClientCredentials = { id: 'app', secret: SECRET }

/** A world whose stores try what `attempt` says in one step. */
const createTrying = async (
  attempt: (refresh: PlainRefresh, tokens: TokenStore) => ReturnType<NonNullable<TokenStore['rotateIfPlain']>>
) => {
  const memory = createMemoryStores()
  const asked: PlainRefresh[] = []
  const events: SecurityEvent[] = []
  const rotateIfPlain = (refresh: PlainRefresh) => {
    asked.push(refresh)
    return attempt(refresh, memory.tokens)
  }
  const stores = { ...memory, tokens: { ...memory.tokens, rotateIfPlain } }
  const world = createWorld({ stores, events: { tell: event => events.push(event) } })
  await addClient(world, 'app')
  await world.useCases.registerUser(ADA)
  const request = (form: Partial<TokenRequest>, candidates: readonly ClientCredentials[] = [CREDENTIALS]) =>
    world.useCases.requestToken(candidates, { ...blankRequest, ...form })
  const { refreshToken = '' } = await request({ grantType: 'password', ...ADA, scope: 'a b' })
  events.splice(0)
  return {
    ...world,
    asked,
    events,
    request,
    refreshToken,
    refresh: (...changes: Parameters<typeof request>) =>
      request({ grantType: 'refresh_token', refreshToken, ...changes[0] }, changes[1])
  }
}

const spend = async ({ digest, spend, successor }: PlainRefresh, tokens: TokenStore) => {
  const found = await tokens.findByRefresh(digest)
  if (found === undefined) throw new Error('there is no such token')
  const { grant } = found
  const token = { ...successor, grant, scopes: grant.scopes, issuedAt: spend.at }
  return (await tokens.rotate(digest, spend, token)) ? token : undefined
}

t.test('a refresh that the store serves in one step is told as a refresh, and not looked at further', async t => {
  const { refresh, events, asked, clock, policy } = await createTrying(spend)
  const answer = await refresh({})
  t.match(answer, { expiresInSeconds: policy.accessTokenSeconds, scopes: ['a', 'b'] })
  t.match(answer, { accessToken: /^[A-Za-z0-9]{32}$/, refreshToken: /^[A-Za-z0-9]{32}$/ })
  const [event, ...others] = events
  t.match(event, { event: 'token.refreshed', client: 'app', user: 1, grant: String, address: '192.0.2.1' })
  t.strictSame(others, [])
  const expiry = (seconds: number) => new Date(clock.now().getTime() + seconds * 1000)
  t.match(asked, [
    {
      clientId: 'app',
      spend: { at: clock.now() },
      successor: { expiresAt: expiry(policy.accessTokenSeconds), refreshExpiresAt: expiry(policy.refreshTokenSeconds) }
    }
  ])
  t.strictSame(await refresh({}), answer, 'a repeat gets the first answer')
})

t.test('a refresh that the store refuses in one step is judged step by step, and told once', async t => {
  const { refresh, events, asked } = await createTrying(async () => undefined)
  await t.resolves(refresh({}))
  t.strictSame([events.map(({ event }) => event), asked.length], [['token.refreshed'], 1])
  await t.rejects(refresh({}, [{ id: 'app', secret: 'wrong' }]), { code: 'invalid_client' })
  await t.rejects(refresh({}, [{ id: 'nobody', secret: SECRET }]), { code: 'invalid_client' })
  await t.rejects(refresh({ refreshToken: 'x'.repeat(32) }), { code: 'invalid_grant' })
})

t.test('whoever was overtaken while the token was unspent is no thief, however late the store says so', async t => {
  for (const [outcome, served] of [
    ['overtaken', true],
    [undefined, false]
  ] as const) {
    const { refresh, policy, events } = await createTrying(async (refresh, tokens) => {
      const at = new Date(refresh.spend.at.getTime() - 1000 * policy.refreshGraceSeconds)
      await spend({ ...refresh, spend: { ...refresh.spend, at } }, tokens)
      return outcome
    })
    const refreshed = refresh({})
    if (served) await t.resolves(refreshed)
    else await t.rejects(refreshed, { code: 'invalid_grant' })
    t.strictSame(
      events.map(({ event }) => event),
      [served ? 'refresh.repeated' : 'grant.stolen']
    )
  }
})

t.test('a refresh or a repeat that begins within the grace is no theft, however long the one step takes', async t => {
  for (const outcome of ['overtaken', undefined] as const) {
    const { refresh, policy, events, clock } = await createTrying(async (refresh, tokens) => {
      await spend(refresh, tokens)
      clock.advance(policy.refreshGraceSeconds)
      return outcome
    })
    await t.resolves(refresh({}))
    t.strictSame(
      events.map(({ event }) => event),
      ['refresh.repeated'],
      String(outcome)
    )
  }
})

t.test('the store is asked for one step only when one step could do', async t => {
  const { refresh, request, asked } = await createTrying(async () => undefined)
  const others: readonly [Partial<TokenRequest>, (readonly ClientCredentials[])?][] = [
    [{ grantType: undefined }],
    [{ grantType: 'password' }],
    [{ scope: 'a' }],
    [{ scope: '"' }],
    [{ refreshToken: undefined }],
    [{ refreshToken: 'short' }],
    [{}, []],
    [{}, [CREDENTIALS, { id: 'app', secret: 'read otherwise' }]],
    [{}, [{ id: 'app' }]],
    [{}, [{ id: 'app', secret: '' }]],
    [{}, [{ id: 'app', secret: 'x'.repeat(2049) }]],
    [{}, [{ id: 'no id', secret: SECRET }]]
  ]
  for (const other of others) {
    await refresh(...other).catch(() => {})
    t.strictSame(asked.splice(0), [], JSON.stringify(other))
  }
  await request({ grantType: 'refresh_token', refreshToken: 'x'.repeat(32), scope: '' }).catch(() => {})
  t.equal(asked.length, 1)
})

t.test('a store that is lost in the one step is not asked again', async t => {
  const { refresh, events } = await createTrying(() => Promise.reject(new Error('lost')))
  await t.rejects(refresh({}), { message: 'lost' })
  t.strictSame(events, [])
})
