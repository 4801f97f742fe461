import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import {
  at,
  authorize,
  type CreateStores,
  codeUnder,
  grantTo,
  logIn,
  ODD_TEXTS,
  register,
  rivals,
  rounds,
  type Stores,
  somePassword,
  someSpend,
  tamper,
  tokenUnder
} from './records.js'

const IDS_OF_NOBODY = [0, -1, 2 ** 31 - 1, 2 ** 31, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]

export const userContract = async (t: Test, createStores: CreateStores): Promise<void> => {
  await t.test('a user is stored under a new id at generation 0 and found by id and by name', async t => {
    const { users } = await createStores()
    const password = somePassword()
    const user = await users.insert('alice', password)
    t.strictSame(user, { id: user?.id, username: 'alice', password, generation: 0 })
    const id = user?.id ?? 0
    t.ok(Number.isSafeInteger(id) && id > 0)
    t.strictSame(await users.find(id), user)
    t.strictSame(await users.findByUsername('alice'), user)
  })

  await t.test('an id or a name that no user has finds nobody', async t => {
    const { users } = await createStores()
    await users.insert('alice', somePassword())
    for (const id of IDS_OF_NOBODY) {
      t.equal(await users.find(id), undefined, `${id}`)
      t.equal(await users.rehash(id, somePassword(), somePassword()), false, `${id}`)
    }
    for (const name of ['', 'Alice', 'alice ', 'alic', 'alice%', '%']) {
      t.equal(await users.findByUsername(name), undefined, JSON.stringify(name))
    }
    t.equal(await users.setPassword('bob', somePassword(), at(0)), false)
    t.equal(await users.revoke('bob', at(0)), false)
    t.equal(await users.remove('bob'), false)
  })

  await t.test('when twenty users with one name are inserted at once, exactly one is stored', async t => {
    const { users } = await createStores()
    const stored = (await rivals(() => users.insert('alice', somePassword()))).filter(user => user !== undefined)
    t.equal(stored.length, 1)
    t.strictSame(await users.list(), stored)
    t.strictSame(await users.findByUsername('alice'), stored[0])
  })

  await t.test('when twenty users with different names are inserted at once, all are stored', async t => {
    const { users } = await createStores()
    const stored = await rivals(rival => users.insert(`user ${rival}`, somePassword()))
    t.strictSame(
      stored.map(user => user?.username),
      stored.map((_, rival) => `user ${rival}`)
    )
    t.equal(new Set(stored.map(user => user?.id)).size, 20)
  })

  await t.test('a user with a taken username is not stored', async t => {
    const { users } = await createStores()
    const user = await users.insert('alice', somePassword())
    t.equal(await users.insert('alice', somePassword()), undefined)
    t.strictSame(await users.list(), [user])
  })

  await t.test('users that are stored together get ids in their order, and taken usernames are left out', async t => {
    const { users } = await createStores()
    const taken = await users.insert('alice', somePassword())
    t.strictSame(await users.insertAll([]), [])
    const wanted = ['zoe', 'alice', ...ODD_TEXTS, 'bob', 'zoe', 'Bob'].map(username => ({
      username,
      password: somePassword()
    }))
    const stored = await users.insertAll(wanted)
    t.strictSame(
      stored.map(user => user?.username),
      ['zoe', undefined, ...ODD_TEXTS, 'bob', undefined, 'Bob']
    )
    const listed = stored.filter(user => user !== undefined)
    t.strictSame(await users.list(), [taken, ...listed])
    for (const [index, user] of stored.entries()) {
      if (user === undefined) continue
      t.strictSame(user, { id: user.id, ...wanted[index], generation: 0 })
      t.strictSame(await users.findByUsername(user.username), user)
    }
  })

  await t.test('when the same users are stored together in two orders at once, each is stored once', async t => {
    const { users } = await createStores()
    await rounds(
      async () => Array.from({ length: 4 }, () => ({ username: randomUUID(), password: somePassword() })),
      wanted => users.insertAll(wanted),
      wanted => users.insertAll(wanted.toReversed()),
      async (wanted, first, second) => {
        const stored = [...first, ...second].filter(user => user !== undefined)
        t.strictSame(stored.map(({ username }) => username).sort(), wanted.map(({ username }) => username).sort())
      }
    )
  })

  await t.test('usernames are returned unchanged and are kept apart, whatever their characters', async t => {
    const { users } = await createStores()
    for (const username of ODD_TEXTS) t.equal((await users.insert(username, somePassword()))?.username, username)
    for (const username of ODD_TEXTS) t.equal((await users.findByUsername(username))?.username, username)
    t.strictSame(
      (await users.list()).map(({ username }) => username),
      ODD_TEXTS
    )
  })

  await t.test('users are listed by id, even after one of them changes', async t => {
    const { users } = await createStores()
    t.strictSame(await users.list(), [])
    for (const username of ['carol', 'bob', 'alice']) await users.insert(username, somePassword())
    await users.revoke('bob', at(0))
    const listed = await users.list()
    t.strictSame(
      listed.map(({ username }) => username),
      ['carol', 'bob', 'alice']
    )
    t.strictSame(
      listed.map(({ id }) => id),
      listed.map(({ id }) => id).toSorted((a, b) => a - b)
    )
  })

  await t.test('a change to a user record does not change the store', async t => {
    const { users } = await createStores()
    const password = somePassword()
    const kept = { ...password }
    const id = (await users.insert('alice', password))?.id ?? 0
    tamper(password)
    tamper(await users.find(id))
    tamper(await users.findByUsername('alice'))
    tamper(await users.list())
    t.strictSame(await users.find(id), { id, username: 'alice', password: kept, generation: 0 })
  })

  await t.test('a new hash replaces the hash that was verified, and ends nothing', async t => {
    const stores = await createStores()
    const parties = await register(stores)
    const { users, tokens, codes } = stores
    const token = await logIn(stores, parties)
    const code = await authorize(stores, parties)
    const { id, password, generation, username } = parties.user
    const replacement = somePassword()
    t.equal(await users.rehash(id, password, replacement), true)
    t.strictSame(await users.find(id), { id, username, password: replacement, generation })
    t.strictSame(await users.findByUsername(username), { id, username, password: replacement, generation })
    t.ok(await tokens.findByAccess(token.accessDigest))
    t.ok(await codes.find(code.digest))
    t.equal(await tokens.insert(tokenUnder(grantTo(parties)), generation), true, 'a login under way is stored')
  })

  await t.test('a new hash does not replace a hash other than the verified one', async t => {
    const { users } = await createStores()
    const old = somePassword()
    const id = (await users.insert('alice', old))?.id ?? 0
    await users.setPassword('alice', somePassword(), at(0))
    const user = await users.find(id)
    const half = { ...somePassword(), hash: user?.password.hash ?? '' }
    for (const other of [old, half]) t.equal(await users.rehash(id, other, somePassword()), false)
    t.strictSame(await users.find(id), user)
  })

  await t.test('when twenty calls replace one verified hash at once, exactly one new hash is stored', async t => {
    const { users } = await createStores()
    const old = somePassword()
    const id = (await users.insert('alice', old))?.id ?? 0
    const replacements = await rivals(async () => {
      const replacement = somePassword()
      return { replacement, stored: await users.rehash(id, old, replacement) }
    })
    const winners = replacements.filter(({ stored }) => stored)
    t.equal(winners.length, 1)
    t.strictSame((await users.find(id))?.password, winners[0]?.replacement)
  })

  await t.test('a new hash of the old password never replaces a new password', async t => {
    const stores = await createStores()
    const { users } = stores
    await rounds(
      async () => ({ ...(await register(stores)).user, changed: somePassword() }),
      ({ id, password }) => users.rehash(id, password, somePassword()),
      ({ username, changed }) => users.setPassword(username, changed, at(0)),
      async ({ id, changed }, _, set) => {
        t.equal(set, true)
        t.strictSame((await users.find(id))?.password, changed)
      }
    )
  })

  await t.test('revoking ends every grant of the user and raises the generation with every call', async t => {
    const stores = await createStores()
    const { users } = stores
    const parties = await register(stores)
    const ended = await everythingOf(stores, parties)
    const others = await everythingOf(stores, { ...(await register(stores)), client: parties.client })
    const { username, id, generation, password } = parties.user
    t.equal(await users.revoke(username, at(10)), true)
    t.strictSame(await ended(), NOTHING)
    t.strictSame(await others(), EVERYTHING, 'nothing of another user ends')
    const user = await users.find(id)
    t.ok(user && user.generation > generation)
    t.strictSame(user?.password, password)
    t.equal(await users.revoke(username, at(11)), true)
    t.ok((await users.find(id))?.generation !== user?.generation)
  })

  await t.test('a new password ends every grant of the user as well', async t => {
    const stores = await createStores()
    const { users } = stores
    const parties = await register(stores)
    const ended = await everythingOf(stores, parties)
    const others = await everythingOf(stores, { ...(await register(stores)), client: parties.client })
    const { username, id, generation } = parties.user
    const password = somePassword()
    t.equal(await users.setPassword(username, password, at(10)), true)
    t.strictSame(await ended(), NOTHING)
    t.strictSame(await others(), EVERYTHING, 'nothing of another user ends')
    const user = await users.findByUsername(username)
    t.strictSame(user, { id, username, password, generation: user?.generation })
    t.ok(user && user.generation > generation)
  })

  await t.test('a code or token that ended with the user can be neither redeemed, burnt nor rotated', async t => {
    const stores = await createStores()
    const { users, codes, tokens } = stores
    const ways = [
      (name: string) => users.revoke(name, at(10)),
      (name: string) => users.setPassword(name, somePassword(), at(10)),
      (name: string) => users.remove(name)
    ]
    for (const end of ways) {
      const parties = await register(stores)
      const code = await authorize(stores, parties)
      const token = await logIn(stores, parties)
      await end(parties.user.username)
      const late = tokenUnder(code.grant)
      t.equal(await codes.redeem(code.digest, late), false)
      t.equal(await codes.burn(code.digest), false)
      t.equal(await tokens.findByAccess(late.accessDigest), undefined)
      const successor = tokenUnder(token.grant)
      t.equal(await tokens.rotate(token.refreshDigest, someSpend(), successor), false)
      t.equal(await tokens.findByAccess(successor.accessDigest), undefined)
    }
  })

  await t.test('a login that was under way when the user was revoked is not stored, and a later login is', async t => {
    const stores = await createStores()
    const { users, codes, tokens } = stores
    const parties = await register(stores)
    const { username, id, generation } = parties.user
    await users.revoke(username, at(10))
    const token = tokenUnder(grantTo(parties))
    const code = codeUnder(grantTo(parties))
    t.equal(await tokens.insert(token, generation), false)
    t.equal(await codes.insert(code, generation), false)
    t.equal(await tokens.findByAccess(token.accessDigest), undefined)
    t.equal(await codes.find(code.digest), undefined)
    const present = (await users.find(id))?.generation ?? Number.NaN
    t.equal(await tokens.insert(token, present), true, 'the grant had not begun')
    t.equal(await codes.insert(code, present), true, 'the grant had not begun')
    t.ok(await tokens.findByAccess(token.accessDigest))
    t.ok(await codes.find(code.digest))
  })

  await t.test('a user is removed with all codes and tokens, and the name is free', async t => {
    const stores = await createStores()
    const { users } = stores
    const parties = await register(stores)
    const ended = await everythingOf(stores, parties)
    const others = await everythingOf(stores, { ...(await register(stores)), client: parties.client })
    const { username, id } = parties.user
    t.equal(await users.remove(username), true)
    t.equal(await users.remove(username), false)
    t.equal(await users.find(id), undefined)
    t.equal(await users.findByUsername(username), undefined)
    t.strictSame(await ended(), NOTHING)
    t.strictSame(await others(), EVERYTHING, 'nothing of another user ends')
    const again = await users.insert(username, somePassword())
    t.ok(again && again.id !== id, 'the new user is another one')
    t.strictSame(await ended(), NOTHING)
    t.equal(await stores.tokens.insert(tokenUnder(grantTo(parties)), 0), false, 'a login under way is not the new user')
  })

  await t.test('when twenty calls remove one user at once, exactly one succeeds', async t => {
    const stores = await createStores()
    const parties = await register(stores)
    await logIn(stores, parties)
    const removed = await rivals(() => stores.users.remove(parties.user.username))
    t.equal(removed.filter(done => done).length, 1)
  })
}

const EVERYTHING = { code: true, spentCode: true, access: true, refresh: true, spentRefresh: true, successor: true }
const NOTHING = { code: false, spentCode: false, access: false, refresh: false, spentRefresh: false, successor: false }

/**
 * Stores every kind of code and token that can live under a grant. The returned function tells which of them are found.
 */
const everythingOf = async (
  stores: Stores,
  parties: Awaited<ReturnType<typeof register>>
): Promise<() => Promise<typeof EVERYTHING>> => {
  const { codes, tokens } = stores
  const code = await authorize(stores, parties)
  const spentCode = await authorize(stores, parties)
  const redeemed = tokenUnder(spentCode.grant)
  const token = await logIn(stores, parties)
  const successor = tokenUnder(token.grant)
  await codes.redeem(spentCode.digest, redeemed)
  await tokens.rotate(token.refreshDigest, someSpend(), successor)
  return async () => ({
    code: (await codes.find(code.digest)) !== undefined,
    spentCode: (await codes.find(spentCode.digest)) !== undefined,
    access: (await tokens.findByAccess(redeemed.accessDigest)) !== undefined,
    refresh: (await tokens.findByRefresh(redeemed.refreshDigest)) !== undefined,
    spentRefresh: (await tokens.findByRefresh(token.refreshDigest)) !== undefined,
    successor: (await tokens.findByAccess(successor.accessDigest)) !== undefined
  })
}
