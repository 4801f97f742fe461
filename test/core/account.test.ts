import t from 'tap'
import { createMemoryStores } from '../../adapters/memory/stores.js'
import { createUseCases, type SecurityEvent } from '../../core/index.js'
import { onEveryStore } from '../support/stores.js'
import { addClient, addTenant, blankRequest, createWorld, type Stores } from '../support/world.js'

const PLACE = { address: '192.0.2.1' }

/** A user with logins by one client, and what became of them. */
const createAccount = async (stores: Stores, policy = {}) => {
  const events: SecurityEvent[] = []
  const world = createWorld({ stores, policy, events: { emit: event => events.push(event) } })
  const { useCases } = world
  const { id, user } = await addTenant(world)
  const client = await useCases.changeClient(id, { name: 'The App' })
  const logIn = (password = user.password) =>
    useCases.issueToken(client, {
      ...blankRequest,
      grantType: 'password',
      username: user.username,
      password,
      scope: 'a'
    })
  const isOpen = ({ accessToken }: { readonly accessToken: string }) =>
    useCases.verifyBearer(accessToken).then(
      () => true,
      () => false
    )
  const manage = (changes = {}, attempt = {}) => useCases.manageAccount({ ...user, ...PLACE, ...attempt }, changes)
  return { ...world, client, user, logIn, isOpen, manage, events }
}

t.test('a user sees the open logins: by which client, since when, when refreshed and for what', async t => {
  await onEveryStore(t, async (t, stores) => {
    const { manage, logIn, clock, client, useCases, user } = await createAccount(stores)
    t.has(await manage(), { username: user.username, ended: 0, logins: [], others: 0 })
    const began = clock.now()
    const { refreshToken } = await logIn()
    clock.advance(60)
    const refreshed = clock.now()
    await useCases.issueToken(client, { ...blankRequest, grantType: 'refresh_token', refreshToken })
    const { logins, others } = await manage()
    t.strictSame(
      logins.map(({ grant, refreshedAt, clientName }) => [grant.beganAt, refreshedAt, grant.scopes, clientName]),
      [[began, refreshed, ['a'], 'The App']]
    )
    t.equal(others, 0)
  })
})

t.test('no login of a long list waits for the end of another', async t => {
  const stores = createMemoryStores()
  const { grants } = stores
  /** As a store that ends none before it is asked to end three. */
  const waiting: (() => void)[] = []
  const revoke = async (id: string, at: Date) => {
    await new Promise<void>(resolve => {
      waiting.push(resolve)
      if (waiting.length === 3) for (const go of waiting) go()
    })
    return grants.revoke(id, at)
  }
  const { manage, logIn, isOpen } = await createAccount({ ...stores, grants: { ...grants, revoke } })
  const logins = [await logIn(), await logIn(), await logIn()]
  t.equal((await manage({ end: 'all' })).ended, 3)
  t.strictSame(await Promise.all(logins.map(isOpen)), [false, false, false])
})

t.test('a user ends logins by their ids, all logins, and none of anybody else', async t => {
  await onEveryStore(t, async (t, stores) => {
    const { manage, logIn, isOpen, events, user } = await createAccount(stores)
    const stranger = await createAccount(stores)
    const foreign = await stranger.logIn()
    const foreignId = (await stranger.manage()).logins[0]?.grant.id ?? ''
    const [first, second, third] = [await logIn(), await logIn(), await logIn()]
    const ids = (await manage()).logins.map(({ grant }) => grant.id)
    events.length = 0
    const one = await manage({ end: [ids[0], foreignId, 'no id', ids[0]] })
    t.strictSame([one.ended, one.logins.length], [1, 2])
    t.strictSame(
      events.filter(({ event }) => event === 'grant.revoked'),
      [
        {
          event: 'grant.revoked',
          client: user.username.replace('ada', 'app'),
          user: Number(one.logins[0]?.grant.userId),
          grant: ids[0],
          address: '192.0.2.1',
          requestId: undefined,
          reason: 'account'
        }
      ]
    )
    t.equal((await Promise.all([first, second, third].map(isOpen))).filter(open => open).length, 2)
    const all = await manage({ end: 'all' })
    t.strictSame([all.ended, all.logins, all.others], [2, [], 0])
    t.strictSame(await Promise.all([first, second, third].map(isOpen)), [false, false, false])
    t.ok(await isOpen(foreign))
    t.equal((await manage({ end: 'all' })).ended, 0)
  })
})

t.test('a new password ends every login and is told once, and a bad one changes nothing', async t => {
  await onEveryStore(t, async (t, stores) => {
    const { manage, logIn, isOpen, events } = await createAccount(stores, { passwordMinLength: 12 })
    const login = await logIn()
    await t.rejects(manage({ newPassword: 'short' }), { code: 'invalid_input' })
    await t.rejects(manage({ newPassword: 'long enough now' }, { password: 'wrong' }), { code: 'access_denied' })
    t.ok(await isOpen(login))
    events.length = 0
    t.strictSame((await manage({ newPassword: 'long enough now' })).ended, 1)
    t.match(events, [{ event: 'user.password_changed', address: '192.0.2.1', reason: 'account' }])
    t.equal(events.length, 1)
    t.notOk(await isOpen(login))
    await t.rejects(manage(), { code: 'access_denied' }, 'the old one')
    t.ok(await isOpen(await logIn('long enough now')))
  })
})

t.test('the account is under the same limits on guessing as a login', async t => {
  const { manage, logIn, events } = await createAccount(createWorld().ports, { loginAttempts: 2 })
  await t.rejects(logIn('wrong'), { code: 'invalid_grant' })
  events.length = 0
  await t.rejects(manage({}, { password: 'wrong' }), { code: 'access_denied' })
  await t.rejects(manage(), { code: 'too_many_attempts' })
  await t.rejects(manage({}, { username: '' }), { code: 'access_denied' })
  t.strictSame(
    events.map(event => [event.event, 'client' in event, 'reason' in event && event.reason]),
    [
      ['login.failed', false, 'wrong_password'],
      ['login.throttled', false, 'username_and_address'],
      ['login.failed', false, 'impossible']
    ]
  )
})

t.test('a new password that breaks a rule costs no attempt', async t => {
  const { manage } = await createAccount(createWorld().ports, { passwordMinLength: 12, loginAttempts: 1 })
  for (let i = 0; i < 3; i += 1) {
    await t.rejects(manage({ newPassword: 'short' }, { password: 'wrong' }), { code: 'invalid_input' })
  }
  t.ok(await manage())
})

t.test('a hundred logins are shown, the rest are counted, and all of them can be ended', async t => {
  for (const changes of [{ end: 'all' }, { newPassword: 'another' }]) {
    const { manage, logIn, events } = await createAccount(createWorld().ports)
    for (let i = 0; i < 103; i += 1) await logIn()
    const { logins, others } = await manage()
    t.strictSame([logins.length, others], [100, 3])
    events.length = 0
    t.equal((await manage(changes)).ended, 103)
    t.equal(events.filter(({ event }) => event === 'grant.revoked').length, 'end' in changes ? 103 : 0)
  }
})

t.test('a new password beside a login to end replaces the password and ends every login', async t => {
  const { manage, logIn } = await createAccount(createWorld().ports)
  await logIn()
  await logIn()
  const { logins } = await manage()
  const changed = await manage({ newPassword: 'another', end: [logins[0]?.grant.id] })
  t.strictSame([changed.ended, changed.logins], [2, []])
  t.ok(await manage({}, { password: 'another' }))
})

t.test('a user does not see the logins by a client that was removed', async t => {
  await onEveryStore(t, async (t, stores) => {
    const { manage, logIn, useCases, client } = await createAccount(stores)
    await logIn()
    await useCases.removeClient(client.id)
    const { logins, others } = await manage()
    t.strictSame([logins, others], [[], 0])
  })
})

t.test('a new password is hashed in turn with others of its network', async t => {
  const { ports, policy, user } = await createAccount(createWorld().ports)
  const { passwords } = ports
  const hashes = t.capture(passwords, 'hash', passwords.hash)
  const attempt = { ...user, ...PLACE, network: 'n' }
  await createUseCases({ ...ports, passwords }, policy).manageAccount(attempt, { newPassword: 'another' })
  t.strictSame(
    hashes().map(({ args }) => args[1]),
    [{ ...PLACE, network: 'n', priority: 'known_login' }]
  )
})

t.test('whoever has the name of a user who was removed meanwhile keeps the logins', async t => {
  await onEveryStore(t, async (t, stores) => {
    const { useCases, ports, policy, user, logIn, isOpen } = await createAccount(stores)
    const logins: Awaited<ReturnType<typeof logIn>>[] = []
    const slow = createUseCases(
      {
        ...ports,
        grants: {
          ...ports.grants,
          async listOpen(...given) {
            const found = await ports.grants.listOpen(...given)
            await useCases.removeUser(user.username)
            await useCases.registerUser({ ...user, password: 'of somebody else' })
            logins.push(await logIn('of somebody else'))
            return found
          }
        }
      },
      policy
    )
    await t.rejects(slow.manageAccount({ ...user, ...PLACE }, { end: 'all' }), { code: 'access_denied' })
    t.strictSame(await Promise.all(logins.map(isOpen)), [true])
  })
})

t.test('an operator’s password that comes after logins have ended is not overwritten either', async t => {
  const { user, ports, policy, useCases, manage } = await createAccount(createWorld().ports)
  const operators = { username: user.username, password: 'of an operator' }
  let isHashed = false
  const meanwhile = createUseCases(
    {
      ...ports,
      passwords: {
        ...ports.passwords,
        async hash(password, caller) {
          isHashed = true
          await manage({ end: 'all' })
          return ports.passwords.hash(password, caller)
        }
      },
      users: {
        ...ports.users,
        async findByUsername(name) {
          const found = await ports.users.findByUsername(name)
          if (isHashed) await useCases.setPassword(operators)
          return found
        }
      }
    },
    policy
  )
  await t.rejects(meanwhile.manageAccount({ ...user, ...PLACE }, { newPassword: 'of a thief' }), {
    code: 'access_denied'
  })
  t.ok(await useCases.manageAccount({ ...operators, ...PLACE }))
})

t.test('what belongs to another client and has ended is told like what is unknown', async t => {
  const { useCases, client, user, logIn, events } = await createAccount(createWorld().ports)
  const other = await addClient({ useCases }, 'other')
  const { refreshToken } = await logIn()
  const authorization = { client, scopes: [], redirectUri: undefined, challenge: undefined }
  const code = await useCases.authorize(authorization, { ...user, ...PLACE })
  await useCases.revokeUser(user.username)
  const unknown = { refreshToken: 'x'.repeat(32), code: 'x'.repeat(32) }
  for (const [grantType, ended] of [
    ['refresh_token', { refreshToken }],
    ['authorization_code', { code }]
  ] as const) {
    events.length = 0
    const [first, second] = [ended, unknown].map(form =>
      useCases.issueToken(other, { ...blankRequest, grantType, ...form }).catch(({ message }) => message)
    )
    t.equal(await first, await second)
    t.match(events[0], { event: 'token.refused', client: other.id, reason: 'other_client', grant: undefined })
  }
})

t.test('a user who is removed while the account is changed is none', async t => {
  for (const [changes, method] of [
    [{ end: 'all' }, 'revoke'],
    [{ newPassword: 'another' }, 'setPassword']
  ] as const) {
    const { ports } = createWorld()
    const account = await createAccount({ ...ports, users: { ...ports.users, [method]: async () => false } })
    await t.rejects(account.manage(changes), { code: 'access_denied' })
  }
})

t.test(
  'a new password is not stored for somebody who registers the name of a user who is removed meanwhile',
  async t => {
    await onEveryStore(t, async (t, stores) => {
      const { ports, useCases, user, events } = await createAccount(stores)
      const { passwords } = ports
      const hash: typeof passwords.hash = async (password, by) => {
        await useCases.removeUser(user.username)
        await useCases.registerUser({ username: user.username, password: 'of somebody else' })
        return passwords.hash(password, by)
      }
      const slow = createUseCases({ ...ports, passwords: { ...passwords, hash } })
      await t.rejects(slow.manageAccount({ ...user, ...PLACE }, { newPassword: 'another one' }), {
        code: 'access_denied'
      })
      t.notOk(events.some(({ event }) => event === 'user.password_changed'))
      t.ok(await useCases.manageAccount({ ...user, password: 'of somebody else', ...PLACE }))
    })
  }
)

t.test('a login that ends by itself while the account is changed is told once', async t => {
  const { ports } = createWorld()
  const { manage, logIn, events } = await createAccount({
    ...ports,
    grants: { ...ports.grants, revoke: async () => false }
  })
  await logIn()
  events.length = 0
  t.equal((await manage({ end: 'all' })).ended, 0)
  t.strictSame(events, [])
})

t.test('whoever holds an access token of a user learns who that is', async t => {
  await onEveryStore(t, async (t, stores) => {
    const { useCases, logIn, user, isOpen, client, events } = await createAccount(stores)
    const { accessToken } = await logIn()
    const { username } = user
    t.match(await useCases.whoAmI(accessToken), { id: Number, username })
    await t.rejects(useCases.whoAmI(), { code: 'token_required' })
    await t.rejects(useCases.whoAmI('x'.repeat(32)), { code: 'invalid_token' })
    await useCases.changeClient(client.id, { grantTypes: ['client_credentials'] })
    const own = await useCases.issueToken(await useCases.findClient(client.id), {
      ...blankRequest,
      grantType: 'client_credentials'
    })
    t.ok(await isOpen(own))
    events.length = 0
    await t.rejects(useCases.whoAmI(own.accessToken, PLACE), { code: 'insufficient_scope' })
    t.match(events, [{ event: 'bearer.refused', address: '192.0.2.1', grant: String, reason: 'scope' }])
    await useCases.removeUser(username)
    await t.rejects(useCases.whoAmI(accessToken, PLACE), { code: 'invalid_token' })
    t.match(events.at(-1), { event: 'bearer.refused', address: '192.0.2.1', reason: 'unknown' })
  })
})

t.test('a token whose grant ends while its user is looked up is invalid', async t => {
  const { ports } = createWorld()
  const { useCases, logIn, events } = await createAccount({
    ...ports,
    grants: { ...ports.grants, find: async () => undefined }
  })
  await t.rejects(useCases.whoAmI((await logIn()).accessToken, PLACE), { code: 'invalid_token' })
  t.match(events.at(-1), { event: 'bearer.refused', address: '192.0.2.1', reason: 'unknown' })
})

t.test('a new password is stored although all logins are ended while it is hashed', async t => {
  await onEveryStore(t, async (t, stores) => {
    for (const verdict of ['match', 'stale'] as const) {
      const { user, ports, policy, manage } = await createAccount(stores)
      const meanwhile = createUseCases(
        {
          ...ports,
          passwords: {
            ...ports.passwords,
            verify: async () => verdict,
            async hash(password, caller) {
              if (caller?.priority !== 'rehash') await manage({ end: 'all' })
              return ports.passwords.hash(password, caller)
            }
          }
        },
        policy
      )
      await meanwhile.manageAccount({ ...user, ...PLACE }, { newPassword: 'battery staple' })
      t.ok(await manage({}, { password: 'battery staple' }), verdict)
      await t.rejects(manage(), { code: 'access_denied' }, 'and the old one opens nothing')
    }
  })
})

t.test('of twenty changes of a password at once one is made, and nineteen are told that it is another', async t => {
  await onEveryStore(t, async (t, stores) => {
    const { manage, events } = await createAccount(stores, { loginAttempts: 0 })
    events.length = 0
    const changes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, rival) => manage({ newPassword: `battery staple ${rival}` }))
    )
    t.equal(changes.filter(({ status }) => status === 'fulfilled').length, 1)
    t.equal(events.filter(({ event }) => event === 'user.password_changed').length, 1)
    const winner = changes.findIndex(({ status }) => status === 'fulfilled')
    t.ok(await manage({}, { password: `battery staple ${winner}` }))
  })
})

t.test('a password that an operator has set while its user changed it is not overwritten', async t => {
  await onEveryStore(t, async (t, stores) => {
    const world = await createAccount(stores)
    const { user, ports, policy, useCases, events } = world
    const operators = { username: user.username, password: 'of an operator' }
    const meanwhile = createUseCases(
      {
        ...ports,
        passwords: {
          ...ports.passwords,
          async hash(password, caller) {
            await useCases.setPassword(operators)
            return ports.passwords.hash(password, caller)
          }
        }
      },
      policy
    )
    events.length = 0
    await t.rejects(meanwhile.manageAccount({ ...user, ...PLACE }, { newPassword: 'of a thief' }), {
      code: 'access_denied'
    })
    t.strictSame(
      events.map(({ event }) => event).filter(event => event.startsWith('user.')),
      ['user.password_set']
    )
    t.ok(await useCases.manageAccount({ ...operators, ...PLACE }))
  })
})

t.test(
  'a new password that was hashed too late for its request is not stored, and the login is a known one',
  async t => {
    const { user, ports, policy, clock, manage, logIn, isOpen } = await createAccount(createWorld().ports)
    const login = await logIn()
    let late = 4.001
    const busy = createUseCases(
      {
        ...ports,
        passwords: {
          ...ports.passwords,
          hash(password, caller) {
            t.equal(caller?.priority, 'known_login')
            clock.advance(late)
            return ports.passwords.hash(password, caller)
          }
        }
      },
      policy
    )
    const change = () => busy.manageAccount({ ...user, ...PLACE }, { newPassword: 'battery staple' })
    await t.rejects(change(), { code: 'overloaded' })
    t.ok(await isOpen(login))
    t.ok(await manage(), 'the old password opens')
    late = 4
    t.ok(await change())
  }
)
