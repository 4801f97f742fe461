import t from 'tap'
import { createUseCases, DomainError } from '../../core/index.js'
import { signal, turns } from '../support/waiting.js'
import { ADA, addClient, blankRequest, createClock, createWorld, type World } from '../support/world.js'

const FROM = '192.0.2.1'
const POLICY = { loginAttempts: 1, loginWindowSeconds: 100 }

type Login = (password: string, username?: string, address?: string, network?: string) => Promise<string | number>

/** A login by password: `ok`, or why it was refused, or after how many seconds it may come again. */
const loginOf = async ({ useCases }: Pick<World, 'useCases'>): Promise<Login> => {
  const client = await useCases.findClient('app')
  return (password, username = ADA.username, address = FROM, network = undefined) =>
    useCases.issueToken(client, { ...blankRequest, grantType: 'password', username, password, address, network }).then(
      () => 'ok',
      (error: unknown) => (error instanceof DomainError ? (error.retryAfterSeconds ?? error.code) : String(error))
    )
}

const createThrottled = async () => {
  const world = createWorld({ policy: POLICY })
  await addClient(world, 'app')
  await world.useCases.registerUser(ADA)
  return { ...world, login: await loginOf(world) }
}

t.test('a refusal tells the time that is left, until the end of its window', async t => {
  const { login, clock } = await createThrottled()
  await login('wrong')
  clock.advance(10.2)
  t.equal(await login('wrong'), 90)
  clock.advance(0.9)
  t.equal(await login('wrong'), 89)
  clock.advance(88.8)
  t.equal(await login(ADA.password), 1)
  clock.advance(0.1)
  t.equal(await login(ADA.password), 'ok')
})

t.test('what another instance clears is seen at once', async t => {
  const { login, ports, policy } = await createThrottled()
  const other = await loginOf({ useCases: createUseCases(ports, policy) })
  await login('wrong')
  t.equal(await login(ADA.password), 100)
  await ports.attempts.giveBack([], await ports.secrets.digest(`pair ${FROM} ${ADA.username}`))
  t.equal(await other(ADA.password), 'ok')
  t.equal(await login(ADA.password), 'ok')
})

t.test('a right password whose success cannot be noted gives its attempt back', async t => {
  const { ports, useCases } = createWorld()
  await addClient({ useCases }, 'app')
  await useCases.registerUser(ADA)
  const { attempts } = ports
  const giveBack: typeof attempts.giveBack = (counted, cleared, known) =>
    known === undefined ? attempts.giveBack(counted, cleared) : Promise.reject(new DomainError('unavailable', 'away'))
  const login = await loginOf({ useCases: createUseCases({ ...ports, attempts: { ...attempts, giveBack } }, POLICY) })
  for (let time = 0; time < 3; time += 1) t.equal(await login(ADA.password), 'unavailable')
  const away = () => Promise.reject(new DomainError('overloaded', 'away too'))
  const none = await loginOf({
    useCases: createUseCases({ ...ports, attempts: { ...attempts, giveBack: away } }, POLICY)
  })
  t.equal(await none(ADA.password), 'overloaded')
})

t.test('where attempts under way fill a count, a login may come again after a second', async t => {
  const { login } = await createThrottled()
  const answers = Promise.all([login(ADA.password), login(ADA.password)])
  t.strictSame(new Set(await answers), new Set(['ok', 1]))
  t.equal(await login(ADA.password), 'ok')
})

t.test("a user who is known from an address is told when the pair's count has room, whatever else is full", async t => {
  const { login, clock } = await createThrottled()
  t.equal(await login(ADA.password), 'ok')
  clock.advance(100)
  const others = (count: number, network: number) =>
    Promise.all(Array.from({ length: count }, (_, host) => login('wrong', ADA.username, `198.51.${network}.${host}`)))
  await others(1, 1)
  clock.advance(60)
  t.equal(await login('wrong'), 'invalid_grant')
  clock.advance(40)
  await others(10, 2)
  t.equal(await login('wrong', ADA.username, '198.51.3.1'), 100, "the username's count is full")
  clock.advance(10)
  t.equal(await login(ADA.password), 50)
  clock.advance(50)
  t.strictSame(new Set(await Promise.all([login(ADA.password), login(ADA.password)])), new Set(['ok', 1]))
})

t.test('a login is answered when it is stored that it has succeeded, and fails when that cannot be stored', async t => {
  const world = createWorld()
  const { attempts } = world.ports
  let untilStored: () => Promise<void> = async () => {}
  const useCases = createUseCases(
    {
      ...world.ports,
      attempts: { ...attempts, giveBack: (...given) => untilStored().then(() => attempts.giveBack(...given)) }
    },
    world.policy
  )
  const client = await addClient({ useCases }, 'app')
  await useCases.registerUser(ADA)
  const attempt = { ...blankRequest, ...ADA, address: FROM }
  const authorization = { client, scopes: [], redirectUri: undefined, challenge: undefined }
  const logins: Readonly<Record<string, () => Promise<unknown>>> = {
    password: () => useCases.issueToken(client, { ...attempt, grantType: 'password' }),
    page: () => useCases.authorize(authorization, attempt)
  }
  for (const [name, logIn] of Object.entries(logins)) {
    const [begun, stored] = [signal(), signal()]
    untilStored = () => {
      begun.give()
      return stored.given
    }
    let answered = false
    const answer = logIn().then(() => {
      answered = true
    })
    await begun.given
    await turns(5)
    t.notOk(answered, name)
    stored.give()
    await answer
    untilStored = () => Promise.reject(new DomainError('unavailable', 'away'))
    await t.rejects(logIn(), { code: 'unavailable' }, name)
  }
})

t.test(
  'a network has a hundred times as many attempts as a pair, and a known login is exempt from its count',
  async t => {
    const { login } = await createThrottled()
    const network = '2001:db8:1::/48'
    t.equal(await login(ADA.password, ADA.username, '2001:db8:1:1::/64', network), 'ok')
    for (let i = 0; i < 100; i += 1) {
      const address = `2001:db8:1:${(100 + Math.floor(i / 10)).toString(16)}::/64`
      t.equal(await login('wrong', `nobody-${i}`, address, network), 'invalid_grant')
    }
    t.equal(await login('wrong', 'somebody', '2001:db8:1:ffff::/64', network), 100)
    t.equal(await login('wrong', 'somebody', '2001:db8:2:ffff::/64', '2001:db8:2::/48'), 'invalid_grant')
    t.equal(await login(ADA.password, ADA.username, '2001:db8:1:1::/64', network), 'ok')
  }
)

t.test('where the network is the address itself, each has its own count', async t => {
  const { login } = await createThrottled()
  for (let i = 0; i < 10; i += 1) t.equal(await login('wrong', `nobody-${i}`, 'a', 'a'), 'invalid_grant')
  t.type(await login('wrong', 'somebody', 'a', 'a'), 'number')
  const { useCases } = createWorld({ policy: { registerAttempts: 2 } })
  const origin = { address: 'a', network: 'a' }
  for (const username of ['x', 'y']) await useCases.registerUser({ username, password: 'x' }, origin)
  await t.rejects(useCases.registerUser({ username: 'z', password: 'x' }, origin), { code: 'too_many_attempts' })
})

t.test('a network has ten times as many registrations as an address', async t => {
  const { useCases } = createWorld({ policy: { registerAttempts: 1 } })
  const register = (number: number, network: string) =>
    useCases
      .registerUser({ username: `user-${number}`, password: 'x' }, { address: `${network}${number}`, network })
      .then(
        () => 'ok',
        ({ code }) => code
      )
  for (let i = 0; i < 10; i += 1) t.equal(await register(i, 'a'), 'ok')
  t.equal(await register(10, 'a'), 'too_many_attempts')
  t.equal(await register(11, 'b'), 'ok')
})

t.test('a login is known for thirty days, whatever the time of day', async t => {
  const clock = createClock(new Date('2026-01-01T23:00:00.000Z'))
  const world = createWorld({ policy: POLICY, clock })
  await addClient(world, 'app')
  await world.useCases.registerUser(ADA)
  const login = await loginOf(world)
  t.equal(await login(ADA.password), 'ok')
  clock.advance(30 * 86_400 - 1)
  for (let i = 0; i < 12; i += 1) await login('wrong', ADA.username, `198.51.100.${i}`)
  t.equal(await login(ADA.password), 'ok')
})

t.test('an address is locked out, and not all of its network', async t => {
  const { login } = await createThrottled()
  const network = '2001:db8::/48'
  t.equal(await login('wrong', ADA.username, '2001:db8:0:1::/64', network), 'invalid_grant')
  t.equal(await login(ADA.password, ADA.username, '2001:db8:0:2::/64', network), 'ok')
})

t.test('the time that is left is told in whole seconds, and never as less', async t => {
  const { login, clock } = await createThrottled()
  await login('wrong')
  clock.advance(10.7)
  t.equal(await login('wrong'), 90)
})

t.test('a count that attempts under way have filled is open again in a second, although another was full', async t => {
  const { login, ports, clock } = await createThrottled()
  const [pair = '', username = ''] = await Promise.all(
    [`pair ${FROM} ${ADA.username}`, `username ${ADA.username}`].map(key => ports.secrets.digest(key))
  )
  await ports.attempts.take([{ key: pair, most: 1 }], clock.now(), 100)
  for (let i = 0; i < 10; i += 1) await ports.attempts.take([{ key: username, most: 10 }], clock.now(), 100)
  await ports.attempts.fail([username])
  t.equal(await login(ADA.password), 1)
})

/** Registrations from addresses of one network, one of each address. */
const createRegistrations = () => {
  const world = createWorld({ policy: { registerAttempts: 1, loginWindowSeconds: 100 } })
  const register = (username: string, address: string) =>
    world.useCases.registerUser({ username, password: 'x' }, { address, network: 'n' })
  return { ...world, register }
}

t.test('a window that ends too late is begun anew, and no other with it', async t => {
  const { register, ports, clock } = createRegistrations()
  const key = await ports.secrets.digest('registrations a')
  await ports.attempts.take([{ key, most: 1 }], new Date(clock.now().getTime() + 3_600_000), 100)
  for (let i = 0; i < 10; i += 1) await register(`b${i}`, `b${i}`)
  await t.rejects(register('c', 'a'), { code: 'too_many_attempts' }, 'the count of the network holds')
})

t.test('of several full windows the one that ends last tells the time that is left', async t => {
  const { register, clock } = createRegistrations()
  await register('first', 'a')
  clock.advance(50)
  await register('second', 'b')
  clock.advance(50)
  for (let i = 0; i < 10; i += 1) await register(`c${i}`, `c${i}`)
  clock.advance(40)
  await t.rejects(register('third', 'b'), { code: 'too_many_attempts', retryAfterSeconds: 60 })
})

t.test('a known and an unknown name take the same look-ups to refuse', async t => {
  const { ports, policy } = await createThrottled()
  const looked = t.capture(ports.attempts, 'findKnown', ports.attempts.findKnown)
  const login = await loginOf({ useCases: createUseCases(ports, policy) })
  for (const username of [ADA.username, 'nobody']) {
    await login('wrong', username)
    t.equal(looked().length, 1, username)
  }
})
