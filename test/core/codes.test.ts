import t from 'tap'
import type { SecurityEvent } from '../../core/index.js'
import { onEveryStore } from '../support/stores.js'
import { addTenant, blankRequest, createWorld, type Stores } from '../support/world.js'

/** A login whose code is not used yet, on stores whose `codes` `change` may replace. */
const logIn = async (stores: Stores, change: (codes: Stores['codes']) => Partial<Stores['codes']>) => {
  const told: SecurityEvent[] = []
  const events = { emit: (event: SecurityEvent) => void told.push(event) }
  const world = createWorld({ stores: { ...stores, codes: { ...stores.codes, ...change(stores.codes) } }, events })
  const { id, user } = await addTenant(world)
  const client = await world.useCases.findClient(id)
  if (client === undefined) throw new Error('the client is missing')
  const authorization = world.useCases.judgeRequest(client, { clientId: id, responseType: 'code', state: 'x' })
  const code = await world.useCases.authorize(authorization, { ...user, address: '192.0.2.1' })
  told.length = 0
  const exchange = { ...blankRequest, grantType: 'authorization_code', code }
  return { ...world, user, exchange: (form = {}) => world.useCases.issueToken(client, { ...exchange, ...form }), told }
}

t.test('a grant that is revoked while its code is used for the first time is no theft', async t => {
  await onEveryStore(t, async (t, stores) => {
    for (const form of [{}, { codeVerifier: 'x'.repeat(43) }]) {
      const login = await logIn(stores, ({ redeem, burn }) => ({
        async redeem(...given) {
          await login.useCases.revokeUser(login.user.username)
          return redeem(...given)
        },
        async burn(...given) {
          await login.useCases.revokeUser(login.user.username)
          return burn(...given)
        }
      }))
      await t.rejects(login.exchange(form), { code: 'invalid_grant' })
      t.strictSame(
        login.told.map(({ event }) => event),
        ['user.revoked']
      )
    }
  })
})

t.test('of twenty that use one code at once, one may be answered, and that it was used twice is told once', async t => {
  await onEveryStore(t, async (t, stores) => {
    const { exchange, told } = await logIn(stores, () => ({}))
    const answers = await Promise.allSettled(Array.from({ length: 20 }, () => exchange()))
    t.ok(answers.filter(({ status }) => status === 'fulfilled').length <= 1)
    t.equal(told.filter(({ event }) => event === 'grant.stolen').length, 1)
  })
})

t.test('a wrong verifier that loses against the right redemption is a second use, and ends the tokens', async t => {
  await onEveryStore(t, async (t, stores) => {
    let overtake: () => Promise<void> = async () => {}
    const login = await logIn(stores, ({ burn }) => ({
      async burn(...given) {
        await overtake()
        return burn(...given)
      }
    }))
    let accessToken = ''
    overtake = async () => {
      accessToken = (await login.exchange()).accessToken
      await t.resolves(login.useCases.verifyBearer(accessToken, undefined))
    }
    await t.rejects(login.exchange({ codeVerifier: 'x'.repeat(43) }), { code: 'invalid_grant' })
    await t.rejects(login.useCases.verifyBearer(accessToken, undefined), { code: 'invalid_token' })
    t.strictSame(
      login.told.map(({ event }) => event),
      ['token.issued', 'grant.stolen']
    )
  })
})
