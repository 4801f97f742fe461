import t, { type Test } from 'tap'
import type { TokenRequest } from '../../core/index.js'
import { onEveryStore } from '../support/stores.js'
import { addTenant, blankRequest, createWorld, SECRET, type Stores, type World } from '../support/world.js'

const createSetting = async (stores: Stores, policy: World['policy'] | object = {}) => {
  const world = createWorld({ stores, policy })
  const { id, user } = await addTenant(world)
  const request = (form: Partial<TokenRequest>) =>
    world.useCases.issueToken(world.useCases.authenticateClient([{ id, secret: SECRET }]), { ...blankRequest, ...form })
  return {
    ...world,
    id,
    logIn: (scope?: string) => request({ grantType: 'password', ...user, scope }),
    refresh: (refreshToken: string | undefined, scope?: string) =>
      request({ grantType: 'refresh_token', refreshToken, scope })
  }
}

const onStores = (title: string, run: (t: Test, stores: Stores) => Promise<void>) =>
  t.test(title, t => onEveryStore(t, run))

onStores(
  'a client from which the refresh grant was taken refreshes nothing, until it has it again',
  async (t, stores) => {
    const { useCases, id, logIn, refresh } = await createSetting(stores)
    const { refreshToken } = await logIn()
    await useCases.changeClient(id, { grantTypes: ['password'] })
    await t.rejects(refresh(refreshToken), { code: 'unauthorized_client' })
    t.equal((await logIn()).refreshToken, undefined, 'and gets no refresh token')
    await useCases.changeClient(id, { grantTypes: ['refresh_token'] })
    await t.resolves(refresh(refreshToken), 'nothing was spent')
    await t.rejects(logIn(), { code: 'unauthorized_client' })
  }
)

onStores('a client from which scopes were taken gets the others at the next refresh', async (t, stores) => {
  const { useCases, id, logIn, refresh } = await createSetting(stores)
  const { refreshToken } = await logIn('a b')
  await useCases.changeClient(id, { allowedScopes: ['c'] })
  await t.rejects(refresh(refreshToken), { code: 'invalid_scope' }, 'none of the grant is left')
  await t.rejects(refresh(refreshToken, 'a'), { code: 'invalid_scope' }, 'none of those asked for is left')
  await useCases.changeClient(id, { allowedScopes: ['b:x', 'b'] })
  const second = await refresh(refreshToken)
  t.strictSame(second.scopes, ['b'], 'nothing was spent')
  await useCases.changeClient(id, { allowedScopes: ['a', 'b'] })
  t.strictSame((await refresh(second.refreshToken)).scopes, ['a', 'b'], 'the grant keeps its scopes')
})

onStores('tokens that are refreshed together end with their grants at the latest', async (t, stores) => {
  const { useCases, clock, id, logIn, refresh } = await createSetting(stores, { grantSeconds: 100 })
  const client = await useCases.findClient(id)
  const logins = []
  for (let i = 0; i < 20; i += 1) logins.push(await logIn())
  const end = new Date(clock.now().getTime() + 100_000)
  clock.advance(60)
  const answers = await Promise.all(logins.map(({ refreshToken }) => refresh(refreshToken)))
  for (const { expiresInSeconds, accessToken, refreshToken = '' } of answers) {
    t.equal(expiresInSeconds, 40)
    t.strictSame((await useCases.introspectToken(client, accessToken))?.expiresAt, end)
    t.strictSame((await useCases.introspectToken(client, refreshToken))?.expiresAt, end)
  }
  clock.advance(40)
  const late = await Promise.allSettled(answers.map(({ refreshToken }) => refresh(refreshToken)))
  t.ok(late.every(({ status }) => status === 'rejected'))
})

onStores(
  'whoever loses a refresh to another is no thief within the grace, and gets the same pair',
  async (t, stores) => {
    let overtake: () => Promise<unknown> = async () => {}
    const { tokens } = stores
    const overtaken: Stores['tokens'] = {
      ...tokens,
      async rotate(...given) {
        const first = overtake
        overtake = async () => {}
        await first()
        return tokens.rotate(...given)
      }
    }
    const { useCases, logIn, refresh } = await createSetting({ ...stores, tokens: overtaken })
    const { refreshToken } = await logIn()
    let winner: unknown
    overtake = async () => {
      winner = await refresh(refreshToken)
    }
    const loser = await refresh(refreshToken)
    t.strictSame(loser, winner)
    await t.resolves(useCases.verifyBearer(loser.accessToken, undefined))
  }
)
