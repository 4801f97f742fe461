import t from 'tap'
import type { SecurityEvent } from '../../core/index.js'
import { onEveryStore } from '../support/stores.js'
import { addTenant, blankRequest, createWorld, type Stores } from '../support/world.js'

/** A login whose code is not used yet, on stores whose `codes` `change` may replace. */
const logIn = async (stores: Stores, change: (codes: Stores['codes']) => Partial<Stores['codes']>, scope?: string) => {
  const told: SecurityEvent[] = []
  const events = { emit: (event: SecurityEvent) => void told.push(event) }
  const world = createWorld({ stores: { ...stores, codes: { ...stores.codes, ...change(stores.codes) } }, events })
  const { id, user } = await addTenant(world)
  const client = await world.useCases.findClient(id)
  if (client === undefined) throw new Error('the client is missing')
  const authorization = world.useCases.judgeRequest(client, { clientId: id, responseType: 'code', state: 'x', scope })
  const code = await world.useCases.authorize(authorization, { ...user, address: '192.0.2.1' })
  told.length = 0
  const exchange = { ...blankRequest, grantType: 'authorization_code', code }
  return {
    ...world,
    id,
    user,
    exchange: async (form = {}) =>
      world.useCases.issueToken(await world.useCases.findClient(id), { ...exchange, ...form }),
    told
  }
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
        ['user.revoked', 'token.refused']
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

t.test('a code gives only what its client is still allowed, and is spent for nothing when that is nothing', async t => {
  await onEveryStore(t, async (t, stores) => {
    for (const [allowed, expected] of [
      [['b'], ['b']],
      [['c'], 'invalid_scope']
    ] as const) {
      const { id, exchange, useCases, told } = await logIn(stores, () => ({}), 'a b')
      await useCases.changeClient(id, { allowedScopes: allowed })
      const outcome = await exchange().then(
        ({ scopes }) => scopes,
        ({ code }) => code
      )
      t.strictSame(outcome, expected)
      told.length = 0
      await t.rejects(exchange(), { code: 'invalid_grant' })
      t.strictSame(
        told.map(({ event }) => event),
        ['grant.stolen', 'token.refused'],
        'the code was spent'
      )
    }
  })
})

t.test('of twenty exchanges at once of a code whose client has lost its scopes, none is answered', async t => {
  await onEveryStore(t, async (t, stores) => {
    const { id, exchange, useCases } = await logIn(stores, () => ({}), 'a')
    await useCases.changeClient(id, { allowedScopes: [] })
    const answers = await Promise.allSettled(Array.from({ length: 20 }, () => exchange()))
    const codes = answers.map(answer => (answer.status === 'rejected' ? answer.reason.code : 'answered'))
    t.equal(codes.filter(code => code === 'invalid_scope').length, 1)
    t.equal(codes.filter(code => code === 'invalid_grant').length, 19)
  })
})
