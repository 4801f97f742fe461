import assert from 'node:assert/strict'
import {
  accessOf,
  at,
  type CreateStores,
  clientWith,
  codeUnder,
  grantTo,
  logIn,
  type Parties,
  publicTokenUnder,
  register,
  rivals,
  rounds,
  same,
  type TestFunction,
  tokenUnder
} from './records.js'

/** Tests tokens that a client has for itself (RFC 6749 section 4.4): nobody has logged in for them. */
export const withoutUserContract = (test: TestFunction, createStores: CreateStores): void => {
  test('a token without a user is returned as it was stored, and its grant has no user', async () => {
    const stores = await createStores()
    const { tokens, grants } = stores
    const grant = ownGrant(await register(stores), ['b', 'a:b'])
    const token = publicTokenUnder(grant, { scopes: ['a:b'] })
    assert.equal(await tokens.insert(token, undefined), true)
    same(await tokens.findByAccess(token.accessDigest), accessOf(token))
    same(await grants.find(grant.id), grant)
    const refreshable = tokenUnder({ ...grant, id: crypto.randomUUID() })
    assert.equal(await tokens.insert(refreshable, undefined), true)
    same(await tokens.findByRefresh(refreshable.refreshDigest), {
      ...refreshable,
      spent: undefined,
      ended: false
    })
  })

  test('a grant begins with a user and a generation or with neither, and only while its client exists', async () => {
    const stores = await createStores()
    const { tokens } = stores
    const parties = await register(stores)
    const own = publicTokenUnder(ownGrant(parties))
    const login = publicTokenUnder(grantTo(parties))
    const stranger = { ...parties, user: { ...parties.user, id: parties.user.id + 1 } }
    const orphan = publicTokenUnder(ownGrant({ ...parties, client: clientWith() }))
    assert.equal(await tokens.insert(own, 0), false)
    assert.equal(await tokens.insert(login, undefined), false)
    assert.equal(await tokens.insert(publicTokenUnder(grantTo(stranger)), undefined), false)
    assert.equal(await tokens.insert(orphan, undefined), false)
    assert.equal(await stores.codes.insert(codeUnder(ownGrant(parties)), 0), false)
    for (const { accessDigest, grant } of [own, login, orphan]) {
      assert.equal(await tokens.findByAccess(accessDigest), undefined)
      assert.equal(await stores.grants.find(grant.id), undefined)
    }
    assert.equal(await tokens.insert(own, undefined), true, 'neither token nor grant had been stored')
  })

  test('a token without a user outlives the revocation and the removal of every user', async () => {
    const stores = await createStores()
    const parties = await register(stores)
    const token = publicTokenUnder(ownGrant(parties))
    await stores.tokens.insert(token, undefined)
    const login = await logIn(stores, parties)
    await stores.users.revoke(parties.user.username, at(1))
    await stores.users.remove(parties.user.username)
    assert.equal(await stores.tokens.findByAccess(login.accessDigest), undefined)
    same(await stores.tokens.findByAccess(token.accessDigest), accessOf(token))
  })

  test('a token without a user ends with its revocation, its grant or its client', async () => {
    const stores = await createStores()
    const { tokens, grants, clients } = stores
    const parties = await register(stores)
    const others = { ...parties, client: clientWith() }
    await clients.insert(others.client)
    const store = async (of: Parties) => {
      const token = publicTokenUnder(ownGrant(of))
      assert.equal(await tokens.insert(token, undefined), true)
      return token
    }
    const [single, granted, removed, kept] = [
      await store(parties),
      await store(parties),
      await store(parties),
      await store(others)
    ]
    await tokens.revokeAccess(single.accessDigest, at(1))
    await grants.revoke(granted.grant.id, at(1))
    assert.equal(await tokens.findByAccess(single.accessDigest), undefined)
    assert.equal(await tokens.findByAccess(granted.accessDigest), undefined)
    assert.ok(await tokens.findByAccess(removed.accessDigest))
    await clients.remove(parties.client.id)
    assert.equal(await tokens.findByAccess(removed.accessDigest), undefined)
    assert.equal(await grants.find(removed.grant.id), undefined)
    same(await tokens.findByAccess(kept.accessDigest), accessOf(kept))
    await clients.insert(parties.client)
    assert.equal(
      await tokens.findByAccess(removed.accessDigest),
      undefined,
      'a new client with the id has none of them'
    )
  })

  test('a token without a user is swept when it has expired', async () => {
    const stores = await createStores()
    const { tokens, grants } = stores
    const parties = await register(stores)
    const ended = publicTokenUnder(ownGrant(parties), { expiresAt: at(10) })
    const going = publicTokenUnder(ownGrant(parties), { expiresAt: at(20) })
    for (const token of [ended, going]) await tokens.insert(token, undefined)
    assert.equal(await grants.removeExpired(at(10), 10), 0)
    assert.equal(await grants.removeExpired(at(10.001), 10), 1)
    assert.equal(await tokens.findByAccess(ended.accessDigest), undefined)
    assert.ok(await tokens.findByAccess(going.accessDigest))
    assert.equal(await grants.removeExpired(at(21), 10), 1)
  })

  test('twenty tokens of one client without a user are stored at once, and revoked at once', async () => {
    const stores = await createStores()
    const { tokens } = stores
    const parties = await register(stores)
    const stored = await rivals(async () => {
      const token = publicTokenUnder(ownGrant(parties))
      assert.equal(await tokens.insert(token, undefined), true)
      return token
    })
    const findAll = () => Promise.all(stored.map(({ accessDigest }) => tokens.findByAccess(accessDigest)))
    same(await findAll(), stored.map(accessOf))
    await rivals(rival => tokens.revokeAccess(stored[rival % 2]?.accessDigest ?? '', at(1)))
    same(await findAll(), [undefined, undefined, ...stored.slice(2).map(accessOf)])
  })

  test('no token without a user lives after it is stored while its client is removed', async () => {
    const stores = await createStores()
    const { tokens, grants, clients } = stores
    await rounds(
      async () => {
        const parties = await register(stores)
        return { ...parties, token: publicTokenUnder(ownGrant(parties)) }
      },
      ({ token }) => tokens.insert(token, undefined),
      ({ client }) => clients.remove(client.id),
      async ({ client, token }, _, removed) => {
        assert.equal(removed, true)
        assert.equal(await tokens.findByAccess(token.accessDigest), undefined)
        assert.equal(await grants.find(token.grant.id), undefined)
        await clients.insert(client)
        assert.equal(await tokens.findByAccess(token.accessDigest), undefined)
      }
    )
  })
}

/** A grant that the client has for itself. */
const ownGrant = (parties: Parties, scopes: readonly string[] = []) => grantTo(parties, { userId: undefined, scopes })
