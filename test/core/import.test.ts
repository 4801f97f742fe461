import { pbkdf2Sync } from 'node:crypto'
import t from 'tap'
import type { LoginAttempt, PredecessorUser, SecurityEvent } from '../../core/index.js'
import { onEveryStore } from '../support/stores.js'
import { ADA, addClient, blankRequest, createWorld } from '../support/world.js'

const userWith = (username: string, password: string, salt = 'c2FsdA=='): PredecessorUser => ({
  username,
  hashedPassword: pbkdf2Sync(password, salt, 1000, 32, 'sha256').toString('base64'),
  salt
})

t.test('heroes are imported, present or refused, each by itself, and a second run finds them present', t =>
  onEveryStore(t, async (t, stores) => {
    const { useCases } = createWorld({ stores })
    await useCases.createHero({ name: 'Celeritas' })
    const names = ['Zorro', '', 'Celeritas', 'x'.repeat(256), 'a\0b', 'Zorro', 'Ant']
    const wrong = { refused: 'name must have 1 to 255 characters' }
    const nul = { refused: 'name holds a NUL or a lone surrogate: leave it out' }
    const heroes = names.map(name => ({ name }))
    const outcomes = ['imported', wrong, 'present', wrong, nul, 'present', 'imported']
    t.strictSame(await useCases.importHeroes(heroes), outcomes)
    t.strictSame(
      (await useCases.heroPage({ nameContains: undefined, after: undefined, limit: 10 })).heroes.map(
        ({ name }) => name
      ),
      ['Celeritas', 'Zorro', 'Ant']
    )
    t.strictSame(
      await useCases.importHeroes(heroes),
      outcomes.map(outcome => (outcome === 'imported' ? 'present' : outcome))
    )
    t.strictSame(await useCases.importHeroes([]), [])
  })
)

t.test('users of the predecessor log in with their old passwords, which are plain argon2id after the first login', t =>
  onEveryStore(t, async (t, stores) => {
    const events: SecurityEvent[] = []
    const { useCases, ports } = createWorld({ stores, events: { emit: event => events.push(event) } })
    const client = await addClient({ useCases }, 'app')
    await useCases.registerUser(ADA)
    const users = [userWith('grace', 'pässword'), userWith('ada', 'another'), userWith('Jose\u0301', 'x', '$')]
    t.strictSame(await useCases.importUsers(users), ['imported', 'present', 'imported'])
    const ids = (await useCases.userPage({ limit: 10 })).users
      .filter(({ username }) => username !== 'ada')
      .map(({ id }) => id)
    t.strictSame(events.at(-1), { event: 'user.imported', users: ids })

    const hashOf = async (username: string) => (await ports.users.findByUsername(username))?.password.hash
    const logIn = (username: string, password: string) => {
      const attempt: LoginAttempt = { username, password, address: '192.0.2.1' }
      return useCases.issueToken(client, { ...blankRequest, ...attempt, grantType: 'password' })
    }
    for (const [username, password] of [
      ['grace', 'pässword'],
      ['José', 'x']
    ] as const) {
      const imported = await hashOf(username)
      t.match(imported, /^\$pbkdf2-sha256-argon2id\$/)
      await t.rejects(logIn(username, `${password} `), { code: 'invalid_grant' })
      t.equal(await hashOf(username), imported, 'a wrong password replaces nothing')
      t.ok((await logIn(username, password)).accessToken)
      const plain = await hashOf(username)
      t.match(plain, /^\$argon2id\$/)
      t.ok((await logIn(username, password)).accessToken)
      t.equal(await hashOf(username), plain)
    }
    await t.rejects(logIn('ada', 'another'), { code: 'invalid_grant' })
    t.strictSame(await useCases.importUsers(users), ['present', 'present', 'present'])
    t.match(events.at(-1), { event: 'login.failed' }, 'nothing is told where nobody was imported')
  })
)

t.test('a user whose name, salt or hash cannot be is refused, also where the name is taken', async t => {
  const { useCases } = createWorld()
  await useCases.registerUser(ADA)
  const sound = userWith('ada', 'x')
  const refused = (words: string) => ({ refused: words })
  const hash = refused('hashedpassword must be 32 bytes in base64')
  t.strictSame(
    await useCases.importUsers([
      { ...sound, username: '' },
      { ...sound, username: 'x'.repeat(256) },
      { ...sound, salt: '' },
      { ...sound, salt: 'x'.repeat(1025) },
      { ...sound, hashedPassword: '' },
      { ...sound, hashedPassword: sound.hashedPassword.slice(1) },
      { ...sound, hashedPassword: sound.hashedPassword.replace('=', '') },
      { ...sound, hashedPassword: `${'A'.repeat(42)}B=` },
      { ...sound, hashedPassword: Buffer.alloc(33).toString('base64') },
      { ...sound, hashedPassword: Buffer.alloc(32, 255).toString('base64url') },
      sound
    ]),
    [
      ...Array(2).fill(refused('username must have 1 to 255 characters')),
      ...Array(2).fill(refused('salt must have 1 to 1024 characters')),
      ...Array(6).fill(hash),
      'present'
    ]
  )
})

t.test('no hash is made for a user whose name is taken', async t => {
  const { useCases, ports } = createWorld()
  await useCases.registerUser(ADA)
  ports.passwords.adopt = () => Promise.reject(new Error('hashed'))
  t.strictSame(await useCases.importUsers([userWith('ada', 'x')]), ['present'])
  await t.rejects(useCases.importUsers([userWith('grace', 'x')]), { message: 'hashed' })
})

t.test('an import that cannot be stored rejects, and nothing of it is told', async t => {
  const events: SecurityEvent[] = []
  const world = createWorld({ events: { emit: event => events.push(event) } })
  const fail = () => Promise.reject(new Error('away'))
  world.ports.users.insertAll = fail
  world.ports.heroes.insertAll = fail
  await t.rejects(world.useCases.importHeroes([{ name: 'Ant' }]), { message: 'away' })
  await t.rejects(world.useCases.importUsers([userWith('ada', 'x')]), { message: 'away' })
  world.ports.users.findByUsername = fail
  await t.rejects(world.useCases.importUsers([userWith('ada', 'x')]), { message: 'away' })
  t.strictSame(events, [])
})

t.test('of users whose names another import takes meanwhile nothing is told', async t => {
  const events: SecurityEvent[] = []
  const { useCases, ports } = createWorld({ events: { emit: event => events.push(event) } })
  await useCases.registerUser(ADA)
  events.splice(0)
  ports.users.findByUsername = async () => undefined
  t.strictSame(await useCases.importUsers([userWith('ada', 'x')]), ['present'])
  t.strictSame(events, [])
  t.strictSame(await useCases.importUsers([userWith('ada', 'x'), userWith('grace', 'x')]), ['present', 'imported'])
  const { users } = await useCases.userPage({ limit: 10 })
  t.strictSame(events, [{ event: 'user.imported', users: users.slice(1).map(({ id }) => id) }])
  t.equal(users.length, 2)
})
