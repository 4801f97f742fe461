import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createAttemptStore } from '../../adapters/postgres/attempts.js'
import type { Driver, Run } from '../../adapters/postgres/connection/driver.js'
import { connectServer } from '../../adapters/postgres/connection/server.js'
import { openServer } from '../../adapters/postgres/database.js'
import { createLookups } from '../../adapters/postgres/lookup/lookups.js'
import { createUserStore } from '../../adapters/postgres/users.js'
import { type Client, createUseCases, DomainError, type Ports } from '../../core/index.js'
import { createDatabase } from '../support/postgres.js'
import { turns } from '../support/waiting.js'
import { ADA, addClient, blankRequest, createWorld, type World } from '../support/world.js'

const FROM = '192.0.2.1'
const POLICY = { loginAttempts: 1, loginWindowSeconds: 100 }

type Login = (password: string, username?: string, address?: string) => Promise<string | number>

/** A login by password: `ok`, or why it was refused, or after how many seconds it may come again. */
const loginOf = async ({ useCases }: Pick<World, 'useCases'>): Promise<Login> => {
  const client = await useCases.findClient('app')
  return (password, username = ADA.username, address = FROM) =>
    useCases.issueToken(client, { ...blankRequest, grantType: 'password', username, password, address }).then(
      () => 'ok',
      (error: unknown) => (error instanceof DomainError ? (error.retryAfterSeconds ?? error.code) : String(error))
    )
}

interface Asked extends World {
  readonly login: Login
  /** How many attempts were brought to the store since the last call. */
  asked(): number
}

const createAsked = async (): Promise<Asked> => {
  const world = createWorld({ policy: POLICY })
  const { attempts } = world.ports
  let count = 0
  const ports: Ports = {
    ...world.ports,
    attempts: {
      ...attempts,
      take: (...given) => {
        count += 1
        return attempts.take(...given)
      }
    }
  }
  const useCases = createUseCases(ports, world.policy)
  await addClient({ useCases }, 'app')
  await useCases.registerUser(ADA)
  return {
    ...world,
    useCases,
    login: await loginOf({ useCases }),
    asked: () => {
      const asked = count
      count = 0
      return asked
    }
  }
}

/** A user, a client and their logins on a PostgreSQL server, and how many statements the logins have made. */
const createCounted = async (t: Test) => {
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  const database = await openServer(url, { pool: 2, prepare: true })
  t.teardown(() => database.close())
  await database.migrate()
  const driver = connectServer(url, { pool: 2, prepare: true })
  t.teardown(() => driver.close())
  let statements = 0
  const counting =
    (run: Run): Run =>
    (text, values) => {
      statements += 1
      return run(text, values)
    }
  const counted: Driver = {
    ...driver,
    read: counting(driver.read),
    write: counting(driver.write),
    probe: driver.probe,
    transaction: (name, work, options) => driver.transaction(name, run => work(counting(run)), options),
    close: driver.close
  }
  const lookups = createLookups(counted)
  const stores = {
    ...database.stores,
    users: createUserStore(counted, lookups),
    attempts: createAttemptStore(counted, lookups)
  }
  const world = createWorld({ stores, policy: POLICY })
  await addClient(world, 'app')
  await world.useCases.registerUser(ADA)
  return { ...world, login: await loginOf(world), statements: () => statements }
}

t.test('a thousand throttled logins in a second make a few statements and no write', async t => {
  const { login, clock, statements } = await createCounted(t)
  t.equal(await login('wrong'), 'invalid_grant')
  for (let i = 1; i < 10; i += 1) t.equal(await login('wrong', ADA.username, `198.51.100.${i}`), 'invalid_grant')
  // The username's count is full, so the user is looked up again, and whether he has logged in from there.
  const atFirst = 4
  for (const address of [FROM, '203.0.113.1']) {
    const before = statements()
    t.equal(await login('right', ADA.username, address), 100)
    t.equal(statements() - before, atFirst)
    for (let i = 0; i < 1000; i += 1) await login('right', ADA.username, address)
    t.equal(statements() - before, atFirst, address)
  }
  clock.advance(1)
  const before = statements()
  t.equal(await login('right'), 99)
  t.equal(statements() - before, atFirst, 'a second later the store is asked anew')
})

t.test('a remembered refusal tells the time that is left', async t => {
  const { login, clock, asked } = await createAsked()
  await login('wrong')
  clock.advance(10.2)
  t.equal(await login('wrong'), 90)
  asked()
  clock.advance(0.5)
  t.equal(await login('wrong'), 90)
  clock.advance(0.4)
  t.equal(await login('wrong'), 89)
  t.equal(asked(), 0)
})

t.test('a login that finds a refusal remembered, and no longer once its client is known, is judged', async t => {
  const { login, clock, useCases } = await createAsked()
  await login('wrong')
  await login('wrong')
  let found: (client: Client) => void = () => {}
  const client = new Promise<Client>(resolve => {
    found = resolve
  })
  const request = { ...blankRequest, grantType: 'password', ...ADA, address: FROM }
  const answer = useCases.issueToken(client, request)
  await turns(50)
  clock.advance(100)
  found(await useCases.findClient('app'))
  t.match(await answer, { accessToken: String })
})

t.test('a refusal is not remembered beyond the end of its window', async t => {
  const { login, clock } = await createAsked()
  await login('wrong')
  clock.advance(99.9)
  t.equal(await login(ADA.password), 1)
  clock.advance(0.1)
  t.equal(await login(ADA.password), 'ok')
})

t.test('what another instance clears is seen after a second', async t => {
  const { login, ports, policy, clock } = await createAsked()
  const other = await loginOf({ useCases: createUseCases(ports, policy) })
  await login('wrong')
  t.equal(await login(ADA.password), 100)
  // The counts as a success elsewhere leaves them, whose attempt was under way.
  const clear = async () => {
    const digest = await ports.secrets.digest(`pair ${FROM} ${ADA.username}`)
    await ports.attempts.giveBack([], digest)
  }
  await clear()
  t.equal(await other(ADA.password), 'ok')
  t.equal(await login(ADA.password), 100, 'remembered')
  clock.advance(1)
  t.equal(await login(ADA.password), 'ok')
})

t.test('a refusal for attempts under way is not remembered', async t => {
  const { login, asked } = await createAsked()
  const answers = Promise.all([login(ADA.password), login(ADA.password)])
  t.strictSame(new Set(await answers), new Set(['ok', 1]))
  asked()
  t.equal(await login(ADA.password), 'ok')
  t.equal(asked(), 1)
})

t.test("a user who is known from an address is told when the pair's count has room, whatever else is full", async t => {
  const { login, clock } = await createAsked()
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

t.test('ten thousand refusals are remembered, the last ones', async t => {
  const { login, asked } = await createAsked()
  for (let i = 0; i < 10; i += 1) t.equal(await login('wrong', `nobody-${i}`), 'invalid_grant')
  asked()
  const most = 10_000
  for (let i = 0; i <= most; i += 1) await login('wrong', `somebody-${i}`)
  t.equal(asked(), most + 1)
  await login('wrong', 'somebody-1')
  await login('wrong', `somebody-${most}`)
  t.equal(asked(), 0)
  await login('wrong', 'somebody-0')
  t.equal(asked(), 1)
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
    let store = (): void => {}
    untilStored = () =>
      new Promise(resolve => {
        store = resolve
      })
    let answered = false
    const answer = logIn().then(() => {
      answered = true
    })
    await sleep(50)
    t.notOk(answered, name)
    store()
    await answer
    untilStored = () => Promise.reject(new DomainError('unavailable', 'away'))
    await t.rejects(logIn(), { code: 'unavailable' }, name)
  }
})
