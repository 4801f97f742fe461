import t, { type Test } from 'tap'
import { createUseCases, DomainError, type Ports } from '../../../../core/index.js'
import { basic, createService, REQUEST, type Service } from '../../../support/service.js'
import { onEveryStore } from '../../../support/stores.js'
import { signal } from '../../../support/waiting.js'
import {
  addTenant,
  blankRequest,
  createFaults,
  createWorld,
  type Stores,
  type Tenant,
  type TestClock
} from '../../../support/world.js'

interface Throttled extends Service, Tenant {
  /** The address that requests come from unless another is given. */
  readonly address: string
  /** The status of the password grant. */
  token(password: string, from?: string, username?: string): Promise<number>
  /** The status of the login page. */
  page(password: string, from?: string): Promise<number>
}

const addressOf = ({ number }: Tenant): string => `192.0.2.${number}`

/** A service with a client and a user, who has three attempts in a hundred seconds. */
const throttled = async (stores: Stores): Promise<Throttled> => {
  const service = createService({ stores, policy: { loginAttempts: 3, loginWindowSeconds: 100 } })
  const tenant = await addTenant(service, { password: 'right' })
  const { id, user } = tenant
  const address = addressOf(tenant)
  return {
    ...service,
    ...tenant,
    address,
    async token(password, from = address, username = user.username) {
      const form = { grant_type: 'password', username, password }
      return (await service.form('/auth/token', form, basic(id), from)).statusCode
    },
    async page(password, from = address) {
      const form = { ...REQUEST, client_id: id, username: user.username, password }
      return (await service.form('/auth/code', form, {}, from)).statusCode
    }
  }
}

interface Held {
  /** Sends this many logins with the password at once. Resolves once each is refused or waits for its verdict. */
  begin(count: number, password: string): Promise<Begun>
  /** The answer to one login with the right password, from the address of the others. */
  login(): Promise<Answer>
  readonly clock: TestClock
}

interface Begun {
  readonly refused: readonly Answer[]
  /** Lets the verdicts be given. Resolves with the answers to the attempts that were counted. */
  judge(): Promise<readonly Answer[]>
}

interface Answer {
  readonly status: number
  readonly retryAfter: unknown
}

/** A user with ten attempts in a hundred seconds, whose logins get no verdict before the test lets them. */
const held = async (stores: Stores): Promise<Held> => {
  const world = createWorld({ stores, policy: { loginAttempts: 10, loginWindowSeconds: 100 } })
  const tenant = await addTenant(world, { password: 'right' })
  const { passwords } = world.ports
  let judging = signal()
  judging.give()
  let counted = () => {}
  const useCases = createUseCases(
    {
      ...world.ports,
      passwords: {
        ...passwords,
        async verify(...given) {
          counted()
          await judging.given
          return passwords.verify(...given)
        }
      }
    },
    world.policy
  )
  const service = createService({ useCases })
  const send = async (password: string): Promise<Answer> => {
    const form = { grant_type: 'password', username: tenant.user.username, password }
    const { statusCode, headers } = await service.form('/auth/token', form, basic(tenant.id), addressOf(tenant))
    return { status: statusCode, retryAfter: headers['retry-after'] }
  }
  return {
    clock: world.clock,
    login: () => send('right'),
    async begin(count, password) {
      judging = signal()
      const refused: Answer[] = []
      const expected = signal()
      let known = 0
      counted = () => {
        known += 1
        if (known === count) expected.give()
      }
      const answers = Array.from({ length: count }, async () => {
        const answer = await send(password)
        if (answer.status === 429) {
          refused.push(answer)
          counted()
        }
        return answer
      })
      await expected.given
      return {
        refused,
        async judge() {
          judging.give()
          return (await Promise.all(answers)).filter(answer => !refused.includes(answer))
        }
      }
    }
  }
}

interface Failing {
  /**
   * While one of these is set, logins fail with it when they look up the user, check the password, note the failure or
   * give an attempt back.
   */
  readonly faults: { lookup?: Error; verdict?: Error; fail?: Error; giveBack?: Error }
  /** `ok`, or the code with which the password grant is refused. */
  login(password: string, from?: string, username?: string): Promise<string>
}

/** A user with two attempts in a hundred seconds, over ports that can be told to fail. */
const failing = async (stores: Stores): Promise<Failing> => {
  const world = createWorld({ stores, policy: { loginAttempts: 2, loginWindowSeconds: 100 } })
  const tenant = await addTenant(world, { password: 'right' })
  const { users, attempts, passwords } = world.ports
  const { faults, orFail } = createFaults<keyof Failing['faults']>()
  const ports: Ports = {
    ...world.ports,
    users: { ...users, findByUsername: orFail('lookup', users.findByUsername) },
    passwords: { ...passwords, verify: orFail('verdict', passwords.verify) },
    attempts: {
      ...attempts,
      fail: orFail('fail', attempts.fail),
      giveBack: orFail('giveBack', attempts.giveBack)
    }
  }
  const useCases = createUseCases(ports, world.policy)
  const client = await useCases.findClient(tenant.id)
  return {
    faults,
    login: (password, address = addressOf(tenant), username = tenant.user.username) =>
      useCases.issueToken(client, { ...blankRequest, grantType: 'password', username, password, address }).then(
        () => 'ok',
        (error: unknown) => (error instanceof DomainError ? error.code : String(error))
      )
  }
}

const OVERLOADED = new DomainError('overloaded', 'too many logins are waiting', { retryAfterSeconds: 1 })
const AWAY = new DomainError('unavailable', 'the database cannot be reached', { retryAfterSeconds: 1 })

t.test('wire 4.9: the throttle', t =>
  onEveryStore(t, async (t, stores) => {
    const test = (name: string, run: (t: Test) => Promise<void>): Promise<unknown> => t.test(name, run)

    await test('wire 2.11: after LOGIN_ATTEMPTS wrong ones the right password is 429 too, until the window ends', async t => {
      const { token, form, clock, id, user, address } = await throttled(stores)
      for (let i = 0; i < 3; i += 1) t.equal(await token('wrong'), 400)
      clock.advance(40.5)
      const answer = await form('/auth/token', { grant_type: 'password', ...user }, basic(id), address)
      t.equal(answer.statusCode, 429)
      t.equal(answer.headers['retry-after'], '60')
      t.strictSame(answer.json().error, 'temporarily_unavailable')
      t.has(answer.headers, { 'cache-control': 'no-store', pragma: 'no-cache' })
      clock.advance(59.499)
      t.equal(await token('right'), 429)
      clock.advance(0.001)
      t.equal(await token('right'), 200)
    })

    await test('/auth/token and /auth/code share one count', async t => {
      const { token, page } = await throttled(stores)
      t.equal(await token('wrong'), 400)
      t.equal(await page('wrong'), 403)
      t.equal(await token('wrong'), 400)
      t.equal(await page('right'), 429)
      t.equal(await token('right'), 429)
    })

    await test('a success gives its own attempt back and clears the count of its username and address', async t => {
      const { token } = await throttled(stores)
      for (let round = 0; round < 3; round += 1) {
        t.equal(await token('wrong'), 400)
        t.equal(await token('wrong'), 400)
        t.equal(await token('right'), 200)
      }
      for (let i = 0; i < 20; i += 1) t.equal(await token('right'), 200)
    })

    await test('a success clears neither the count of the username alone nor that of the address alone', async t => {
      const { token } = await throttled(stores)
      for (let i = 0; i < 30; i += 1) t.equal(await token('wrong', `198.51.100.${i}`), 400)
      t.equal(await token('right', '203.0.113.9'), 429, 'the username alone has had thirty wrong passwords')
    })

    await test('an address has ten times as many attempts for all usernames together', async t => {
      const { token } = await throttled(stores)
      const from = '203.0.113.77'
      for (let i = 0; i < 30; i += 1) t.equal(await token('wrong', from, `nobody-${i}`), 400)
      t.equal(await token('right', from), 429)
      t.equal(await token('right'), 200)
    })

    await test('who has logged in from an address gets in there, however many others fail with the username', async t => {
      const { token, page } = await throttled(stores)
      t.equal(await token('right'), 200)
      for (let i = 0; i < 30; i += 1) t.equal(await token('wrong', `198.51.100.${i}`), 400)
      t.equal(await token('right'), 200)
      t.equal(await page('right'), 302)
      t.equal(await token('right', '203.0.113.9'), 429, 'from another address nobody gets in')
    })

    await test('who has logged in from an address gets in there, however many others fail at the address', async t => {
      const { token, useCases, number } = await throttled(stores)
      await useCases.registerUser({ username: `new-${number}`, password: 'right' })
      t.equal(await token('right'), 200)
      for (let i = 0; i < 30; i += 1) t.equal(await token('wrong', undefined, `nobody-${i}`), 400)
      t.equal(await token('right'), 200)
      t.equal(await token('right', undefined, `new-${number}`), 429, 'another user has never logged in there')
      t.equal(await token('right', undefined, `nobody-${number}`), 429)
    })

    await test('who has logged in from an address is held up by the count of username and address', async t => {
      const { token } = await throttled(stores)
      t.equal(await token('right'), 200)
      for (let i = 0; i < 30; i += 1) await token('wrong', `198.51.100.${i}`)
      for (let round = 0; round < 2; round += 1) {
        t.equal(await token('wrong'), 400)
        t.equal(await token('wrong'), 400)
        t.equal(await token('right'), 200, 'a success clears it')
      }
      for (let i = 0; i < 3; i += 1) t.equal(await token('wrong'), 400)
      t.equal(await token('right'), 429)
    })

    await test('of twenty logins at once from where the user has logged in, no more than fit are counted', async t => {
      const { token } = await throttled(stores)
      t.equal(await token('right'), 200)
      for (let i = 0; i < 30; i += 1) await token('wrong', `198.51.100.${i}`)
      const statuses = await Promise.all(Array.from({ length: 20 }, () => token('wrong')))
      t.equal(statuses.filter(status => status === 400).length, 3)
    })

    await test('an address is known for thirty days after the last login there', async t => {
      const { token, clock, useCases } = await throttled(stores)
      const day = 24 * 60 * 60
      const fill = async () => {
        for (let i = 0; i < 30; i += 1) t.equal(await token('wrong', `198.51.100.${i}`), 400)
      }
      t.equal(await token('right'), 200)
      clock.advance(20 * day)
      t.equal(await token('right'), 200)
      clock.advance(30 * day)
      await useCases.sweep()
      await fill()
      t.equal(await token('wrong'), 400)
      clock.advance(day + 60)
      await fill()
      t.equal(await token('right'), 429)
      await useCases.sweep()
      t.equal(await token('right'), 429)
    })

    await test('a new user of an old name is known nowhere', async t => {
      const { token, useCases, user } = await throttled(stores)
      const { username } = user
      t.equal(await token('right'), 200)
      await useCases.removeUser(username)
      await useCases.registerUser({ username, password: 'right' })
      for (let i = 0; i < 30; i += 1) await token('wrong', `198.51.100.${i}`)
      t.equal(await token('right'), 429)
    })

    await test('each pair of a username and an address has a count of its own', async t => {
      const { token } = await throttled(stores)
      for (let i = 0; i < 3; i += 1) await token('wrong')
      t.equal(await token('right'), 429)
      t.equal(await token('right', '203.0.113.1'), 200)
      t.equal(await token('wrong', undefined, 'somebody'), 400)
    })

    await test('an IPv6 network of 64 bits counts as one address, and IPv4 in IPv6 counts as IPv4', async t => {
      const { token, number } = await throttled(stores)
      const net = `2001:db8:0:${number}`
      for (const host of ['::1', ':ffff:1:2:3', '::2']) t.equal(await token('wrong', `${net}${host}`), 400)
      t.equal(await token('right', `${net}:abcd::9`), 429)
      t.equal(await token('right', `2001:db8:1:${number}::1`), 200)
      for (let i = 0; i < 3; i += 1) await token('wrong', `::ffff:192.0.2.${100 + number}`)
      t.equal(await token('right', `192.0.2.${100 + number}`), 429)
    })

    await test('usernames that are equal in NFC have one count', async t => {
      const { token, number } = await throttled(stores)
      for (const username of ['\u00e9', 'e\u0301', '\u00e9'])
        t.equal(await token('wrong', undefined, `${username}${number}`), 400)
      t.equal(await token('wrong', undefined, `e\u0301${number}`), 429)
    })

    await test('of a hundred attempts at once no more are admitted than of attempts in turn', async t => {
      const { token } = await throttled(stores)
      const statuses = await Promise.all(Array.from({ length: 100 }, () => token('wrong')))
      t.equal(statuses.filter(status => status === 400).length, 3)
      t.equal(statuses.filter(status => status === 429).length, 97)
    })

    await test('of twenty right logins at once, those that do not fit may come again a second later', async t => {
      const { begin, login } = await held(stores)
      const { refused, judge } = await begin(20, 'right')
      t.strictSame(
        refused,
        Array.from({ length: 10 }, () => ({ status: 429, retryAfter: '1' }))
      )
      const counted = await judge()
      t.equal(counted.length, 10)
      for (const { status } of counted) t.equal(status, 200)
      t.has(await login(), { status: 200 })
    })

    await test('of twenty wrong logins at once, those that do not fit wait no longer than the others are judged', async t => {
      const { begin, login, clock } = await held(stores)
      const { refused, judge } = await begin(20, 'wrong')
      for (const { retryAfter } of refused) t.equal(retryAfter, '1')
      clock.advance(1)
      for (const { status } of await judge()) t.equal(status, 400)
      t.strictSame(await login(), { status: 429, retryAfter: '99' }, 'failures fill the count')
    })

    await test('an attempt without a verdict for ten seconds counts as a failure: its instance may have died', async t => {
      const { begin, login, clock } = await held(stores)
      const { judge } = await begin(10, 'right')
      clock.advance(9.999)
      t.strictSame(await login(), { status: 429, retryAfter: '1' })
      clock.advance(0.001)
      t.strictSame(await login(), { status: 429, retryAfter: '90' })
      await judge()
      t.has(await login(), { status: 200 }, 'a late success clears the count all the same')
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

    await test('LOGIN_ATTEMPTS=0 turns the throttle off', async t => {
      const service = createService({ stores, policy: { loginAttempts: 0 } })
      const { id } = await addTenant(service)
      for (let i = 0; i < 40; i += 1) {
        const fields = { grant_type: 'password', username: 'x', password: 'x' }
        t.equal((await service.form('/auth/token', fields, basic(id))).statusCode, 400)
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
        // More attempts than the pair, the username alone and the address alone may have.
        for (let i = 0; i < 25; i += 1) t.equal(await login('right'), error.code)
        delete faults[fault]
      }
      t.equal(await login('wrong'), 'invalid_grant')
      t.equal(await login('right'), 'ok')
    })

    await test('an attempt without a verdict clears no count', async t => {
      const { login, faults } = await failing(stores)
      t.equal(await login('wrong'), 'invalid_grant')
      faults.verdict = OVERLOADED
      t.equal(await login('right'), 'overloaded')
      delete faults.verdict
      t.equal(await login('wrong'), 'invalid_grant')
      t.equal(await login('right'), 'too_many_attempts')
    })

    await test('a login is refused for its own failure even when its attempt cannot be given back', async t => {
      const { login, faults } = await failing(stores)
      faults.verdict = OVERLOADED
      faults.giveBack = AWAY
      t.equal(await login('right'), 'overloaded')
      t.equal(await login('right'), 'overloaded')
      t.equal(await login('right'), 'too_many_attempts', 'both attempts are still counted')
    })

    await test('a wrong password is told as wrong even when the failure cannot be noted, and stays counted', async t => {
      const { login, faults } = await failing(stores)
      faults.fail = AWAY
      t.equal(await login('wrong'), 'invalid_grant')
      t.equal(await login('wrong'), 'invalid_grant')
      t.equal(await login('right'), 'too_many_attempts')
      faults.fail = new TypeError('a bug')
      t.equal(await login('wrong', '198.51.100.1'), 'TypeError: a bug', 'but a bug is not hidden')
    })

    await test('a hundred attempts at once that are refused as overloaded lock nobody out', async t => {
      const { login, faults } = await failing(stores)
      faults.verdict = OVERLOADED
      const codes = await Promise.all(Array.from({ length: 100 }, (_, i) => login('right', undefined, `nobody-${i}`)))
      t.strictSame(new Set(codes).has('invalid_grant'), false)
      delete faults.verdict
      t.equal(await login('right'), 'ok')
    })
  })
)
