import assert from 'node:assert/strict'
import t from 'tap'
import { createMemoryStores } from '../adapters/memory/stores.js'
import { ask } from './support/process.js'
import { basic } from './support/service.js'
import { createTestService, type Stores, storeContract } from './testing.js'

t.test('a service for tests is there in one line, with a client, a user and a token, by inject', async t => {
  const { http, headers, user, client, refreshToken, close } = await createTestService()
  t.teardown(close)
  const created = await http.inject({ method: 'POST', url: '/heroes', headers, payload: { name: 'Starling' } })
  t.strictSame(created.json(), { id: 1, name: 'Starling' })
  const { id, secret } = client
  const introspect = async (token: string) =>
    (
      await http.inject({
        method: 'POST',
        url: '/auth/introspect',
        headers: { ...basic(id, secret), 'content-type': 'application/x-www-form-urlencoded' },
        payload: `token=${token}`
      })
    ).json()
  t.match(await introspect(refreshToken), {
    active: true,
    client_id: id,
    sub: String(user.id),
    username: user.username
  })
  t.equal((await http.inject('/heroes')).statusCode, 401)
})

t.test('a service for tests may listen, and is where it says', async t => {
  const { url, headers, close } = await createTestService({ listen: true })
  t.teardown(close)
  t.match(await ask(`${url}/heroes`, { headers: { ...headers } }), { status: 200, body: '[]' })
  const metadata = JSON.parse((await ask(`${url}/.well-known/oauth-authorization-server`)).body)
  t.equal(metadata.issuer, url)
})

t.test('time passes in a service for tests when the test says so', async t => {
  const { http, headers, advance, close } = await createTestService({ policy: { accessTokenSeconds: 60 } })
  t.teardown(close)
  t.equal((await http.inject({ url: '/heroes', headers })).statusCode, 200)
  advance(61)
  t.equal((await http.inject({ url: '/heroes', headers })).statusCode, 401)
})

t.test(
  'the token of a service for tests has the scopes that the service asks for, or those that the test names',
  async t => {
    const asking = { readScope: 'heroes:read', writeScope: 'heroes:write' }
    const whole = await createTestService(asking)
    const reading = await createTestService({ ...asking, scopes: ['heroes:read'] })
    for (const [{ http, headers, close }, statuses] of [
      [whole, [200, 200]],
      [reading, [200, 403]]
    ] as const) {
      t.teardown(close)
      const read = await http.inject({ url: '/heroes', headers })
      const written = await http.inject({ method: 'POST', url: '/heroes', headers, payload: { name: 'Starling' } })
      t.strictSame([read.statusCode, written.statusCode], statuses)
    }
  }
)

/** The titles of the tests that stores fail. Every test is declared before the first one runs, as vitest wants it. */
const failedBy = async (createStores: () => Stores): Promise<readonly string[]> => {
  const declared = new Map<string, () => Promise<void>>()
  storeContract(
    (title, body) => declared.set(title, body),
    async () => createStores()
  )
  assert.ok(declared.size > 160)
  const failed: string[] = []
  for (const [title, body] of declared) await body().catch(() => failed.push(title))
  return failed
}

t.test('the suites pass the stores in memory, and fail those that break a promise', async t => {
  t.strictSame(await failedBy(createMemoryStores), [])
  const lax = (change: (stores: Stores) => Partial<Stores>) =>
    failedBy(() => {
      const stores = createMemoryStores()
      return { ...stores, ...change(stores) }
    })
  const twice = await lax(({ codes }) => ({
    codes: {
      ...codes,
      async redeem(digest, token) {
        const winner = (await codes.find(digest))?.spent === false
        await codes.redeem(digest, token)
        return winner
      }
    }
  }))
  t.ok(
    twice.some(title => /^codes: .*twenty/.test(title)),
    twice.join('\n')
  )
  const unordered = await lax(({ heroes }) => ({
    heroes: { ...heroes, list: async query => (await heroes.list(query)).toReversed() }
  }))
  t.ok(unordered.includes('heroes: the list is ordered by id, even after a hero is renamed'))
  const forgetful = await lax(({ grants }) => ({ grants: { ...grants, revoke: async () => true } }))
  t.ok(forgetful.length > 5, forgetful.join('\n'))
})
