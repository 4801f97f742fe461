import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { PageQuery, PasswordHash } from '../../core/index.js'
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
  same,
  somePassword,
  someSpend,
  type TestFunction,
  tamper,
  tokenUnder
} from './records.js'

const IDS_OF_NOBODY = [0, -1, 2 ** 31 - 1, 2 ** 31, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]

export const userContract = (test: TestFunction, createStores: CreateStores): void => {
  test('a user is stored under a new id at generation 0 and found by id and by name', async () => {
    const { users } = await createStores()
    const password = somePassword()
    const user = await users.insert('alice', password)
    same(user, { id: user?.id, username: 'alice', password, generation: 0 })
    const id = user?.id ?? 0
    assert.ok(Number.isSafeInteger(id) && id > 0)
    same(await users.find(id), user)
    same(await users.findByUsername('alice'), user)
  })

  test('an id or a name that no user has finds nobody', async () => {
    const { users } = await createStores()
    await users.insert('alice', somePassword())
    for (const id of IDS_OF_NOBODY) {
      assert.equal(await users.find(id), undefined, `${id}`)
      assert.equal(await users.rehash(id, somePassword(), somePassword()), false, `${id}`)
    }
    for (const name of ['', 'Alice', 'alice ', 'alic', 'alice%', '%']) {
      assert.equal(await users.findByUsername(name), undefined, JSON.stringify(name))
    }
    assert.equal(await users.setPassword('bob', somePassword(), at(0)), false)
    assert.equal(await users.revoke('bob', at(0)), false)
    assert.equal(await users.remove('bob'), false)
  })

  test('when twenty users with one name are inserted at once, exactly one is stored', async () => {
    const { users } = await createStores()
    const stored = (await rivals(() => users.insert('alice', somePassword()))).filter(user => user !== undefined)
    assert.equal(stored.length, 1)
    same(await users.list({}), stored)
    same(await users.findByUsername('alice'), stored[0])
  })

  test('when twenty users with different names are inserted at once, all are stored', async () => {
    const { users } = await createStores()
    const stored = await rivals(rival => users.insert(`user ${rival}`, somePassword()))
    same(
      stored.map(user => user?.username),
      stored.map((_, rival) => `user ${rival}`)
    )
    assert.equal(new Set(stored.map(user => user?.id)).size, 20)
  })

  test('a user with a taken username is not stored', async () => {
    const { users } = await createStores()
    const user = await users.insert('alice', somePassword())
    assert.equal(await users.insert('alice', somePassword()), undefined)
    same(await users.list({}), [user])
  })

  test('users that are stored together get ids in their order, and taken usernames are left out', async () => {
    const { users } = await createStores()
    const taken = await users.insert('alice', somePassword())
    same(await users.insertAll([]), [])
    const wanted = ['zoe', 'alice', ...ODD_TEXTS, 'bob', 'zoe', 'Bob'].map(username => ({
      username,
      password: somePassword()
    }))
    const stored = await users.insertAll(wanted)
    same(
      stored.map(user => user?.username),
      ['zoe', undefined, ...ODD_TEXTS, 'bob', undefined, 'Bob']
    )
    const listed = stored.filter(user => user !== undefined)
    same(await users.list({}), [taken, ...listed])
    for (const [index, user] of stored.entries()) {
      if (user === undefined) continue
      same(user, { id: user.id, ...wanted[index], generation: 0 })
      same(await users.findByUsername(user.username), user)
    }
  })

  test('when the same users are stored together in two orders at once, each is stored once', async () => {
    const { users } = await createStores()
    await rounds(
      async () => Array.from({ length: 4 }, () => ({ username: randomUUID(), password: somePassword() })),
      wanted => users.insertAll(wanted),
      wanted => users.insertAll(wanted.toReversed()),
      async (wanted, first, second) => {
        const stored = [...first, ...second].filter(user => user !== undefined)
        same(stored.map(({ username }) => username).sort(), wanted.map(({ username }) => username).sort())
      }
    )
  })

  test('usernames are returned unchanged and are kept apart, whatever their characters', async () => {
    const { users } = await createStores()
    for (const username of ODD_TEXTS) assert.equal((await users.insert(username, somePassword()))?.username, username)
    for (const username of ODD_TEXTS) assert.equal((await users.findByUsername(username))?.username, username)
    same(
      (await users.list({})).map(({ username }) => username),
      ODD_TEXTS
    )
  })

  test('users are listed by id, even after one of them changes', async () => {
    const { users } = await createStores()
    same(await users.list({}), [])
    assert.equal(await users.findByUsername('bob'), undefined)
    for (const username of ['carol', 'bob', 'alice']) await users.insert(username, somePassword())
    for (const user of await users.list({})) same(await users.findByUsername(user.username), user)
    await users.revoke('bob', at(0))
    const listed = await users.list({})
    same(
      listed.map(({ generation }) => generation),
      [0, 1, 0]
    )
    for (const user of listed) same(await users.findByUsername(user.username), user)
    same(
      listed.map(({ username }) => username),
      ['carol', 'bob', 'alice']
    )
    same(
      listed.map(({ id }) => id),
      listed.map(({ id }) => id).toSorted((a, b) => a - b)
    )
  })

  test('users are listed from behind any id on, and as many as are wanted', async () => {
    const { users } = await createStores()
    const stored = await users.insertAll(
      ['carol', 'bob', 'alice', 'dave'].map(username => ({ username, password: somePassword() }))
    )
    const ids = stored.map(user => user?.id ?? 0)
    const listed = async (query: PageQuery): Promise<readonly number[]> => (await users.list(query)).map(({ id }) => id)
    same(await listed({}), ids)
    same(await listed({ after: undefined, limit: undefined }), ids)
    same(await listed({ limit: 3 }), ids.slice(0, 3))
    same(await listed({ limit: 9 }), ids)
    same(await listed({ after: ids[1], limit: 1 }), ids.slice(2, 3))
    same(await listed({ after: ids[1] }), ids.slice(2))
    same(await listed({ after: ids[3], limit: 1 }), [])
    await users.remove('bob')
    same(await listed({ after: ids[1], limit: 1 }), ids.slice(2, 3))
    for (const id of IDS_OF_NOBODY) {
      same(await listed({ after: id }), id <= 0 ? [ids[0], ...ids.slice(2)] : [], `${id}`)
    }
  })

  test('a change to a user record does not change the store', async () => {
    const { users } = await createStores()
    const password = somePassword()
    const kept = { ...password }
    const id = (await users.insert('alice', password))?.id ?? 0
    tamper(password)
    tamper(await users.find(id))
    tamper(await users.findByUsername('alice'))
    tamper(await users.list({}))
    same(await users.find(id), { id, username: 'alice', password: kept, generation: 0 })
  })

  test('a new hash replaces the hash that was verified, and ends nothing', async () => {
    const stores = await createStores()
    const parties = await register(stores)
    const { users, tokens, codes } = stores
    const token = await logIn(stores, parties)
    const code = await authorize(stores, parties)
    const { id, password, generation, username } = parties.user
    const replacement = somePassword()
    assert.equal(await users.rehash(id, password, replacement), true)
    same(await users.find(id), { id, username, password: replacement, generation })
    same(await users.findByUsername(username), { id, username, password: replacement, generation })
    assert.ok(await tokens.findByAccess(token.accessDigest))
    assert.ok(await codes.find(code.digest))
    assert.equal(await tokens.insert(tokenUnder(grantTo(parties)), generation), true, 'a login under way is stored')
  })

  test('a new hash keeps the generation, and what has ended stays ended', async () => {
    const stores = await createStores()
    const parties = await register(stores)
    const { users, tokens } = stores
    const { id, username, password } = parties.user
    const ended = await everythingOf(stores, parties)
    await users.revoke(username, at(1))
    const generation = (await users.find(id))?.generation ?? Number.NaN
    const replacement = somePassword()
    assert.equal(await users.rehash(id, password, replacement), true)
    same(await users.find(id), { id, username, password: replacement, generation })
    same(await ended(), NOTHING)
    assert.equal(await tokens.insert(tokenUnder(grantTo(parties)), parties.user.generation), false)
    assert.equal(await tokens.insert(tokenUnder(grantTo(parties)), generation), true)
  })

  test('a new hash does not replace a hash other than the verified one', async () => {
    const { users } = await createStores()
    const old = somePassword()
    const id = (await users.insert('alice', old))?.id ?? 0
    await users.setPassword('alice', somePassword(), at(0))
    const user = await users.find(id)
    const half = { ...somePassword(), hash: user?.password.hash ?? '' }
    const otherHalf = { ...somePassword(), salt: user?.password.salt ?? '' }
    for (const other of [old, half, otherHalf]) assert.equal(await users.rehash(id, other, somePassword()), false)
    same(await users.find(id), user)
  })

  test('when twenty calls replace one verified hash at once, exactly one new hash is stored', async () => {
    const { users } = await createStores()
    const old = somePassword()
    const id = (await users.insert('alice', old))?.id ?? 0
    const replacements = await rivals(async () => {
      const replacement = somePassword()
      return { replacement, stored: await users.rehash(id, old, replacement) }
    })
    const winners = replacements.filter(({ stored }) => stored)
    assert.equal(winners.length, 1)
    same((await users.find(id))?.password, winners[0]?.replacement)
  })

  test('a new hash of the old password never replaces a new password', async () => {
    const stores = await createStores()
    const { users } = stores
    await rounds(
      async () => ({ ...(await register(stores)).user, changed: somePassword() }),
      ({ id, password }) => users.rehash(id, password, somePassword()),
      ({ username, changed }) => users.setPassword(username, changed, at(0)),
      async ({ id, changed }, _, set) => {
        assert.equal(set, true)
        same((await users.find(id))?.password, changed)
      }
    )
  })

  test('revoking ends every grant of the user and raises the generation with every call', async () => {
    const stores = await createStores()
    const { users } = stores
    const parties = await register(stores)
    const ended = await everythingOf(stores, parties)
    const others = await everythingOf(stores, { ...(await register(stores)), client: parties.client })
    const { username, id, generation, password } = parties.user
    assert.equal(await users.revoke(username, at(10)), true)
    same(await ended(), NOTHING)
    same(await others(), EVERYTHING, 'nothing of another user ends')
    const user = await users.find(id)
    assert.ok(user && user.generation > generation)
    same(user?.password, password)
    assert.equal(await users.revoke(username, at(11)), true)
    const again = await users.find(id)
    assert.ok(again && again.generation > user.generation)
  })

  test('a new password ends every grant of the user as well', async () => {
    const stores = await createStores()
    const { users } = stores
    const parties = await register(stores)
    const ended = await everythingOf(stores, parties)
    const others = await everythingOf(stores, { ...(await register(stores)), client: parties.client })
    const { username, id, generation } = parties.user
    const password = somePassword()
    assert.equal(await users.setPassword(username, password, at(10)), true)
    same(await ended(), NOTHING)
    same(await others(), EVERYTHING, 'nothing of another user ends')
    const user = await users.findByUsername(username)
    same(user, { id, username, password, generation: user?.generation })
    assert.ok(user && user.generation > generation)
    assert.equal(await users.setPassword(username, somePassword(), at(11)), true)
    const again = await users.find(id)
    assert.ok(again && again.generation > user.generation)
  })

  test('of twenty new passwords of a user as one look-up found it, one is stored, and the others change nothing', async () => {
    const stores = await createStores()
    const { users } = stores
    const parties = await register(stores)
    const { username } = parties.user
    const passwords: PasswordHash[] = []
    await rivals(async () => {
      const password = somePassword()
      if (await users.setPassword(username, password, at(10), parties.user)) passwords.push(password)
    })
    assert.equal(passwords.length, 1)
    same((await users.findByUsername(username))?.password, passwords[0])
    const kept = await everythingOf(stores, {
      ...parties,
      user: (await users.findByUsername(username)) ?? parties.user
    })
    assert.equal(await users.setPassword(username, somePassword(), at(11), parties.user), false)
    same(await kept(), EVERYTHING, 'no grant ends')
    assert.equal(await users.setPassword('nobody', somePassword(), at(11), parties.user), false)
  })

  test('a new password of a user as a look-up found it is not stored once the logins were ended', async () => {
    const { users } = await createStores()
    const user = await users.insert('alice', somePassword())
    await users.revoke('alice', at(1))
    assert.equal(await users.setPassword('alice', somePassword(), at(2), user), false)
    same((await users.findByUsername('alice'))?.password, user?.password)
  })

  test('a new password of a user who was removed is not stored for another of that name', async () => {
    const { users } = await createStores()
    const first = await users.insert('alice', somePassword())
    await users.remove('alice')
    const other = await users.insert('alice', somePassword())
    assert.equal(await users.setPassword('alice', somePassword(), at(0), first), false)
    same(await users.findByUsername('alice'), other)
    assert.equal(await users.setPassword('alice', somePassword(), at(0), other), true)
  })

  test('the logins of a user who was removed are not those of another of that name', async () => {
    const stores = await createStores()
    const { users } = stores
    const { username, id } = (await register(stores)).user
    await users.remove(username)
    const other = await users.insert(username, somePassword())
    assert.equal(await users.revoke(username, at(0), id), false)
    same(await users.findByUsername(username), other)
    assert.equal(await users.revoke(username, at(0), other?.id), true)
  })

  test('a code or token that ended with the user can be neither redeemed, burnt nor rotated', async () => {
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
      assert.equal(await codes.redeem(code.digest, late), false)
      assert.equal(await codes.burn(code.digest), false)
      assert.equal(await tokens.findByAccess(late.accessDigest), undefined)
      const successor = tokenUnder(token.grant)
      assert.equal(await tokens.rotate(token.refreshDigest, someSpend(), successor), false)
      assert.equal(await tokens.findByAccess(successor.accessDigest), undefined)
    }
  })

  test('a login that was under way when the user was revoked is not stored, and a later login is', async () => {
    const stores = await createStores()
    const { users, codes, tokens } = stores
    const parties = await register(stores)
    const { username, id, generation } = parties.user
    await users.revoke(username, at(10))
    const token = tokenUnder(grantTo(parties))
    const code = codeUnder(grantTo(parties))
    assert.equal(await tokens.insert(token, generation), false)
    assert.equal(await codes.insert(code, generation), false)
    assert.equal(await tokens.findByAccess(token.accessDigest), undefined)
    assert.equal(await codes.find(code.digest), undefined)
    const present = (await users.find(id))?.generation ?? Number.NaN
    assert.equal(await tokens.insert(token, present), true, 'the grant had not begun')
    assert.equal(await codes.insert(code, present), true, 'the grant had not begun')
    assert.ok(await tokens.findByAccess(token.accessDigest))
    assert.ok(await codes.find(code.digest))
  })

  test('a user is removed with all codes and tokens, and the name is free', async () => {
    const stores = await createStores()
    const { users } = stores
    const parties = await register(stores)
    const ended = await everythingOf(stores, parties)
    const others = await everythingOf(stores, { ...(await register(stores)), client: parties.client })
    const { username, id } = parties.user
    assert.equal(await users.remove(username), true)
    assert.equal(await users.remove(username), false)
    assert.equal(await users.find(id), undefined)
    assert.equal(await users.findByUsername(username), undefined)
    same(await ended(), NOTHING)
    same(await others(), EVERYTHING, 'nothing of another user ends')
    const again = await users.insert(username, somePassword())
    assert.ok(again && again.id !== id, 'the new user is another one')
    same(await ended(), NOTHING)
    assert.equal(
      await stores.tokens.insert(tokenUnder(grantTo(parties)), 0),
      false,
      'a login under way is not the new user'
    )
  })

  test('the id of a user who was removed is never given out again, not even to a user of the same name', async () => {
    const { users } = await createStores()
    const ids = new Set<number | undefined>()
    for (const username of ['alice', 'alice', 'bob']) {
      ids.add((await users.insert(username, somePassword()))?.id)
      for (const user of await users.insertAll([{ username: 'carol', password: somePassword() }])) ids.add(user?.id)
      for (const name of [username, 'carol']) assert.equal(await users.remove(name), true)
    }
    assert.equal(ids.size, 6)
  })

  test('when twenty calls remove one user at once, exactly one succeeds', async () => {
    const stores = await createStores()
    const parties = await register(stores)
    await logIn(stores, parties)
    const removed = await rivals(() => stores.users.remove(parties.user.username))
    assert.equal(removed.filter(done => done).length, 1)
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
    code: (await codes.find(code.digest))?.ended === false,
    spentCode: (await codes.find(spentCode.digest))?.ended === false,
    access: (await tokens.findByAccess(redeemed.accessDigest)) !== undefined,
    refresh: (await tokens.findByRefresh(redeemed.refreshDigest))?.ended === false,
    spentRefresh: (await tokens.findByRefresh(token.refreshDigest))?.ended === false,
    successor: (await tokens.findByAccess(successor.accessDigest)) !== undefined
  })
}
