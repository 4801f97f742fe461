import t, { type Test } from 'tap'
import { basic, createService, REQUEST, type Service } from './support/service.js'
import { onEveryStore } from './support/stores.js'
import { addClient, type Stores } from './support/world.js'

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
  })
)
