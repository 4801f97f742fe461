import t from 'tap'
import type { PasswordHasher } from '../../../../core/index.js'
import { createUseCases } from '../../../../core/index.js'
import { rivals } from '../../../contract/records.js'
import { basic, createInhabited, createService, type Service } from '../../../support/service.js'
import { ADA, createWorld } from '../../../support/world.js'

/** A service, and how many hashes it has made for passwords that are to be stored. */
const countingHashes = (): Service & { hashes(): number } => {
  const world = createWorld()
  let made = 0
  const passwords: PasswordHasher = {
    ...world.ports.passwords,
    hash: (...given) => {
      made += 1
      return world.ports.passwords.hash(...given)
    }
  }
  const ports = { ...world.ports, passwords }
  return { ...createService({ useCases: createUseCases(ports, world.policy) }), ports, hashes: () => made }
}

t.test('wire 4.7: users are registered, and their password is stored as a salted hash alone', async t => {
  const { json, ports } = createService()
  t.equal((await json('POST', '/register', ADA)).statusCode, 200)
  const stored = await ports.users.findByUsername('ada')
  t.match(stored?.password, { hash: /^\$argon2id\$/, salt: /^[A-Za-z0-9+/]{22}==$/ })
  t.notMatch(JSON.stringify(stored), ADA.password)
})

t.test('wire 4.1: the id of a user is an integer that the service makes, and answers have it', async t => {
  const { json } = createService()
  t.equal((await json('POST', '/register', ADA)).json().id, 1)
  t.equal((await json('POST', '/register', { ...ADA, username: 'bob' })).json().id, 2)
})

t.test('wire 4.1: a username is a unique string, required, and answers have it', async t => {
  const { json } = createService()
  t.equal((await json('POST', '/register', ADA)).json().username, 'ada')
  t.equal((await json('POST', '/register', ADA)).statusCode, 409)
  t.equal((await json('POST', '/register', { password: 'x' })).statusCode, 400)
  t.equal((await json('POST', '/register', { username: 5, password: 'x' })).statusCode, 400)
})

t.test('wire 4.7: a password is read from the body, required, never answered and never stored', async t => {
  const { json, ports } = createService()
  t.equal((await json('POST', '/register', { username: 'ada' })).statusCode, 400)
  const answer = await json('POST', '/register', ADA)
  t.notMatch(answer.payload, ADA.password)
  t.notMatch(JSON.stringify(await ports.users.list({})), ADA.password)
})

t.test('wire 4.3: hashedPassword, salt and tokens are computed, never answered, and refused on input', async t => {
  const { json, ports } = createService()
  for (const field of ['hashedPassword', 'salt', 'tokens']) {
    t.equal((await json('POST', '/register', { ...ADA, [field]: 'x' })).statusCode, 400, field)
  }
  t.strictSame(await ports.users.list({}), [])
  t.strictSame(Object.keys((await json('POST', '/register', ADA)).json()), ['id', 'username'])
})

t.test('wire 4.7: salts are random, so that one password has two hashes', async t => {
  const { json, ports } = createService()
  await json('POST', '/register', ADA)
  await json('POST', '/register', { ...ADA, username: 'bob' })
  const [ada, bob] = await ports.users.list({})
  t.not(ada?.password.salt, bob?.password.salt)
  t.not(ada?.password.hash, bob?.password.hash)
})

t.test('wire 5.12: introspection names the user whom a token was issued to', async t => {
  const { login, form, ports } = await createInhabited()
  const { access_token } = await login()
  const { sub, username } = (await form('/auth/introspect', { token: access_token }, basic('app'))).json()
  t.equal(username, 'ada')
  t.equal((await ports.users.find(Number(sub)))?.username, 'ada')
})

t.test('wire 1.9: /register reads application/json and no other type', async t => {
  const { ask, json, ports } = createService()
  const payload = JSON.stringify(ADA)
  for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
    const answer = await ask('/register', { method: 'POST', headers: { 'content-type': type }, payload })
    t.equal(answer.statusCode, 415, type)
  }
  t.strictSame(await ports.users.list({}), [])
  t.equal((await json('POST', '/register', payload)).statusCode, 200)
})

t.test('wire 4.2: /register takes an object with the strings username and password', async t => {
  const { json } = createService()
  for (const body of [
    [ADA],
    null,
    'ada',
    { ...ADA, username: null },
    { ...ADA, password: ['x'] },
    { ...ADA, age: 3 }
  ]) {
    t.equal((await json('POST', '/register', body)).statusCode, 400, JSON.stringify(body))
  }
  t.equal((await json('POST', '/register', ADA)).statusCode, 200)
})

t.test('wire 4.2: /register answers 200 with the keys id and username', async t => {
  const id = { constructor: { prototype: 'discarded' } }
  const answer = await createService().json('POST', '/register', { ...ADA, id })
  t.strictSame([answer.statusCode, answer.json()], [200, { id: 1, username: 'ada' }])
  t.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
})

t.test('wire 4.4: a missing username or password is 400 with {error: message}', async t => {
  const { json } = createService()
  for (const body of [{}, { username: 'ada' }, { password: 'x' }]) {
    const answer = await json('POST', '/register', body)
    t.equal(answer.statusCode, 400)
    t.strictSame(Object.keys(answer.json()), ['error'])
    t.type(answer.json().error, 'string')
  }
})

t.test('wire 4.5: a username that exists is 409', async t => {
  const { json, ports } = createService()
  await json('POST', '/register', ADA)
  const answer = await json('POST', '/register', { ...ADA, password: 'another' })
  t.strictSame(
    [answer.statusCode, answer.json()],
    [409, { error: 'a user with this username exists: choose another username' }]
  )
  t.equal((await ports.users.list({})).length, 1)
})

t.test('wire 4.5: a name that is taken, in whatever form it is typed, is 409 without a hash', async t => {
  const { json, hashes } = countingHashes()
  t.equal((await json('POST', '/register', { username: '\u00e9', password: 'x' })).statusCode, 200)
  t.equal(hashes(), 1)
  for (const username of ['\u00e9', 'e\u0301']) {
    t.equal((await json('POST', '/register', { username, password: 'x' })).statusCode, 409)
  }
  t.equal(
    (await json('POST', '/register', { username: '\u00e9', password: '' })).statusCode,
    400,
    'malformed comes first'
  )
  t.equal(hashes(), 1)
})

t.test('wire 4.5: of twenty registrations of one name at once exactly one is 200, and the others are 409', async t => {
  const { json, ports } = countingHashes()
  const answers = await rivals(rival => json('POST', '/register', { username: 'ada', password: `password ${rival}` }))
  t.strictSame(answers.map(({ statusCode }) => statusCode).sort(), [200, ...Array(19).fill(409)])
  t.equal((await ports.users.list({})).length, 1)
})

t.test('wire 4.4: the check for missing values comes before any hashing', async t => {
  const { json, hashes } = countingHashes()
  for (const body of [
    {},
    { username: 'a' },
    { password: 'a' },
    { username: '', password: 'a' },
    { username: 'a', password: '' }
  ]) {
    t.equal((await json('POST', '/register', body)).statusCode, 400)
  }
  t.equal(hashes(), 0)
  await json('POST', '/register', ADA)
  t.equal(hashes(), 1)
})

t.test('wire 4.7: hash and salt are never answered', async t => {
  const { json, ports } = createService()
  const answer = await json('POST', '/register', ADA)
  const stored = await ports.users.findByUsername('ada')
  t.notOk(answer.payload.includes(stored?.password.hash ?? '{'))
  t.notOk(answer.payload.includes(stored?.password.salt ?? '{'))
})

t.test('wire 4.2: /register is not protected by a bearer check', async t => {
  const { json } = createService({ protectHeroes: true, readScope: 'a', writeScope: 'a' })
  t.equal((await json('POST', '/register', ADA)).statusCode, 200)
  t.equal(
    (await json('POST', '/register', { ...ADA, username: 'bob' }, { authorization: 'Bearer wrong' })).statusCode,
    200
  )
})
