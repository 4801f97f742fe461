import t from 'tap'
import { createCrypto } from '../../../../adapters/crypto/crypto.js'
import { createUseCases, type HashCaller, type PasswordHasher } from '../../../../core/index.js'
import { basic, createInhabited, createService, REQUEST, type Service } from '../../../support/service.js'
import { addClient, cheapest, createWorld } from '../../../support/world.js'

const E_ACUTE = ['\u00e9', 'e\u0301'] as const

/** The statuses of the password grant and of the login page. */
const logins = async ({ form }: Service, username: string, password: string): Promise<[number, number]> => [
  (await form('/auth/token', { grant_type: 'password', username, password }, basic('app'))).statusCode,
  (await form('/auth/code', { ...REQUEST, username, password })).statusCode
]

const RIGHT = [200, 302]
const WRONG = [400, 403]

const withClient = async (policy = {}): Promise<Service> => {
  const service = createService({ policy: { loginAttempts: 0, ...policy } })
  await addClient(service, 'app')
  return service
}

t.test('wire 4.6: usernames and passwords are put into NFC before they are stored, answered and compared', async t => {
  const service = await withClient()
  const [composed, decomposed] = E_ACUTE
  const answer = await service.json('POST', '/register', { username: decomposed, password: `${decomposed}!` })
  t.equal(answer.json().username, composed)
  t.equal((await service.json('POST', '/register', { username: composed, password: 'x' })).statusCode, 409)
  for (const username of E_ACUTE) {
    for (const e of E_ACUTE) t.strictSame(await logins(service, username, `${e}!`), RIGHT)
  }
})

t.test('wire 4.6: usernames and passwords differ by case, by spaces and by compatibility characters', async t => {
  const service = await withClient()
  await service.json('POST', '/register', { username: 'Ada', password: 'Secret' })
  t.strictSame(await logins(service, 'Ada', 'Secret'), RIGHT)
  for (const [username, password] of [
    ['ada', 'Secret'],
    ['Ada', 'secret'],
    ['Ada ', 'Secret'],
    ['Ada', 'Secret '],
    ['Ａda', 'Secret']
  ] as const) {
    t.strictSame(await logins(service, username, password), WRONG)
  }
  t.equal((await service.json('POST', '/register', { username: 'ada', password: 'x' })).statusCode, 200)
})

t.test('wire 4.6: the lengths of usernames and passwords are counted in code points, after NFC', async t => {
  const { json } = await withClient()
  const status = async (username: string, password: string) =>
    (await json('POST', '/register', { username, password })).statusCode
  t.equal(await status('u'.repeat(255), 'p'), 200)
  t.equal(await status('u'.repeat(256), 'p'), 400)
  t.equal(await status('🦸'.repeat(255), 'p'), 200)
  t.equal(await status('🦸'.repeat(256), 'p'), 400)
  t.equal(await status('e\u0301'.repeat(255), 'p'), 200)
  t.equal(await status('e\u0301'.repeat(256), 'p'), 400)
  t.equal(await status('a', 'p'.repeat(1024)), 200)
  t.equal(await status('b', 'p'.repeat(1025)), 400)
  t.equal(await status('b', '🦸'.repeat(1024)), 200)
  t.equal(await status('c', '🦸'.repeat(1025)), 400)
  t.equal(await status('c', '\u03b1\u0313\u0300\u0345'.repeat(1024)), 200, 'NFC makes one code point of these four')
  t.equal(await status('', 'p'), 400)
  t.equal(await status('d', ''), 400)
})

t.test('wire 4.6: the shortest password has PASSWORD_MIN_LENGTH code points', async t => {
  const { json } = await withClient({ passwordMinLength: 12 })
  const status = async (username: string, password: string) =>
    (await json('POST', '/register', { username, password })).statusCode
  t.equal(await status('a', 'x'.repeat(11)), 400)
  t.equal(await status('a', 'e\u0301'.repeat(6)), 400)
  t.equal(await status('a', 'x'.repeat(12)), 200)
})

t.test('the longest password logs in, and a longer one is wrong', async t => {
  const service = await withClient()
  await service.json('POST', '/register', { username: 'ada', password: '🦸'.repeat(1024) })
  t.strictSame(await logins(service, 'ada', '🦸'.repeat(1024)), RIGHT)
  t.strictSame(await logins(service, 'ada', '🦸'.repeat(1025)), WRONG)
  t.strictSame(await logins(service, 'u'.repeat(256), 'x'), WRONG)
})

t.test('megabytes of combining marks out of order are refused without being put into order', async t => {
  const service = await withClient()
  const refuse = async (text: string): Promise<number> => {
    const before = process.cpuUsage()
    t.equal((await service.json('POST', '/register', { username: text, password: 'x' })).statusCode, 400)
    t.equal((await service.json('POST', '/register', { username: 'ada', password: text })).statusCode, 400)
    t.strictSame(await logins(service, text, 'x'), [400, 400], 'a value of a form may not be so long')
    t.strictSame(await logins(service, 'ada', text), [400, 400])
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
  const plain = await refuse('\u0416'.repeat(600_001))
  const marks = await refuse(`a${'\u0315'.repeat(300_000)}${'\u0316'.repeat(300_000)}`)
  t.ok(
    marks < 10 * plain,
    `the marks take ${marks / plain} times the processor time of as many letters; ICU alone would take hours`
  )
  t.strictSame(await service.ports.users.list({}), [])
})

t.test('wire 4.8: an unknown username gets the same answer as a wrong password', async t => {
  const { form } = await createInhabited()
  for (const answers of [
    await Promise.all(
      ['ada', 'nobody'].map(username =>
        form('/auth/token', { grant_type: 'password', username, password: 'wrong' }, basic('app'))
      )
    ),
    await Promise.all(
      ['ada', 'nobody'].map(username => form('/auth/code', { ...REQUEST, username, password: 'wrong' }))
    )
  ]) {
    const [known, unknown] = answers.map(({ statusCode, payload }) => ({
      statusCode,
      payload: payload.replaceAll('nobody', 'ada')
    }))
    t.strictSame(known, unknown)
  }
})

t.test('a hash that was made with other parameters is replaced at the next login', async t => {
  const world = createWorld()
  const stronger = createCrypto({ parameters: { ...cheapest, timeCost: 2 } })
  const upgraded = createUseCases({ ...world.ports, ...stronger }, world.policy)
  const service = createService({ useCases: upgraded })
  await addClient(world, 'app')
  await world.useCases.registerUser({ username: 'ada', password: 'x' })
  const hash = async () => (await world.ports.users.findByUsername('ada'))?.password.hash
  const before = await hash()
  await logins(service, 'ada', 'wrong')
  t.equal(await hash(), before, 'a wrong password replaces nothing')
  t.strictSame(await logins(service, 'ada', 'x'), RIGHT)
  const after = await hash()
  t.match(after, /t=2/)
  t.strictSame(await logins(service, 'ada', 'x'), RIGHT)
  t.equal(await hash(), after)
})

t.test(
  'the hasher learns for which address and for what it hashes, registrations of the command line aside',
  async t => {
    const world = createWorld()
    const given: (HashCaller | undefined)[] = []
    const { hash, verify } = world.ports.passwords
    const passwords: PasswordHasher = {
      ...world.ports.passwords,
      hash(password, caller) {
        given.push(caller)
        return hash(password, caller)
      },
      verify(password, stored, caller) {
        given.push(caller)
        return verify(password, stored, caller).then(verdict => (verdict === 'match' ? 'stale' : verdict))
      }
    }
    const useCases = createUseCases({ ...world.ports, passwords }, world.policy)
    const service = createService({ useCases })
    await addClient({ useCases }, 'app')
    await service.json('POST', '/register', { username: 'ada', password: 'x' })
    await useCases.registerUser({ username: 'bob', password: 'x' })
    await logins(service, 'ada', 'x')
    await logins(service, 'nobody', 'x')
    const place = { address: '192.0.2.1', network: undefined }
    const login = { ...place, priority: 'login' }
    const rehash = { ...place, priority: 'rehash' }
    t.strictSame(given, [
      { ...place, address: '127.0.0.1', priority: 'registration' },
      { ...place, address: undefined, priority: 'registration' },
      ...[login, rehash, { ...login, priority: 'known_login' }, rehash],
      ...[login, login]
    ])
  }
)

t.test(
  'set-password, revoke and remove end the tokens of a user, and are not_found where there is no such user',
  async t => {
    const { useCases, login } = await createInhabited()
    const ends: [string, () => Promise<void>][] = [
      ['revoke', () => useCases.revokeUser('ada')],
      ['set-password', () => useCases.setPassword({ username: 'ada', password: 'correct horse' })],
      ['remove', () => useCases.removeUser('ada')]
    ]
    for (const [name, end] of ends) {
      const { access_token } = await login()
      await t.resolves(useCases.verifyBearer(access_token, undefined), name)
      await end()
      await t.rejects(useCases.verifyBearer(access_token, undefined), { code: 'invalid_token' }, name)
    }
    for (const [name, end] of ends) await t.rejects(end(), { code: 'not_found' }, name)
    t.strictSame((await useCases.userPage({ limit: 1 })).users, [])
  }
)

t.test('a username is found in whatever Unicode form it is typed', async t => {
  const { useCases } = createService()
  await useCases.registerUser({ username: E_ACUTE[0], password: 'x' })
  await useCases.setPassword({ username: E_ACUTE[1], password: 'y' })
  await useCases.revokeUser(E_ACUTE[1])
  await useCases.removeUser(E_ACUTE[1])
  await t.rejects(useCases.setPassword({ username: 'a', password: '' }), { code: 'invalid_input' })
})
