import { pbkdf2Sync } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { hashSync } from '@node-rs/argon2'
import t from 'tap'
import { createCrypto, type PasswordHasherOptions, systemClock } from '../../../adapters/crypto/crypto.js'
import { createHashQueue } from '../../../adapters/crypto/hash-queue.js'

const CHEAPEST = { memoryCost: 8, timeCost: 1, parallelism: 1 }
const OVERLOADED = { name: 'DomainError', code: 'overloaded', retryAfterSeconds: 1 }

const hasher = (options: PasswordHasherOptions = {}) => createCrypto({ parameters: CHEAPEST, ...options }).passwords
const { secrets } = createCrypto()

t.test('a password matches only its own hash, to the character', async t => {
  const passwords = hasher()
  for (const password of ['correct horse', '', ' ', 'é', 'e\u0301', '\u{1f9b8}'.repeat(1024), 'a\u0000b']) {
    const stored = await passwords.hash(password)
    t.equal(await passwords.verify(password, stored), 'match')
    t.equal(await passwords.verify(`${password} `, stored), 'mismatch')
  }
  t.equal(await passwords.verify('e\u0301', await passwords.hash('é')), 'mismatch')
  t.equal(await passwords.verify('a', await passwords.hash('a\u0000b')), 'mismatch')
})

t.test('a hash is argon2id with 19 MiB, 2 passes and 1 lane, in the form that other systems read', async t => {
  const { passwords } = createCrypto()
  const stored = await passwords.hash('correct horse')
  t.match(stored.hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  t.equal(await passwords.verify('correct horse', stored), 'match')
})

t.test('each of many hashes has its own salt of 16 bytes, which is also returned beside it', async t => {
  const passwords = hasher({ concurrency: 3, queue: 1000 })
  const stored = await Promise.all(Array.from({ length: 600 }, () => passwords.hash('same')))
  t.equal(new Set(stored.map(({ salt }) => salt)).size, 600)
  t.equal(new Set(stored.map(({ hash }) => hash)).size, 600)
  t.ok(stored.every(({ salt }) => Buffer.from(salt, 'base64').length === 16))
  t.ok(stored.every(({ hash, salt }) => hash.split('$').at(-2) === salt.replaceAll('=', '')))
  t.equal(await passwords.verify('same', stored.at(-1)), 'match')
})

t.test('a right password whose hash has other parameters is stale, and a wrong password is a mismatch', async t => {
  const stored = await hasher().hash('right')
  for (const parameters of [
    { ...CHEAPEST, memoryCost: 16 },
    { ...CHEAPEST, timeCost: 2 },
    { ...CHEAPEST, memoryCost: 16, parallelism: 2 }
  ]) {
    const passwords = hasher({ parameters })
    t.equal(await passwords.verify('right', stored), 'stale')
    t.equal(await passwords.verify('wrong', stored), 'mismatch')
    t.equal(await passwords.verify('right', await passwords.hash('right')), 'match')
  }
})

t.test('hashes of the reference implementation are verified: argon2id, and argon2i, which is always stale', async t => {
  // Made by libargon2's argon2id_hash_encoded and argon2i_hash_encoded.
  const salt = Buffer.from('sixteen bytes ok').toString('base64')
  const stored = {
    hash: '$argon2id$v=19$m=256,t=2,p=1$c2l4dGVlbiBieXRlcyBvaw$pcsm4RBQDVgiWtvm3Bic0y2ZuCOMeQUPiKriuaxjN4k',
    salt
  }
  const argon2i = {
    hash: '$argon2i$v=19$m=65536,t=2,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub+b+dWRWJTmaaJObG',
    salt: Buffer.from('somesalt').toString('base64')
  }
  t.equal(
    await hasher({ parameters: { memoryCost: 256, timeCost: 2, parallelism: 1 } }).verify('pässword', stored),
    'match'
  )
  t.equal(await hasher().verify('pässword', stored), 'stale')
  t.equal(await hasher().verify('password', stored), 'mismatch')
  const sameCosts = hasher({ parameters: { memoryCost: 65_536, timeCost: 2, parallelism: 4 } })
  t.equal(await sameCosts.verify('password', argon2i), 'stale')
  t.equal(await sameCosts.verify('Password', argon2i), 'mismatch')
})

/** What the predecessor stored: Aqueduct's PBKDF2, made here by Python's hashlib.pbkdf2_hmac. */
const OLD = { hashedPassword: 'F5xXjIdc5WmrJ1dyMv/mw/tTifssR8Aev9OMezuqxAQ=', salt: 'c2FsdCBvZiB0aGUgb2xkIHNlcnZpY2U=' }

t.test('what the predecessor stored becomes argon2id at once, and its password is right and stale', async t => {
  const { passwords } = createCrypto()
  const adopted = await passwords.adopt(OLD)
  t.match(
    adopted.hash,
    /^\$pbkdf2-sha256-argon2id\$[\w-]+\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/
  )
  t.equal(Buffer.from(adopted.salt, 'base64').length, 16)
  t.notMatch(JSON.stringify(adopted), OLD.hashedPassword)
  t.equal(await passwords.verify('pässword', adopted), 'stale')
  t.equal(await passwords.verify('password', adopted), 'mismatch')
  t.equal(await passwords.verify(OLD.hashedPassword, adopted), 'mismatch', 'the old hash is no password')
  t.not((await passwords.adopt(OLD)).hash, adopted.hash, 'each has a salt of its own')
  t.equal(await passwords.verify('pässword', { ...adopted, hash: adopted.hash.slice(0, -1) }), 'mismatch')
})

t.test('the salt of the predecessor is taken as text, whatever it is', async t => {
  const passwords = hasher()
  for (const salt of ['$', 'a$argon2id$v=19$', 'sälz', '\u{1f9b8}', ' ', 'x'.repeat(1024)]) {
    const hashedPassword = pbkdf2Sync('right', salt, 1000, 32, 'sha256').toString('base64')
    const adopted = await passwords.adopt({ hashedPassword, salt })
    t.equal(await passwords.verify('right', adopted), 'stale', JSON.stringify(salt))
    t.equal(await passwords.verify('wrong', adopted), 'mismatch')
  }
})

t.test('adopting waits for as long as others hash, and takes no place from them', async t => {
  const passwords = hasher({ concurrency: 1, queue: 0 })
  const order: string[] = []
  const note = (name: string) => () => order.push(name)
  const hashed = passwords.hash('x').then(note('hashed'))
  const adopted = [passwords.adopt(OLD), passwords.adopt(OLD), passwords.adopt(OLD)].map(made =>
    made.then(note('adopted'))
  )
  await Promise.all([hashed, ...adopted])
  t.strictSame(order, ['hashed', 'adopted', 'adopted', 'adopted'])
})

t.test('adopting rejects when the hash cannot be made, and the next one has its turn', async t => {
  const passwords = hasher({ concurrency: 1 })
  const unhashable = JSON.parse('{ "hashedPassword": 5, "salt": "salt" }')
  await t.rejects(passwords.adopt(unhashable))
  await t.rejects(passwords.adopt(unhashable))
  t.type((await passwords.adopt(OLD)).hash, 'string')
})

t.test(
  'hashes of the cheapest costs match their passwords alone, whatever lengths their salt and digest have',
  async t => {
    const passwords = hasher()
    const made = await passwords.hash('right')
    const salt = Buffer.alloc(16, 7)
    const kinds = {
      'made here': made.hash,
      'made by the package': hashSync('right', { ...CHEAPEST, salt }),
      'with a short digest': hashSync('right', { ...CHEAPEST, salt, outputLen: 16 }),
      // As long as one that is made here.
      'with a long salt and a short digest': hashSync('right', {
        ...CHEAPEST,
        salt: Buffer.alloc(32, 7),
        outputLen: 16
      })
    }
    for (const [what, text] of Object.entries(kinds)) {
      t.equal(await passwords.verify('right', { ...made, hash: text }), 'match', what)
      t.equal(await passwords.verify('wrong', { ...made, hash: text }), 'mismatch', what)
    }
    for (const [index, character] of [...made.hash].entries()) {
      const other = made.hash.slice(0, index) + (character === 'A' ? 'B' : 'A') + made.hash.slice(index + 1)
      t.equal(await passwords.verify('right', { ...made, hash: other }), 'mismatch', other)
    }
  }
)

t.test('a hash with the optional parameters of its format is a hash', async t => {
  const passwords = hasher()
  const { hash, salt } = await passwords.hash('right')
  t.equal(await passwords.verify('right', { hash: hash.replace('p=1', 'p=1,keyid=aGVsbG8'), salt }), 'stale')
})

t.test('a malformed hash is a mismatch', async t => {
  const passwords = hasher()
  const { hash, salt } = await passwords.hash('right')
  const malformed = [
    '',
    'right',
    hash.slice(0, -1),
    hash.slice(0, hash.lastIndexOf('$')),
    `${hash}$`,
    hash.replace('m=8', 'm=1'),
    hash.replace('t=1', 't=0'),
    hash.replace('p=1', 'p=0'),
    hash.replace('argon2id', 'scrypt'),
    // A core for ever, and the memory of the machine.
    hash.replace('t=1', 't=4294967295'),
    hash.replace('m=8', 'm=4294967295'),
    hash.replace('m=8,t=1', 't=4294967295,m=8'),
    hash.replace('m=8,t=1,p=1', 'm=8,p=1,t=4294967295'),
    hash.replace('m=8,t=1', 'm=8,t=1,t=4294967295'),
    hash.replace('m=8', 'keyid=AA,m=8').replace('t=1', 't=4294967295'),
    '$2b$12$abcdefghijklmnopqrstuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
  ]
  for (const broken of malformed) {
    t.equal(await passwords.verify('right', { hash: broken, salt }), 'mismatch', JSON.stringify(broken))
  }
})

t.test(
  'a mismatch takes as long without a hash, with a malformed and with an adopted one, even the first time',
  async t => {
    // With the cheapest argon2id, PBKDF2 takes most of the time.
    for (const parameters of [{ memoryCost: 2048, timeCost: 2, parallelism: 1 }, CHEAPEST]) {
      const stored = await hasher({ parameters }).hash('right')
      const kinds = [stored, undefined, { ...stored, hash: 'malformed' }, await hasher({ parameters }).adopt(OLD)]
      const least = kinds.map(() => Number.POSITIVE_INFINITY)
      // The kinds take turns, so that a busy machine delays all of them alike. The fastest try of each is delayed least.
      for (let i = 0; i < 30; i++) {
        for (const [kind, compared] of kinds.entries()) {
          const passwords = hasher({ parameters })
          const begin = performance.now()
          t.equal(await passwords.verify('wrong', compared), 'mismatch')
          least[kind] = Math.min(least[kind] ?? 0, performance.now() - begin)
        }
      }
      const [usual = 0, ...others] = least
      for (const other of others) {
        const ratio = other / usual
        t.ok(ratio > 0.5 && ratio < 2, `${ratio.toFixed(2)} times as long`)
      }
    }
  }
)

t.test('when the queue is full, hashing and verifying are overloaded, and waiting calls are served', async t => {
  const stored = await hasher().hash('right')
  // A new hasher, none of whose places pauses.
  const passwords = hasher({ concurrency: 1, queue: 3 })
  const served = [
    passwords.hash('right'),
    passwords.verify('right', stored),
    passwords.verify('right', undefined),
    passwords.verify('right', { ...stored, hash: 'malformed' })
  ]
  await t.rejects(passwords.hash('right'), OVERLOADED)
  await t.rejects(passwords.verify('right', stored), OVERLOADED)
  await t.rejects(passwords.verify('right', undefined), OVERLOADED)
  t.strictSame((await Promise.all(served)).slice(1), ['match', 'mismatch', 'mismatch'])
  t.equal(await passwords.verify('right', stored), 'match', 'there is room again')
})

t.test('by default as many hashes run at once as there are cores, less one, three at most, and 64 wait', async t => {
  const passwords = hasher()
  const room = Math.min(3, Math.max(1, availableParallelism() - 1)) + 64
  const answers = await Promise.allSettled(Array.from({ length: 100 }, () => passwords.hash('x')))
  t.equal(answers.filter(({ status }) => status === 'fulfilled').length, room)
})

t.test('no more work runs at once than there are places, first come, first served', async t => {
  const { run } = createHashQueue({ concurrency: 2, capacity: 10, pauses: true })
  const begun: number[] = []
  const finish: (() => void)[] = []
  const turn = () => new Promise<void>(resolve => setImmediate(resolve))
  const work = (name: number) => run(() => new Promise<void>(resolve => finish.push(resolve) && begun.push(name)))
  const all = [work(0), work(1), work(2), work(3)]
  await turn()
  t.strictSame(begun, [0, 1])
  // A place may pause before the next work gets it.
  const untilBegun = async (count: number) => {
    while (begun.length < count) await turn()
  }
  finish[1]?.()
  all.push(work(4))
  await untilBegun(3)
  t.strictSame(begun, [0, 1, 2], 'a new call does not overtake')
  finish[0]?.()
  finish[2]?.()
  await untilBegun(5)
  t.strictSame(begun, [0, 1, 2, 3, 4])
  for (const end of finish) end()
  await Promise.all(all)
})

t.test('while the event loop is busy, a place pauses for longer than its work took', async t => {
  const pauses: number[] = []
  const { setTimeout } = globalThis
  t.intercept(globalThis, 'setTimeout', {
    value: (work: (...given: unknown[]) => void, milliseconds: number, ...given: unknown[]) => {
      pauses.push(milliseconds)
      return setTimeout(work, milliseconds, ...given)
    }
  })
  const { run } = createHashQueue({ concurrency: 1, capacity: 8, pauses: true })
  const work = async (): Promise<void> => {
    const start = performance.now()
    while (performance.now() < start + 20);
  }
  await Promise.all(Array.from({ length: 8 }, () => run(work)))
  t.ok(Math.max(...pauses) > 60)
})

t.test('work that fails leaves its place to the next', async t => {
  const { run } = createHashQueue({ concurrency: 1, capacity: 1, pauses: true })
  const failing = run(() => Promise.reject(new Error('broken')))
  const next = run(async () => 'served')
  await t.rejects(failing, { message: 'broken' })
  t.equal(await next, 'served')
  t.equal(await run(async () => 'served'), 'served')
})

t.test('a queue without room refuses work while its place is taken', async t => {
  const { run } = createHashQueue({ concurrency: 1, capacity: 0, pauses: true })
  const busy = run(async () => 'served')
  await t.rejects(
    run(async () => 'never'),
    OVERLOADED
  )
  t.equal(await busy, 'served')
})

t.test('random secrets are 32 characters, each of the 62 as likely as the others', async t => {
  const drawn = await Promise.all(Array.from({ length: 20_000 }, () => secrets.random()))
  t.ok(drawn.every(text => /^[A-Za-z0-9]{32}$/.test(text)))
  t.equal(new Set(drawn).size, drawn.length)
  const counts = new Map<string, number>()
  for (const character of drawn.join('')) counts.set(character, (counts.get(character) ?? 0) + 1)
  t.equal(counts.size, 62)
  const expected = (20_000 * 32) / 62
  const chiSquared = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
  // 61 degrees of freedom: one run in 500 million is beyond 150. Bytes taken mod 62 without skipping any give some
  // 9,000.
  t.ok(chiSquared < 150, `${chiSquared}`)
})

t.test('nonces are 32 bytes in base64url, grants have UUIDs, and none comes twice', async t => {
  const nonces = await Promise.all(Array.from({ length: 1000 }, () => secrets.nonce()))
  t.ok(nonces.every(nonce => /^[A-Za-z0-9_-]{43}$/.test(nonce) && Buffer.from(nonce, 'base64url').length === 32))
  t.equal(new Set(nonces).size, 1000)
  const ids = await Promise.all(Array.from({ length: 100 }, () => secrets.grantId()))
  t.ok(ids.every(id => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)))
  t.equal(new Set(ids).size, 100)
})

t.test('a digest is the SHA-256 of the UTF-8, in base64url', async t => {
  t.equal(await secrets.digest(''), '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU')
  t.equal(await secrets.digest('é\u{1f9b8}'), 'TOBNVXO6ibn_AbOVwQOfgW7dvL0h1NM261fa9e_3zvE')
  // RFC 7636 appendix B.
  const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
  t.equal(await secrets.digest('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'), challenge)
})

t.test('only a digest and the same digest are equal, and digests of other lengths are no error', async t => {
  const digest = await secrets.digest('a')
  t.equal(await secrets.equal(digest, await secrets.digest('a')), true)
  t.equal(await secrets.equal(digest, await secrets.digest('b')), false)
  t.equal(await secrets.equal(digest, `${digest}A`), false)
  t.equal(await secrets.equal(digest, ''), false)
})

// Computed with Python's hmac and hashlib by the text of core/ports.ts. Two of the six tokens fit in one block.
const SUCCESSORS = [
  {
    token: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    nonce: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    accessToken: '9vil0XXdF5vILzz6pYB80jgZVJLd72RZ',
    refreshToken: '2KScvIvYGuQNUYYhdlJIqvIo4CVQZkv8'
  },
  {
    token: 'abcdefghijklmnopqrstuvwxyz012345',
    nonce: 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8',
    accessToken: 'hA0RAwpf9GwTck0fZv03VAGSkMjsIBVq',
    refreshToken: 'xzmIAYrCs9Lbi5NDcEJpHsAAc2b7NBFG'
  },
  {
    token: 'Zz09Zz09Zz09Zz09Zz09Zz09Zz09Zz09',
    nonce: '__________________________________________8',
    accessToken: 'Nb0L6cuqlMFIsswaLlziYHIUPYhTu8cS',
    refreshToken: 'Y82kOxZMi911oJFgp3l9Y3NCbrItM9P4'
  }
]

t.test('a token and a nonce have the successors that every version of the service derives', async t => {
  for (const { token, nonce, accessToken, refreshToken } of SUCCESSORS) {
    t.strictSame(await secrets.successor(token, nonce), { accessToken, refreshToken })
    t.strictSame(await createCrypto().secrets.successor(token, nonce), { accessToken, refreshToken })
  }
})

t.test('another token or another nonce has another successor, in the form of a random secret', async t => {
  const nonces = await Promise.all(Array.from({ length: 100 }, () => secrets.nonce()))
  const token = await secrets.random()
  const pairs = await Promise.all([
    ...nonces.map(nonce => secrets.successor(token, nonce)),
    secrets.successor(await secrets.random(), nonces[0] ?? '')
  ])
  const derived = pairs.flatMap(({ accessToken, refreshToken }) => [accessToken, refreshToken])
  t.equal(new Set(derived).size, 202)
  t.ok(derived.every(text => /^[A-Za-z0-9]{32}$/.test(text)))
})

t.test('the system clock returns the time in a Date that the caller may change', async t => {
  const begin = Date.now()
  const now = systemClock.now()
  t.ok(now.getTime() >= begin && now.getTime() <= Date.now())
  now.setTime(0)
  t.ok(systemClock.now().getTime() >= begin)
})

t.test('a concurrency or a queue with which a hash would wait for ever is refused', async t => {
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, -1, 1.5]) {
    t.throws(() => createCrypto({ concurrency: value }), {
      name: 'RangeError',
      message: `concurrency is ${value}: it must be an integer from 1 on`
    })
    t.throws(() => createCrypto({ queue: value }), {
      name: 'RangeError',
      message: `queue is ${value}: it must be an integer from 0 on`
    })
  }
  t.throws(() => createCrypto({ concurrency: 0 }), { name: 'RangeError' })
  for (const options of [
    { concurrency: 1, queue: 0 },
    { concurrency: undefined, queue: undefined }
  ]) {
    t.type((await hasher(options).hash('x')).hash, 'string')
  }
})

t.test('parameters that no hash can have are refused', async t => {
  const refused: readonly (readonly [name: string, value: number, least: number, lanes?: number])[] = [
    ['parallelism', 0, 1],
    ['parallelism', 1.5, 1],
    ['memoryCost', 7, 8],
    ['memoryCost', 8.5, 8],
    ['memoryCost', 15, 16, 2],
    ['memoryCost', Number.NaN, 8],
    ['memoryCost', 2 ** 32, 8],
    ['parallelism', 2 ** 24, 1],
    ['timeCost', 2 ** 32, 1],
    ['timeCost', 0, 1],
    ['timeCost', Number.POSITIVE_INFINITY, 1]
  ]
  for (const [name, value, least, parallelism = 1] of refused) {
    t.throws(() => hasher({ parameters: { ...CHEAPEST, parallelism, [name]: value } }), {
      name: 'RangeError',
      message: `${name} is ${value}: it must be an integer from ${least} to ${2 ** (name === 'parallelism' ? 24 : 32) - 1}`
    })
  }
})
