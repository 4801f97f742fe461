import t from 'tap'
import { createMemoryStores } from '../../adapters/memory/stores.js'
import { type ClientCredentials, DomainError, type SecurityEvent, type TokenRequest } from '../../core/index.js'
import { ADA, addClient, blankRequest, createWorld, notingIn, SECRET } from '../support/world.js'

const CREDENTIALS: ClientCredentials = { id: 'app', secret: SECRET }
const MALLORY = { username: 'mallory', password: 'a guess' }

/** A world in which a login as {@link MALLORY} has just been refused, as too many were tried. */
const createThrottled = async () => {
  const memory = createMemoryStores()
  const calls: string[] = []
  const noted = notingIn(calls)
  const { clients, users, attempts } = memory
  const stores = { ...memory, clients: noted(clients), users: noted(users), attempts: noted(attempts) }
  const events: SecurityEvent[] = []
  const policy = { loginAttempts: 1, loginWindowSeconds: 100 }
  const world = createWorld({ stores, policy, events: { tell: event => events.push(event) } })
  await addClient(world, 'app')
  await addClient(world, 'open', { secret: undefined })
  await world.useCases.registerUser(ADA)
  const ask = async (changes: Partial<TokenRequest> = {}, candidates: readonly ClientCredentials[] = [CREDENTIALS]) => {
    calls.splice(0)
    events.splice(0)
    const request = { ...blankRequest, grantType: 'password', ...MALLORY, ...changes }
    const answer = await world.useCases.requestToken(candidates, request).then(
      () => 'ok',
      (error: unknown) => (error instanceof DomainError ? (error.retryAfterSeconds ?? error.code) : String(error))
    )
    return { answer, calls: [...calls], events: [...events] }
  }
  await ask()
  const { answer } = await ask()
  return { ...world, ask, refused: answer }
}

t.test('a login that is refused again within a second asks no store, whatever the password', async t => {
  const { ask, refused, clock } = await createThrottled()
  t.equal(refused, 100)
  clock.advance(0.999)
  const again = await ask({ password: 'another guess', requestId: 'r-1' })
  t.strictSame(again, {
    answer: 100,
    calls: [],
    events: [
      {
        event: 'login.throttled',
        client: 'app',
        address: '192.0.2.1',
        requestId: 'r-1',
        reason: 'username_and_address'
      }
    ]
  })
  clock.advance(0.001)
  const later = await ask()
  t.equal(later.answer, 99)
  t.ok(later.calls.includes('find'))
  t.strictSame((await ask()).calls, [])
})

t.test('a public client is remembered like any other', async t => {
  const { ask } = await createThrottled()
  const open: readonly ClientCredentials[] = [{ id: 'open' }]
  t.equal((await ask({}, open)).answer, 100)
  t.strictSame((await ask({}, open)).calls, [])
  t.strictSame((await ask({}, [{ id: 'open', secret: '' }])).calls, [])
  t.equal((await ask({}, [{ id: 'open', secret: 'x' }])).answer, 'invalid_client')
})

t.test('what differs from the request that was refused is judged from the beginning', async t => {
  const { ask } = await createThrottled()
  const others: readonly [string, Partial<TokenRequest>, (readonly ClientCredentials[])?][] = [
    ['invalid_client', {}, [{ id: 'app', secret: 'wrong' }]],
    ['invalid_client', {}, [{ id: 'app', secret: 'x'.repeat(2049) }]],
    ['invalid_client', {}, [{ id: 'nobody', secret: SECRET }]],
    ['invalid_client', {}, []],
    ['invalid_scope', { scope: 'c' }],
    ['invalid_scope', { scope: 'a '.repeat(4000) }],
    ['invalid_request', { username: undefined }],
    ['invalid_request', { password: undefined }],
    ['invalid_grant', { password: '\0' }],
    ['invalid_grant', { username: 'somebody' }],
    ['invalid_grant', { address: '192.0.2.2' }],
    ['unsupported_grant_type', { grantType: 'nonsense' }],
    ['ok', ADA]
  ]
  for (const [expected, changes, candidates] of others) {
    t.equal((await ask(changes, candidates)).answer, expected, JSON.stringify([changes, candidates]).slice(0, 100))
  }
  const twice = await ask({}, [{ id: 'app', secret: 'read otherwise' }, CREDENTIALS])
  t.equal(twice.answer, 100)
  t.strictSame(twice.calls.slice(0, 2), ['find', 'find'])
  t.strictSame((await ask()).calls, [], 'the first one is still remembered')
})

t.test('a client that was refused a moment ago opens nothing once it is gone', async t => {
  const { ask, useCases } = await createThrottled()
  await useCases.removeClient('app')
  t.equal((await ask(ADA)).answer, 'invalid_client')
  t.equal((await ask()).answer, 100)
  t.equal((await ask({ address: '192.0.2.2' })).answer, 'invalid_client')
})
