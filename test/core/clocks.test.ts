import t, { type Test } from 'tap'
import type { Digest, TokenAnswer } from '../../core/index.js'
import { onEveryStore } from '../support/stores.js'
import { ADA, addClient, blankRequest, createClock, createWorld, type Stores, type World } from '../support/world.js'

let settings = 0

interface Instance extends World {
  login(): Promise<TokenAnswer>
  refresh(answer: TokenAnswer): Promise<TokenAnswer>
  /** Whether the nonce of a spent refresh token is still there. */
  hasNonce(answer: TokenAnswer): Promise<boolean>
  lives(answer: TokenAnswer): Promise<boolean>
}

/** Two instances over the same stores. The clock of each is ahead by its number of seconds. */
const instances = async (
  stores: Stores,
  ahead: readonly [number, number],
  refreshGraceSeconds = 30
): Promise<readonly [Instance, Instance]> => {
  settings += 1
  const user = { ...ADA, username: `ada-${settings}` }
  const [one, other] = ahead.map(seconds =>
    createWorld({
      stores,
      policy: { refreshGraceSeconds, grantRemovalDelaySeconds: 60 },
      clock: createClock(new Date(START + seconds * 1000))
    })
  ) as [World, World]
  const client = await addClient(one, `app-${settings}`)
  await one.useCases.registerUser(user)
  const instance = (world: World): Instance => ({
    ...world,
    login: () => world.useCases.issueToken(client, { ...blankRequest, grantType: 'password', ...user }),
    refresh: ({ refreshToken }) =>
      world.useCases.issueToken(client, { ...blankRequest, grantType: 'refresh_token', refreshToken }),
    async hasNonce({ refreshToken = '' }) {
      const found = await world.ports.tokens.findByRefresh(await world.ports.secrets.digest(refreshToken))
      return found?.spent?.nonce !== undefined
    },
    lives: ({ accessToken }) =>
      world.useCases.verifyBearer(accessToken, undefined).then(
        () => true,
        () => false
      )
  })
  return [instance(one), instance(other)]
}

const START = Date.UTC(2026, 0, 1)

/** Advances the clocks of the worlds. */
const pass = (seconds: number, ...worlds: readonly World[]): void => {
  for (const { clock } of worlds) clock.advance(seconds)
}

t.test('instances that share their stores', t =>
  onEveryStore(t, async (t, stores) => {
    const test = (name: string, run: (t: Test) => Promise<void>): Promise<unknown> => t.test(name, run)

    await test('a nonce outlives the grace by ten seconds, for repeats that are under way, and is erased within a minute of it', async t => {
      const [one] = await instances(stores, [0, 0])
      const first = await one.login()
      await one.refresh(first)
      pass(40, one)
      await one.useCases.sweep()
      t.ok(await one.hasNonce(first))
      pass(0.001, one)
      await one.useCases.sweep()
      t.notOk(await one.hasNonce(first))
    })

    await test('full windows of a clock that was put back since last no longer than others', async t => {
      const one = createWorld({ stores, policy: { registerAttempts: 2 }, clock: createClock(new Date(START)) })
      const client = await addClient(one, 'throttled')
      const place = { address: '192.0.2.7' }
      const guess = () =>
        one.useCases.issueToken(client, { ...blankRequest, grantType: 'password', ...ADA, password: 'no', ...place })
      const register = (name: string) =>
        one.useCases.registerUser({ username: name, password: 'battery staple' }, place)
      pass(7200, one)
      for (let i = 0; i < 10; i++) await t.rejects(guess(), { code: 'invalid_grant' })
      await t.rejects(guess(), { code: 'too_many_attempts', retryAfterSeconds: 900 })
      for (let i = 0; i < 2; i++) await register(`${client.id}-${i}`)
      await t.rejects(register('one more'), { code: 'too_many_attempts', retryAfterSeconds: 900 })
      pass(-30, one)
      await t.rejects(guess(), { code: 'too_many_attempts', retryAfterSeconds: 930 })
      pass(-7170, one)
      for (let i = 0; i < 10; i++) await t.rejects(guess(), { code: 'invalid_grant' })
      await t.rejects(guess(), { code: 'too_many_attempts', retryAfterSeconds: 900 })
      await register(`${client.id}-more`)
    })

    await test('a repeat on a clock that is a moment behind the first use gets the first answer', async t => {
      const [one, other] = await instances(stores, [0, -0.1])
      const first = await one.login()
      const second = await one.refresh(first)
      t.equal((await other.refresh(first)).accessToken, second.accessToken)
      t.ok(await other.lives(second))
    })

    await test('a repeat on a clock that is behind promises no longer life than the first answer', async t => {
      const [one, other] = await instances(stores, [0, -10])
      const first = await one.login()
      const { expiresInSeconds } = await one.refresh(first)
      t.equal((await other.refresh(first)).expiresInSeconds, expiresInSeconds)
    })

    await test('without a grace a repeat is a theft on a clock that is a moment behind, too', async t => {
      const [one, other] = await instances(stores, [0, -0.1], 0)
      const first = await one.login()
      const second = await one.refresh(first)
      await t.rejects(other.refresh(first), { code: 'invalid_grant' })
      t.notOk(await one.lives(second))
    })

    await test('of two refreshes that are under way at once the later one is no theft, however short the grace', async t => {
      let slowness = 0
      const slow = {
        ...stores,
        tokens: {
          ...stores.tokens,
          async rotate(...given: Parameters<Stores['tokens']['rotate']>) {
            pass(slowness, one, other)
            return stores.tokens.rotate(...given)
          }
        }
      }
      const [one, other] = await instances(slow, [0, 0], 2)
      const first = await one.login()
      slowness = 3
      const [second, same] = await Promise.all([one.refresh(first), other.refresh(first)])
      t.equal(same.accessToken, second.accessToken)
      t.equal(same.refreshToken, second.refreshToken)
    })

    await test('a refresh that loses the race to one on a clock behind it gets the first answer', async t => {
      const [one, other] = await instances(stores, [0, 3], 2)
      const first = await one.login()
      const winners: TokenAnswer[] = []
      const { rotate } = stores.tokens
      t.intercept(stores.tokens, 'rotate', {
        async value(...given: Parameters<typeof rotate>) {
          t.intercept(stores.tokens, 'rotate', { value: rotate })
          winners.push(await one.refresh(first))
          return rotate(...given)
        }
      })
      const { accessToken } = await other.refresh(first)
      t.equal(accessToken, winners[0]?.accessToken)
    })

    await test('refreshes and repeats that begin within the grace get one pair, however slow the database is', async t => {
      let slowness = 10
      const slow = {
        ...stores,
        tokens: {
          ...stores.tokens,
          async findByRefresh(digest: Digest) {
            const found = await stores.tokens.findByRefresh(digest)
            pass(slowness, one, other)
            return found
          }
        }
      }
      const [one, other] = await instances(slow, [0, 0], 2)
      const first = await one.login()
      const [second, same] = await Promise.all([one.refresh(first), other.refresh(first)])
      t.equal(same.accessToken, second.accessToken)
      slowness = 0
      const third = await one.refresh(second)
      pass(1.999, one, other)
      slowness = 10
      t.equal((await other.refresh(second)).accessToken, third.accessToken)
      t.ok(await one.lives(third))
      slowness = 0
      await t.rejects(other.refresh(second), { code: 'invalid_grant' }, 'the grace is over')
      t.notOk(await one.lives(third))
    })

    await test('an expired token is removed a minute after its expiry where the policy says so, and not before', async t => {
      const [one] = await instances(stores, [0, 0])
      const { useCases, policy, ports } = one
      const { refreshToken = '' } = await one.login()
      const digest = await ports.secrets.digest(refreshToken)
      pass(policy.refreshTokenSeconds, one)
      for (const [seconds, there] of [
        [0, true],
        [59, true],
        [1, true],
        [0.001, false]
      ] as const) {
        pass(seconds, one)
        await useCases.sweep()
        t.equal((await ports.tokens.findByRefresh(digest)) !== undefined, there, `${seconds} s later`)
      }
    })
  })
)
