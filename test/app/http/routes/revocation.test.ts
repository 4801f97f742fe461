import t, { type Test } from 'tap'
import { createUseCases } from '../../../../core/index.js'
import {
  basic,
  createInhabited,
  createService,
  opens,
  PUBLIC_URL,
  type Service,
  type Tokens
} from '../../../support/service.js'
import { onEveryStore } from '../../../support/stores.js'
import { addClient, addTenant, type Stores, type Tenant } from '../../../support/world.js'

interface Setting extends Service, Tenant {
  /** The password grant of the tenant's client or of another one. */
  login(scope?: string, client?: string): Promise<Tokens>
  refresh(refreshToken: string): Promise<Tokens>
  /** The status of a revocation. */
  revoke(token: string | undefined, fields?: Readonly<Record<string, string>>, client?: string): Promise<number>
  /** The body of the answer to an introspection. */
  introspect(token: string | undefined, client?: string): Promise<Record<string, unknown>>
  /** True when the access token is accepted. */
  opens(accessToken: string): Promise<boolean>
}

/** A service with the confidential clients `id` and `id`-other and the public client `id`-public. */
const createSetting = async (stores: Stores): Promise<Setting> => {
  const service = createService({ stores })
  const tenant = await addTenant(service)
  const { id, user } = tenant
  const { form } = service
  await addClient(service, `${id}-other`)
  await addClient(service, `${id}-public`, { secret: undefined })
  const headersOf = (client: string) => (client.endsWith('-public') ? basic(client, '') : basic(client))
  return {
    ...service,
    ...tenant,
    login: async (scope, client = id) =>
      (await form('/auth/token', { grant_type: 'password', ...user, scope }, headersOf(client))).json(),
    refresh: async refresh_token =>
      (await form('/auth/token', { grant_type: 'refresh_token', refresh_token }, basic(id))).json(),
    revoke: async (token, fields, client = id) =>
      (await form('/auth/revoke', { token, ...fields }, headersOf(client))).statusCode,
    introspect: async (token, client = id) => (await form('/auth/introspect', { token }, headersOf(client))).json(),
    opens: accessToken => opens(service, accessToken)
  }
}

const INACTIVE = { active: false }
const AT = Date.parse('2026-01-01T00:00:00.000Z') / 1000

t.test('wire 5.11 and 5.12: revocation and introspection', t =>
  onEveryStore(t, async (t, stores) => {
    const test = (name: string, run: (t: Test) => Promise<void>): Promise<unknown> => t.test(name, run)

    await test("an access token's revocation ends that token alone, at once", async t => {
      const { login, revoke, opens, refresh } = await createSetting(stores)
      const [one, other] = [await login(), await login()]
      t.equal(await revoke(one.access_token), 200)
      t.notOk(await opens(one.access_token))
      t.ok(await opens(other.access_token))
      const next = await refresh(one.refresh_token)
      t.ok(await opens(next.access_token))
      t.equal(await revoke(one.access_token), 200, 'again')
    })

    await test("a refresh token's revocation ends its whole grant", async t => {
      const { login, revoke, opens, refresh } = await createSetting(stores)
      const one = await login()
      const next = await refresh(one.refresh_token)
      t.equal(await revoke(next.refresh_token), 200)
      t.notOk(await opens(next.access_token))
      t.has(await refresh(next.refresh_token), { error: 'invalid_grant' })
      t.has(await refresh(one.refresh_token), { error: 'invalid_grant' })
      t.equal(await revoke(next.refresh_token), 200, 'again')
    })

    await test("a spent or expired refresh token's revocation ends its grant too", async t => {
      const spent = await createSetting(stores)
      const one = await spent.login()
      const next = await spent.refresh(one.refresh_token)
      t.equal(await spent.revoke(one.refresh_token), 200)
      t.notOk(await spent.opens(next.access_token))

      const expired = await createSetting(stores)
      const old = await expired.login()
      expired.clock.advance(2_592_000 - 1)
      const fresh = await expired.refresh(old.refresh_token)
      expired.clock.advance(2)
      t.ok(await expired.opens(fresh.access_token))
      t.equal(await expired.revoke(old.refresh_token), 200)
      t.notOk(await expired.opens(fresh.access_token))
    })

    await test("another client's token is invalid_grant and stays as it is", async t => {
      const { form, id, login, opens, refresh } = await createSetting(stores)
      const { access_token, refresh_token } = await login()
      for (const token of [access_token, refresh_token]) {
        for (const headers of [basic(`${id}-other`), basic(`${id}-public`, '')]) {
          const answer = await form('/auth/revoke', { token }, headers)
          t.strictSame([answer.statusCode, answer.json().error], [400, 'invalid_grant'])
        }
      }
      t.ok(await opens(access_token))
      t.has(await refresh(refresh_token), { token_type: 'bearer' })
    })

    await test('a revocation with an unknown token or hint is 200, and one without a token is invalid_request', async t => {
      const { form, id, login, revoke, opens } = await createSetting(stores)
      for (const token of ['x', 'x'.repeat(32), 'x'.repeat(16_384), '🦸']) t.equal(await revoke(token), 200)
      for (const token_type_hint of ['refresh_token', 'access_token', 'nonsense']) {
        const { access_token } = await login()
        t.equal(await revoke(access_token, { token_type_hint }), 200)
        t.notOk(await opens(access_token), token_type_hint)
      }
      for (const url of ['/auth/revoke', '/auth/introspect']) {
        const answer = await form(url, {}, basic(id))
        t.strictSame([answer.statusCode, answer.json().error], [400, 'invalid_request'])
      }
      t.equal((await form('/auth/revoke', 'token=x&token=y', basic(id))).statusCode, 400)
    })

    await test('a public client revokes its own token', async t => {
      const { login, revoke, opens, id } = await createSetting(stores)
      const { access_token } = await login(undefined, `${id}-public`)
      t.equal(await revoke(access_token, {}, `${id}-public`), 200)
      t.notOk(await opens(access_token))
    })

    await test('introspection tells any confidential client of an access token', async t => {
      const { login, introspect, id, user, ports } = await createSetting(stores)
      const { access_token } = await login('b a')
      const stored = await ports.users.findByUsername(user.username)
      const wanted = {
        active: true,
        scope: 'b a',
        client_id: id,
        username: user.username,
        token_type: 'bearer',
        sub: String(stored?.id),
        iss: PUBLIC_URL,
        exp: AT + 3600,
        iat: AT
      }
      t.strictSame(await introspect(access_token), wanted)
      t.strictSame(await introspect(access_token, `${id}-other`), wanted)
    })

    await test('introspection of a refresh token tells all scopes of its grant, and no token_type', async t => {
      const { login, introspect, form, id, clock } = await createSetting(stores)
      const { refresh_token } = await login('b a')
      t.has(await introspect(refresh_token), { active: true, scope: 'b a', exp: AT + 2_592_000, iat: AT })
      t.notOk('token_type' in (await introspect(refresh_token)))
      clock.advance(10)
      const fields = { grant_type: 'refresh_token', refresh_token, scope: 'a' }
      const next = (await form('/auth/token', fields, basic(id))).json()
      t.has(await introspect(next.access_token), { scope: 'a', iat: AT + 10 })
      t.has(await introspect(next.refresh_token), { scope: 'b a', iat: AT + 10 })
    })

    await test('introspection of a token that is unknown, spent, revoked or expired says that it is inactive and nothing else', async t => {
      const { login, introspect, refresh, revoke, clock, useCases, user } = await createSetting(stores)
      t.strictSame(await introspect('x'), INACTIVE)
      const one = await login()
      await refresh(one.refresh_token)
      for (const token of [one.access_token, one.refresh_token])
        t.strictSame(await introspect(token), INACTIVE, 'spent')
      const two = await login()
      await revoke(two.refresh_token)
      for (const token of [two.access_token, two.refresh_token])
        t.strictSame(await introspect(token), INACTIVE, 'revoked')
      const three = await login()
      clock.advance(3600)
      t.strictSame(await introspect(three.access_token), INACTIVE, 'expired')
      t.has(await introspect(three.refresh_token), { active: true })
      clock.advance(2_592_000)
      t.strictSame(await introspect(three.refresh_token), INACTIVE, 'expired')
      const four = await login()
      await useCases.removeUser(user.username)
      for (const token of [four.access_token, four.refresh_token])
        t.strictSame(await introspect(token), INACTIVE, 'its user is removed')
    })

    await test('a public client may not introspect', async t => {
      const { introspect, login, id } = await createSetting(stores)
      const { access_token } = await login()
      t.has(await introspect(access_token, `${id}-public`), { error: 'unauthorized_client' })
    })
  })
)

t.test('introspection says inactive when the user is removed between its two look-ups', async t => {
  const { ports, policy, login } = await createInhabited()
  const users = { ...ports.users, find: async () => undefined }
  const { form } = createService({ useCases: createUseCases({ ...ports, users }, policy) })
  const { access_token } = await login()
  t.strictSame((await form('/auth/introspect', { token: access_token }, basic('app'))).json(), INACTIVE)
})

t.test(
  'answers of revocation and introspection are not cached, and a revocation is answered with an empty object',
  async t => {
    const { form } = await createInhabited()
    for (const url of ['/auth/revoke', '/auth/introspect']) {
      const answer = await form(url, { token: 'x' }, basic('app'))
      t.equal(answer.statusCode, 200)
      t.has(answer.headers, { 'cache-control': 'no-store', pragma: 'no-cache' })
    }
    const empty = await form('/auth/revoke', { token: 'x' }, basic('app'))
    t.strictSame([empty.payload, empty.headers['content-length']], ['{}', '2'])
  }
)
