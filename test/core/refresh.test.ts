import t, { type Test } from 'tap'
import type { Client, SecurityEvent, TokenAnswer, TokenRequest, UseCases } from '../../core/index.js'
import { onEveryStore } from '../support/stores.js'
import {
  ADA,
  addClient,
  blankRequest,
  createWorld,
  SECRET,
  type Stores,
  type World,
  type WorldOptions
} from '../support/world.js'

/** How a token request is served: for an authenticated client, or for whoever presents credentials. */
type Serve = (useCases: UseCases, client: Client, request: TokenRequest) => Promise<TokenAnswer>

const WAYS: Readonly<Record<string, Serve>> = {
  'a refresh for an authenticated client': (useCases, client, request) => useCases.issueToken(client, request),
  'a refresh with credentials': (useCases, { id, secretDigest }, request) =>
    useCases.issueToken(useCases.authenticateClient([{ id, secret: secretDigest && SECRET }]), request)
}

let worlds = 0

interface Setting extends World {
  readonly client: Client
  readonly told: readonly SecurityEvent[]
  login(scope?: string): Promise<TokenAnswer & { readonly refreshToken: string }>
  refresh(
    refreshToken: string | undefined,
    scope?: string,
    client?: Client
  ): Promise<TokenAnswer & { readonly refreshToken: string }>
  lives(accessToken: string): Promise<boolean>
}

/** A new client and a new user, in stores that other tests use too. */
const createSetting = async (serve: Serve, stores: Stores, policy: WorldOptions['policy'] = {}): Promise<Setting> => {
  worlds += 1
  const told: SecurityEvent[] = []
  const world = createWorld({ stores, policy, events: { emit: event => void told.push(event) } })
  const { useCases } = world
  const client = await addClient(world, `app-${worlds}`)
  const user = { ...ADA, username: `ada-${worlds}` }
  await useCases.registerUser(user)
  const issue = async (
    client: Client,
    form: Partial<TokenRequest>
  ): Promise<TokenAnswer & { refreshToken: string }> => {
    const answer = await serve(useCases, client, { ...blankRequest, ...form })
    if (answer.refreshToken === undefined) throw new Error('there is no refresh token')
    return { ...answer, refreshToken: answer.refreshToken }
  }
  return {
    ...world,
    client,
    told,
    login: scope => issue(client, { grantType: 'password', ...user, scope }),
    refresh: (refreshToken, scope, by = client) => issue(by, { grantType: 'refresh_token', refreshToken, scope }),
    lives: accessToken =>
      useCases.verifyBearer(accessToken, undefined).then(
        () => true,
        () => false
      )
  }
}

const later = (answer: TokenAnswer, seconds: number): TokenAnswer => ({
  ...answer,
  expiresInSeconds: answer.expiresInSeconds - seconds
})

const testRefreshes = (t: Test, serve: Serve): Promise<void> =>
  onEveryStore(t, async (t, stores) => {
    const setting = (...args: [Stores, WorldOptions['policy']?]) => createSetting(serve, ...args)
    const test = (name: string, run: (t: Test) => Promise<void>): Promise<unknown> => t.test(name, run)

    await test('a refresh spends the token, ends its access token and gives a new pair', async t => {
      const { login, refresh, lives } = await setting(stores)
      const first = await login('a b')
      const second = await refresh(first.refreshToken)
      t.not(second.accessToken, first.accessToken)
      t.not(second.refreshToken, first.refreshToken)
      t.strictSame(second.scopes, ['a', 'b'])
      t.equal(second.expiresInSeconds, 3600)
      t.notOk(await lives(first.accessToken))
      t.ok(await lives(second.accessToken))
    })

    await test('a public client is unauthorized_client, before any other check', async t => {
      const world = await setting(stores)
      const open = await addClient(world, `${world.client.id}-public`, { secret: undefined })
      await t.rejects(world.refresh(undefined, undefined, open), { code: 'unauthorized_client' })
    })

    await test('a missing refresh_token is invalid_request, a malformed scope is invalid_scope, and neither spends the token', async t => {
      const { login, refresh } = await setting(stores)
      const { refreshToken } = await login('a')
      await t.rejects(refresh(undefined), { code: 'invalid_request' })
      await t.rejects(refresh(refreshToken, 'a"b'), { code: 'invalid_scope' })
      await t.resolves(refresh(refreshToken))
    })

    await test('an unknown refresh token is invalid_grant', async t => {
      const { refresh } = await setting(stores)
      await t.rejects(refresh('x'.repeat(32)), { code: 'invalid_grant' })
    })

    await test("another client's refresh token is invalid_grant and nothing changes, spent or not", async t => {
      const world = await setting(stores)
      const { login, refresh, lives } = world
      const other = await addClient(world, `${world.client.id}-other`)
      const first = await login()
      await t.rejects(refresh(first.refreshToken, undefined, other), { code: 'invalid_grant' })
      t.ok(await lives(first.accessToken))
      const second = await refresh(first.refreshToken)
      world.clock.advance(31)
      await t.rejects(refresh(first.refreshToken, undefined, other), { code: 'invalid_grant' })
      t.ok(await lives(second.accessToken))
    })

    await test('a refresh token of an expired grant is invalid_grant', async t => {
      const { login, refresh, lives, clock, useCases, client } = await setting(stores, {
        grantSeconds: 100,
        accessTokenSeconds: 60
      })
      const { refreshToken } = await login()
      clock.advance(90)
      const late = await refresh(refreshToken)
      t.equal(late.expiresInSeconds, 10, 'no token outlives its grant')
      const end = new Date(clock.now().getTime() + 10_000)
      t.strictSame(
        (await useCases.introspectToken(client, late.refreshToken))?.expiresAt,
        end,
        'a refresh token neither'
      )
      clock.advance(10)
      await t.rejects(refresh(late.refreshToken), { code: 'invalid_grant' })
      await t.rejects(refresh(refreshToken), { code: 'invalid_grant' }, 'nor is a repeat served')
      t.notOk(await lives(late.accessToken))
    })

    await test('a refresh token whose user is gone is invalid_grant', async t => {
      const { login, refresh, useCases, client } = await setting(stores)
      const { refreshToken } = await login()
      await useCases.removeUser(`ada-${client.id.slice(4)}`)
      await t.rejects(refresh(refreshToken), { code: 'invalid_grant' })
    })

    await test('the lifetime of a refresh token counts from its own issue, to the second', async t => {
      const { login, refresh, clock } = await setting(stores, { refreshTokenSeconds: 100 })
      const first = await login()
      clock.advance(99)
      const second = await refresh(first.refreshToken)
      clock.advance(99)
      const third = await refresh(second.refreshToken)
      clock.advance(100)
      await t.rejects(refresh(third.refreshToken), { code: 'invalid_grant' })
    })

    await test('a token that is both spent and expired counts as spent', async t => {
      const { login, refresh, lives, clock } = await setting(stores, { refreshTokenSeconds: 100 })
      const first = await login()
      const second = await refresh(first.refreshToken)
      clock.advance(101)
      await t.rejects(refresh(first.refreshToken), { code: 'invalid_grant' })
      t.notOk(await lives(second.accessToken), 'the theft ends the grant')
    })

    await test('a narrower scope narrows the new access token alone', async t => {
      const { login, refresh } = await setting(stores)
      const first = await login('a b')
      const second = await refresh(first.refreshToken, 'b')
      t.strictSame(second.scopes, ['b'])
      t.strictSame((await refresh(second.refreshToken)).scopes, ['a', 'b'])
    })

    await test('a scope that the client is not allowed is dropped, and one beyond the grant is invalid_scope and spends nothing', async t => {
      const { login, refresh } = await setting(stores)
      const first = await login('a')
      await t.rejects(refresh(first.refreshToken, 'c'), { code: 'invalid_scope' })
      await t.rejects(refresh(first.refreshToken, 'a b'), { code: 'invalid_scope' })
      t.strictSame((await refresh(first.refreshToken, 'c a:x')).scopes, ['a:x'])
    })

    await test('a scope that was taken from the client is dropped at a refresh', async t => {
      const { login, refresh, useCases, client } = await setting(stores)
      const { refreshToken } = await login('a b')
      const changed = await useCases.changeClient(client.id, { allowedScopes: ['b'] })
      t.strictSame((await refresh(refreshToken, undefined, changed)).scopes, ['b'])
    })

    await test('where every granted scope was taken from the client, a refresh says so and spends nothing', async t => {
      const { login, refresh, useCases, client } = await setting(stores)
      const { refreshToken } = await login('a')
      const changed = await useCases.changeClient(client.id, { allowedScopes: ['b'] })
      await t.rejects(refresh(refreshToken, undefined, changed), {
        code: 'invalid_scope',
        message: /^the client is allowed none of the granted scopes any more: /
      })
      await useCases.changeClient(client.id, { allowedScopes: ['a'] })
      t.strictSame((await refresh(refreshToken)).scopes, ['a'])
    })

    await test('a repeat within the grace gets the first answer again, except for expires_in', async t => {
      const { login, refresh, clock } = await setting(stores)
      const first = await login('a b')
      const second = await refresh(first.refreshToken, 'a')
      t.strictSame(await refresh(first.refreshToken, 'a'), second)
      clock.advance(10)
      t.strictSame(await refresh(first.refreshToken), later(second, 10))
    })

    await test('a repeat tells in whole seconds how long the access token still lives, and 0 once it has expired', async t => {
      const { login, refresh, clock } = await setting(stores, { accessTokenSeconds: 10 })
      const first = await login()
      const second = await refresh(first.refreshToken)
      clock.advance(0.5)
      t.strictSame(await refresh(first.refreshToken), later(second, 1))
      clock.advance(19.5)
      t.strictSame(await refresh(first.refreshToken), later(second, 10))
    })

    await test('a repeat is served at the last moment of the grace and is a theft at the first one past it', async t => {
      for (const [seconds, served] of [
        [29.999, true],
        [30, false]
      ] as const) {
        const { login, refresh, lives, clock } = await setting(stores)
        const first = await login()
        const second = await refresh(first.refreshToken)
        clock.advance(seconds)
        if (served) t.equal((await refresh(first.refreshToken)).accessToken, second.accessToken)
        else await t.rejects(refresh(first.refreshToken), { code: 'invalid_grant' })
        t.equal(await lives(second.accessToken), served)
      }
    })

    await test('repeats do not extend the grace', async t => {
      const { login, refresh, clock } = await setting(stores)
      const { refreshToken } = await login()
      await refresh(refreshToken)
      clock.advance(20)
      await refresh(refreshToken)
      clock.advance(20)
      await t.rejects(refresh(refreshToken), { code: 'invalid_grant' })
    })

    await test('after a theft the newest tokens are dead too', async t => {
      const { login, refresh, lives, clock } = await setting(stores)
      const first = await login()
      const second = await refresh(first.refreshToken)
      const third = await refresh(second.refreshToken)
      clock.advance(31)
      await t.rejects(refresh(first.refreshToken), { code: 'invalid_grant' })
      t.notOk(await lives(third.accessToken))
      await t.rejects(refresh(third.refreshToken), { code: 'invalid_grant' })
    })

    await test('a spent token is unknown 30 days after its issue, or behind its expiry if that is later, and the login lives on', async t => {
      const DAY = 86_400
      for (const [lifetime, kept] of [
        [20 * DAY, 30 * DAY],
        [40 * DAY, 40 * DAY]
      ] as const) {
        for (const [beyond, code] of [
          [0, 'used'],
          [0.001, 'unknown']
        ] as const) {
          const policy = { refreshTokenSeconds: lifetime, accessTokenSeconds: 30 * DAY }
          const { login, refresh, lives, clock, told } = await setting(stores, policy)
          const first = await login()
          const second = await refresh(first.refreshToken)
          clock.advance(lifetime - DAY)
          const third = await refresh(second.refreshToken)
          clock.advance(kept - lifetime + DAY + beyond)
          const isUnknown = code === 'unknown'
          await t.rejects(refresh(first.refreshToken), { code: 'invalid_grant', refusal: { reason: code } })
          t.equal(told.filter(({ event }) => event === 'grant.stolen').length, isUnknown ? 0 : 1)
          t.equal(await lives(third.accessToken), isUnknown)
          if (isUnknown) t.ok(await refresh(third.refreshToken))
        }
      }
    })

    await test('when twenty use a stolen refresh token at once after the grace, the theft is told once', async t => {
      const { login, refresh, clock, told } = await setting(stores)
      const { refreshToken } = await login()
      await refresh(refreshToken)
      clock.advance(31)
      const answers = await Promise.allSettled(Array.from({ length: 20 }, () => refresh(refreshToken)))
      t.ok(answers.every(({ status }) => status === 'rejected'))
      t.strictSame(
        told.map(({ event }) => event).filter(event => event.startsWith('grant.')),
        ['grant.stolen']
      )
    })

    await test('a repeat after the successor was itself rotated still gets the first answer', async t => {
      const { login, refresh, lives } = await setting(stores)
      const first = await login()
      const second = await refresh(first.refreshToken)
      const third = await refresh(second.refreshToken)
      t.strictSame(await refresh(first.refreshToken), second)
      t.ok(await lives(third.accessToken), 'nothing changes')
      t.notOk(await lives(second.accessToken))
    })

    await test("a repeat after the first answer's access token was revoked still gets the first answer", async t => {
      const { login, refresh, lives, useCases, client } = await setting(stores)
      const first = await login()
      const second = await refresh(first.refreshToken)
      await useCases.revokeToken(client, second.accessToken)
      t.strictSame(await refresh(first.refreshToken), second)
      t.notOk(await lives(second.accessToken))
    })

    await test('a repeat that asks for less than the first answer gets the first answer', async t => {
      const { login, refresh } = await setting(stores)
      const first = await login('a b')
      const second = await refresh(first.refreshToken)
      t.strictSame(await refresh(first.refreshToken, 'a'), second)
      t.strictSame(await refresh(first.refreshToken, 'c a'), second, 'what the client is not allowed is dropped')
    })

    await test('a repeat gets the first answer also when its scope was taken from the client meanwhile', async t => {
      const { login, refresh, useCases, client } = await setting(stores)
      const first = await login('a b')
      const second = await refresh(first.refreshToken, 'a')
      const changed = await useCases.changeClient(client.id, { allowedScopes: ['b'] })
      t.strictSame(await refresh(first.refreshToken, 'a', changed), second)
      await t.rejects(refresh(first.refreshToken, 'b', changed), { code: 'invalid_scope' })
    })

    await test('a repeat that asks for a scope beyond the first answer is invalid_scope and changes nothing', async t => {
      const { login, refresh, lives } = await setting(stores)
      const first = await login('a b')
      const second = await refresh(first.refreshToken, 'a')
      await t.rejects(refresh(first.refreshToken, 'a b'), { code: 'invalid_scope' })
      t.ok(await lives(second.accessToken))
      t.strictSame(await refresh(first.refreshToken, 'a'), second)
    })

    await test('a repeat after the grant has ended is invalid_grant', async t => {
      const { login, refresh, useCases, client } = await setting(stores)
      const first = await login()
      const second = await refresh(first.refreshToken)
      await useCases.revokeToken(client, second.refreshToken)
      await t.rejects(refresh(first.refreshToken), { code: 'invalid_grant' })
    })

    await test('without a grace a repeat is a theft at once', async t => {
      const { login, refresh, lives } = await setting(stores, { refreshGraceSeconds: 0 })
      const first = await login()
      const second = await refresh(first.refreshToken)
      await t.rejects(refresh(first.refreshToken), { code: 'invalid_grant' })
      t.notOk(await lives(second.accessToken))
    })

    await test('a repeat whose nonce is erased is a theft', async t => {
      const { login, refresh, ports, clock } = await setting(stores)
      const { refreshToken } = await login()
      await refresh(refreshToken)
      await ports.tokens.eraseNonces(new Date(clock.now().getTime() + 1))
      await t.rejects(refresh(refreshToken), { code: 'invalid_grant' })
    })

    await test('twenty refreshes at once, ten rounds: every one is answered, with one pair a round', async t => {
      const { login, refresh, lives } = await setting(stores)
      let { refreshToken } = await login()
      for (let round = 0; round < 10; round += 1) {
        const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(refreshToken)))
        t.equal(new Set(answers.map(answer => `${answer.accessToken} ${answer.refreshToken}`)).size, 1)
        const [answer] = answers
        if (answer === undefined) throw new Error('there is no answer')
        t.ok(await lives(answer.accessToken))
        refreshToken = answer.refreshToken
      }
    })

    await test('without a grace, at most one of twenty concurrent refreshes is answered, and no live token is left', async t => {
      const { login, refresh, lives } = await setting(stores, { refreshGraceSeconds: 0 })
      const { refreshToken } = await login()
      const settled = await Promise.allSettled(Array.from({ length: 20 }, () => refresh(refreshToken)))
      const answers = settled.flatMap(each => (each.status === 'fulfilled' ? [each.value] : []))
      t.equal(answers.length, 1)
      for (const { accessToken } of answers) t.notOk(await lives(accessToken), 'the other refreshes count as a theft')
    })
  })

for (const [way, serve] of Object.entries(WAYS)) t.test(way, t => testRefreshes(t, serve))
