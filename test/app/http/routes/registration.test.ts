import t, { type Test } from 'tap'
import { createUseCases, DomainError, type Policy, type Ports } from '../../../../core/index.js'
import { rivals } from '../../../contract/records.js'
import { basic, createService, type Service } from '../../../support/service.js'
import { onEveryStore } from '../../../support/stores.js'
import { ADA, addClient, createFaults, createWorld, type Stores } from '../../../support/world.js'

t.test('wire 4.2: REGISTRATION=closed', async t => {
  const { ask, json, ports, useCases } = createService({ registrationOpen: false, bodyLimit: 1000 })
  const closed = { error: 'registration is closed: ask the people who run this service for an account' }

  await t.test('/register is 403, whatever its body is, which is not read', async t => {
    const payload = JSON.stringify(ADA)
    for (const [headers, payloadSent] of [
      [{ 'content-type': 'application/json' }, payload],
      [{ 'content-type': 'text/plain' }, payload],
      [{ 'content-type': 'application/json' }, `"${'x'.repeat(2000)}"`],
      [{ 'content-type': 'application/json' }, '{'],
      [{ 'content-type': 'application/json', 'content-encoding': 'gzip' }, payload],
      [{}, '']
    ] as const) {
      const answer = await ask('/register', { method: 'POST', headers, payload: payloadSent })
      t.strictSame([answer.statusCode, answer.json()], [403, closed])
    }
    t.strictSame(await ports.users.list({}), [])
  })

  await t.test('an unknown path and another method are told first', async t => {
    t.equal((await json('POST', '/register/', ADA)).statusCode, 404)
    t.equal((await ask('/register')).statusCode, 405)
  })

  await t.test('users come by the use case that the command line calls', async t => {
    await useCases.registerUser(ADA)
    const users = await ports.users.list({})
    t.strictSame(
      users.map(({ username }) => username),
      ['ada']
    )
  })
})

let setting = 0

interface Registering extends Service {
  /** The status of a registration, by default of a new name from an address of this service alone. */
  register(options?: {
    readonly username?: string
    readonly password?: string
    readonly from?: string
  }): Promise<number>
  readonly faults: { lookup?: Error; hash?: Error; insert?: Error; giveBack?: Error }
}

/** A service with three registrations in a hundred seconds, whose ports can be told to fail. */
const registering = async (stores: Stores, policy: Partial<Policy> = {}): Promise<Registering> => {
  setting += 1
  const world = createWorld({ stores, policy: { registerAttempts: 3, loginWindowSeconds: 100, ...policy } })
  const { users, attempts, passwords } = world.ports
  const { faults, orFail } = createFaults<keyof Registering['faults']>()
  const ports: Ports = {
    ...world.ports,
    users: {
      ...users,
      findByUsername: orFail('lookup', users.findByUsername),
      insert: orFail('insert', users.insert)
    },
    passwords: { ...passwords, hash: orFail('hash', passwords.hash) },
    attempts: { ...attempts, giveBack: orFail('giveBack', attempts.giveBack) }
  }
  const service = createService({ useCases: createUseCases(ports, world.policy) })
  const own = setting
  let count = 0
  return {
    ...service,
    ...world,
    useCases: createUseCases(ports, world.policy),
    faults,
    async register({ username = `user-${own}-${count++}`, password = 'x', from = `192.0.2.${own}` } = {}) {
      const answer = await service.ask('/register', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        payload: JSON.stringify({ username, password }),
        from
      })
      return answer.statusCode
    }
  }
}

const OVERLOADED = new DomainError('overloaded', 'too many logins are waiting', { retryAfterSeconds: 1 })
const AWAY = new DomainError('unavailable', 'the database cannot be reached', { retryAfterSeconds: 1 })

t.test('wire 4.11: REGISTER_ATTEMPTS', t =>
  onEveryStore(t, async (t, stores) => {
    const test = (name: string, run: (t: Test) => Promise<void>): Promise<unknown> => t.test(name, run)

    await test('so many registrations of an address fit in a window, 409 counted, and beyond is 429', async t => {
      const { register, ask, clock } = await registering(stores)
      const username = `ada-${setting}`
      t.equal(await register({ username }), 200)
      t.equal(await register({ username }), 409)
      t.equal(await register(), 200)
      clock.advance(40.5)
      const answer = await ask('/register', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        payload: JSON.stringify({ username, password: 'x' }),
        from: `192.0.2.${setting}`
      })
      t.equal(answer.statusCode, 429, 'before the name is looked up')
      t.equal(answer.headers['retry-after'], '60')
      t.strictSame(answer.json(), { error: 'too many users were registered from this address: wait before the next' })
      clock.advance(59.499)
      t.equal(await register(), 429)
      clock.advance(0.001)
      t.equal(await register(), 200)
    })

    await test('400 is not counted, beyond the limit too', async t => {
      const { register } = await registering(stores)
      for (let i = 0; i < 5; i += 1) t.equal(await register({ password: '' }), 400)
      for (let i = 0; i < 3; i += 1) t.equal(await register(), 200)
      t.equal(await register(), 429)
      t.equal(await register({ password: '' }), 400)
    })

    await test('an attempt that ends in 503 is given back', async t => {
      const { register, faults } = await registering(stores)
      for (const [fault, error] of [
        ['lookup', AWAY],
        ['hash', OVERLOADED],
        ['insert', AWAY]
      ] as const) {
        faults[fault] = error
        for (let i = 0; i < 5; i += 1) t.equal(await register(), 503)
        delete faults[fault]
      }
      for (let i = 0; i < 3; i += 1) t.equal(await register(), 200)
      t.equal(await register(), 429)
    })

    await test('what ended an attempt is told even when the attempt cannot be given back', async t => {
      const { useCases, faults } = await registering(stores)
      faults.hash = OVERLOADED
      faults.giveBack = AWAY
      await t.rejects(
        useCases.registerUser({ username: 'x', password: 'x' }, { address: `192.0.2.${setting}` }),
        OVERLOADED
      )
    })

    await test('twenty at once gain nothing', async t => {
      const { register } = await registering(stores)
      const statuses = await rivals(() => register())
      t.strictSame(statuses.sort(), [...Array(3).fill(200), ...Array(17).fill(429)])
    })

    await test('another address has a count of its own, and an IPv6 /64 is one address', async t => {
      const { register } = await registering(stores)
      for (let i = 0; i < 3; i += 1) await register()
      t.equal(await register(), 429)
      t.equal(await register({ from: `198.51.100.${setting}` }), 200)
      for (const host of ['::1', ':ffff:1:2:3', '::2']) {
        t.equal(await register({ from: `2001:db8:0:${setting}${host}` }), 200)
      }
      t.equal(await register({ from: `2001:db8:0:${setting}:abcd::9` }), 429)
    })

    await test('registrations and logins have counts of their own', async t => {
      const { register, form, useCases } = await registering(stores, { loginAttempts: 1 })
      await addClient({ useCases }, `app-${setting}`)
      const logIn = async (): Promise<number> => {
        const fields = { grant_type: 'password', username: `nobody-${setting}`, password: 'x' }
        return (await form('/auth/token', fields, basic(`app-${setting}`), `192.0.2.${setting}`)).statusCode
      }
      for (let i = 0; i < 3; i += 1) t.equal(await register(), 200)
      t.equal(await register(), 429)
      t.strictSame([await logIn(), await logIn()], [400, 429])
    })

    await test('0 turns it off, and without an address nothing is counted', async t => {
      const { register } = await registering(stores, { registerAttempts: 0 })
      for (let i = 0; i < 10; i += 1) t.equal(await register(), 200)
      const { useCases } = await registering(stores)
      for (let i = 0; i < 10; i += 1) {
        await useCases.registerUser({ username: `by command ${setting} ${i}`, password: 'x' })
      }
    })
  })
)
