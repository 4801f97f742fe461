import t, { type Test } from 'tap'
import { createUseCases, DomainError, type Ports } from '../../../../core/index.js'
import { basic, createService, REQUEST, type Service } from '../../../support/service.js'
import { onEveryStore } from '../../../support/stores.js'
import { addClient, blankRequest, createWorld, type Stores } from '../../../support/world.js'

let setting = 0

interface Throttled extends Service {
  readonly username: string
  /** The status of the password grant. */
  token(password: string, from?: string, username?: string): Promise<number>
  /** The status of the login page. */
  page(password: string, from?: string): Promise<number>
}

/** A client and a user of its own, with three attempts in a hundred seconds. */
const throttled = async (stores: Stores): Promise<Throttled> => {
  setting += 1
  const username = `ada-${setting}`
  const service = createService({ stores, policy: { loginAttempts: 3, loginWindowSeconds: 100 } })
  const id = `app-${setting}`
  await addClient(service, id)
  await service.useCases.registerUser({ username, password: 'right' })
  return {
    ...service,
    username,
    async token(password, from = `192.0.2.${setting}`, name = username) {
      const form = { grant_type: 'password', username: name, password }
      return (await service.form('/auth/token', form, basic(id), from)).statusCode
    },
    async page(password, from = `192.0.2.${setting}`) {
      return (await service.form('/auth/code', { ...REQUEST, client_id: id, username, password }, {}, from)).statusCode
    }
  }
}

interface Failing {
  /** The next logins fail so: while the user is looked up, while the password is judged, while an attempt is given back. */
  readonly faults: { lookup?: Error; verdict?: Error; giveBack?: Error }
  /** `ok`, or the code with which the password grant is refused. */
  login(password: string, from?: string, username?: string): Promise<string>
}

/** A user with two attempts in a hundred seconds, over ports that can be told to fail. */
const failing = async (stores: Stores): Promise<Failing> => {
  setting += 1
  const name = `ada-${setting}`
  const world = createWorld({ stores, policy: { loginAttempts: 2, loginWindowSeconds: 100 } })
  const { users, attempts, passwords } = world.ports
  const faults: Failing['faults'] = {}
  const orFail =
    <A extends unknown[], R>(fault: keyof typeof faults, work: (...given: A) => Promise<R>) =>
    async (...given: A): Promise<R> => {
      const error = faults[fault]
      if (error !== undefined) throw error
      return work(...given)
    }
  const ports: Ports = {
    ...world.ports,
    users: { ...users, findByUsername: orFail('lookup', users.findByUsername) },
    passwords: { ...passwords, verify: orFail('verdict', passwords.verify) },
    attempts: { ...attempts, giveBack: orFail('giveBack', attempts.giveBack) }
  }
  const useCases = createUseCases(ports, world.policy)
  const client = await addClient(world, `app-${setting}`)
  await useCases.registerUser({ username: name, password: 'right' })
  return {
    faults,
    login: (password, from = `192.0.2.${setting}`, username = name) =>
      useCases.issueToken(client, { ...blankRequest, grantType: 'password', username, password, address: from }).then(
        () => 'ok',
        (error: unknown) => (error instanceof DomainError ? error.code : String(error))
      )
  }
}

const OVERLOADED = new DomainError('overloaded', 'too many logins are waiting', { retryAfterSeconds: 1 })
const AWAY = new DomainError('unavailable', 'the database cannot be reached', { retryAfterSeconds: 1 })

t.test('the throttle', t =>
  onEveryStore(t, async (t, stores) => {
    const test = (name: string, run: (t: Test) => Promise<void>): Promise<unknown> => t.test(name, run)

    await test('after LOGIN_ATTEMPTS wrong ones the right password is 429 too, until the window ends', async t => {
      const { token, form, clock, username } = await throttled(stores)
      for (let i = 0; i < 3; i += 1) t.equal(await token('wrong'), 400)
      clock.advance(40.5)
      const answer = await form(
        '/auth/token',
        { grant_type: 'password', username, password: 'right' },
        basic(`app-${setting}`),
        `192.0.2.${setting}`
      )
      t.equal(answer.statusCode, 429)
      t.equal(answer.headers['retry-after'], '60')
      t.strictSame(answer.json().error, 'temporarily_unavailable')
      t.match(answer.headers, { 'cache-control': 'no-store', pragma: 'no-cache' })
      clock.advance(59.499)
      t.equal(await token('right'), 429)
      clock.advance(0.001)
      t.equal(await token('right'), 200)
    })

    await test('/auth/token and /auth/code have one count, and the page says so', async t => {
      const { token, page } = await throttled(stores)
      t.equal(await token('wrong'), 400)
      t.equal(await page('wrong'), 403)
      t.equal(await token('wrong'), 400)
      t.equal(await page('right'), 429)
      t.equal(await token('right'), 429)
    })

    await test('a success gives its own attempt back and clears its pair', async t => {
      const { token } = await throttled(stores)
      for (let round = 0; round < 3; round += 1) {
        t.equal(await token('wrong'), 400)
        t.equal(await token('wrong'), 400)
        t.equal(await token('right'), 200)
      }
      for (let i = 0; i < 20; i += 1) t.equal(await token('right'), 200)
    })

    await test('a success does not clear the counts of the username and of the address alone', async t => {
      const { token } = await throttled(stores)
      for (let i = 0; i < 30; i += 1) t.equal(await token('wrong', `198.51.100.${i}`), 400)
      t.equal(await token('right', '203.0.113.9'), 429, 'thirty wrong ones from anywhere')
    })

    await test('an address has ten times the attempts, for whatever usernames', async t => {
      const { token } = await throttled(stores)
      const from = '203.0.113.77'
      for (let i = 0; i < 30; i += 1) t.equal(await token('wrong', from, `nobody-${i}`), 400)
      t.equal(await token('right', from), 429)
      t.equal(await token('right'), 200)
    })

    await test('another address and another username are another pair', async t => {
      const { token } = await throttled(stores)
      for (let i = 0; i < 3; i += 1) await token('wrong')
      t.equal(await token('right'), 429)
      t.equal(await token('right', '203.0.113.1'), 200)
      t.equal(await token('wrong', undefined, 'somebody'), 400)
    })

    await test('an IPv6 /64 counts as one address, and IPv4 in IPv6 as IPv4', async t => {
      const { token } = await throttled(stores)
      const net = `2001:db8:0:${setting}`
      for (const host of ['::1', ':ffff:1:2:3', '::2']) t.equal(await token('wrong', `${net}${host}`), 400)
      t.equal(await token('right', `${net}:abcd::9`), 429)
      t.equal(await token('right', `2001:db8:1:${setting}::1`), 200)
      for (let i = 0; i < 3; i += 1) await token('wrong', `::ffff:192.0.2.${100 + setting}`)
      t.equal(await token('right', `192.0.2.${100 + setting}`), 429)
    })

    await test('usernames that are one in NFC have one count', async t => {
      const { token } = await throttled(stores)
      for (const username of ['\u00e9', 'e\u0301', '\u00e9'])
        t.equal(await token('wrong', undefined, `${username}${setting}`), 400)
      t.equal(await token('wrong', undefined, `e\u0301${setting}`), 429)
    })

    await test('a hundred at once gain nothing', async t => {
      const { token } = await throttled(stores)
      const statuses = await Promise.all(Array.from({ length: 100 }, () => token('wrong')))
      t.equal(statuses.filter(status => status === 400).length, 3)
      t.equal(statuses.filter(status => status === 429).length, 97)
    })

    await test('refused attempts do not extend the window', async t => {
      const { token, clock } = await throttled(stores)
      for (let i = 0; i < 3; i += 1) await token('wrong')
      for (let i = 0; i < 10; i += 1) {
        clock.advance(9.9)
        t.equal(await token('right'), 429)
      }
      clock.advance(1)
      t.equal(await token('right'), 200)
    })

    await test('LOGIN_ATTEMPTS=0 turns it off', async t => {
      setting += 1
      const { form, useCases } = createService({ stores, policy: { loginAttempts: 0 } })
      await addClient({ useCases }, `app-${setting}`)
      for (let i = 0; i < 40; i += 1) {
        const fields = { grant_type: 'password', username: 'x', password: 'x' }
        t.equal((await form('/auth/token', fields, basic(`app-${setting}`))).statusCode, 400)
      }
    })

    await test('an attempt that ends without a verdict on the password counts nowhere', async t => {
      const { login, faults } = await failing(stores)
      for (const [fault, error] of [
        ['verdict', OVERLOADED],
        ['verdict', AWAY],
        ['lookup', AWAY]
      ] as const) {
        faults[fault] = error
        // More than fit under the pair, and under the username and the address alone.
        for (let i = 0; i < 25; i += 1) t.equal(await login('right'), error.code)
        delete faults[fault]
      }
      t.equal(await login('wrong'), 'invalid_grant')
      t.equal(await login('right'), 'ok')
    })

    await test('an attempt without a verdict clears no wrong ones', async t => {
      const { login, faults } = await failing(stores)
      t.equal(await login('wrong'), 'invalid_grant')
      faults.verdict = OVERLOADED
      t.equal(await login('right'), 'overloaded')
      delete faults.verdict
      t.equal(await login('wrong'), 'invalid_grant')
      t.equal(await login('right'), 'too_many_attempts')
    })

    await test('what ended an attempt is told even when the attempt cannot be given back', async t => {
      const { login, faults } = await failing(stores)
      faults.verdict = OVERLOADED
      faults.giveBack = AWAY
      t.equal(await login('right'), 'overloaded')
      t.equal(await login('right'), 'overloaded')
      t.equal(await login('right'), 'too_many_attempts', 'both are still counted')
    })

    await test('overloads of a hundred at once lock nobody out', async t => {
      const { login, faults } = await failing(stores)
      faults.verdict = OVERLOADED
      const codes = await Promise.all(Array.from({ length: 100 }, (_, i) => login('right', undefined, `nobody-${i}`)))
      t.strictSame(new Set(codes).has('invalid_grant'), false)
      delete faults.verdict
      t.equal(await login('right'), 'ok')
    })
  })
)
