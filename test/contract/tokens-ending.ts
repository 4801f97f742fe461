import assert from 'node:assert/strict'
import type { RefreshToken, Stores, TestFunction } from './records.js'
import {
  accessOf,
  at,
  type CreateStores,
  grantTo,
  logIn,
  register,
  rivals,
  rounds,
  same,
  someDigest,
  somePassword,
  someSpend,
  tokenUnder
} from './records.js'

/**
 * Tests what ends tokens: the revocation of the token, the grant or the user, and the removal of the user or the
 * client.
 */
export const endingContract = (test: TestFunction, createStores: CreateStores): void => {
  test('an access token is ended alone: its refresh token stays valid and is rotated', async () => {
    const stores = await createStores()
    const { tokens } = stores
    const parties = await register(stores)
    const [token, other] = [await logIn(stores, parties), await logIn(stores, parties)]
    await tokens.revokeAccess(token.accessDigest, at(1))
    await tokens.revokeAccess(token.accessDigest, at(2))
    assert.equal(await tokens.findByAccess(token.accessDigest), undefined)
    same(await tokens.findByRefresh(token.refreshDigest), { ...token, spent: undefined, ended: false })
    assert.ok(await tokens.findByAccess(other.accessDigest))
    const successor = tokenUnder(token.grant)
    assert.equal(await tokens.rotate(token.refreshDigest, someSpend(), successor), true)
    same(await tokens.findByAccess(successor.accessDigest), accessOf(successor))
  })

  test('revoking an unknown token or grant is no error and has no effect', async () => {
    const stores = await createStores()
    const token = await logIn(stores, await register(stores))
    await stores.tokens.revokeAccess(someDigest(), at(1))
    await stores.tokens.revokeAccess(token.refreshDigest, at(1))
    assert.equal(await stores.grants.revoke(crypto.randomUUID(), at(1)), false)
    same(await stores.tokens.findByAccess(token.accessDigest), accessOf(token))
    same(await stores.tokens.findByRefresh(token.refreshDigest), {
      ...token,
      spent: undefined,
      ended: false
    })
  })

  test('revoking a grant ends all its tokens, even spent ones, and no others', async () => {
    const stores = await createStores()
    const { grants, tokens } = stores
    const parties = await register(stores)
    const [token, other] = [await logIn(stores, parties), await logIn(stores, parties)]
    const successor = tokenUnder(token.grant)
    const spent = someSpend()
    await tokens.rotate(token.refreshDigest, spent, successor)
    assert.equal(await grants.revoke(token.grant.id, at(1)), true)
    assert.equal(await grants.revoke(token.grant.id, at(2)), false)
    same(await tokens.findByRefresh(token.refreshDigest), { ...token, spent, ended: true })
    same(await tokens.findByRefresh(successor.refreshDigest), { ...successor, spent: undefined, ended: true })
    same(await living(stores, token), [])
    same(await living(stores, successor), [])
    same(await living(stores, other), ['access', 'refresh'])
  })

  test('when twenty calls revoke one grant at once, exactly one has ended it', async () => {
    const stores = await createStores()
    const parties = await register(stores)
    const token = await logIn(stores, parties)
    const ended = await rivals(async rival => {
      const won = await stores.grants.revoke(token.grant.id, at(rival))
      assert.equal(await stores.grants.find(token.grant.id), undefined, 'every call finds it ended after its answer')
      return won
    })
    same(ended.toSorted(), [...Array(19).fill(false), true])
  })

  test('a grant that has ended with its user or its client is neither found nor ended again', async () => {
    const stores = await createStores()
    const ways: readonly ((parties: Parties) => Promise<boolean>)[] = [
      ({ user }) => stores.users.revoke(user.username, at(1)),
      ({ user }) => stores.users.setPassword(user.username, somePassword(), at(1)),
      ({ user }) => stores.users.remove(user.username),
      ({ client }) => stores.clients.remove(client.id)
    ]
    for (const end of ways) {
      const parties = await register(stores)
      const { grant } = await logIn(stores, parties)
      same(await stores.grants.find(grant.id), grant)
      assert.equal(await end(parties), true)
      assert.equal(await stores.grants.find(grant.id), undefined)
      assert.equal(await stores.grants.revoke(grant.id, at(2)), false)
    }
  })

  test('nothing is stored under a grant that was revoked', async () => {
    const stores = await createStores()
    const { grants, tokens } = stores
    const token = await logIn(stores, await register(stores))
    await grants.revoke(token.grant.id, at(1))
    const successor = tokenUnder(token.grant)
    assert.equal(await tokens.rotate(token.refreshDigest, someSpend(2), successor), false)
    same(await living(stores, successor), [])
  })

  test('no token lives after a rotation while its grant is revoked', async () => {
    const stores = await createStores()
    const parties = await register(stores)
    await rounds(
      () => refreshing(stores, parties),
      ({ token, spend, successor }) => stores.tokens.rotate(token.refreshDigest, spend, successor),
      async ({ token }) => stores.grants.revoke(token.grant.id, at(1)),
      async ({ token, successor }) => {
        same(await living(stores, token), [])
        same(await living(stores, successor), [])
      }
    )
  })

  test('an access token that is revoked while it is rotated is dead, and its successor lives', async () => {
    const stores = await createStores()
    const parties = await register(stores)
    await rounds(
      () => refreshing(stores, parties),
      ({ token, spend, successor }) => stores.tokens.rotate(token.refreshDigest, spend, successor),
      ({ token }) => stores.tokens.revokeAccess(token.accessDigest, at(1)),
      async ({ token, successor }, won) => {
        assert.equal(won, true)
        same(await living(stores, token), ['refresh'])
        same(await living(stores, successor), ['access', 'refresh'])
      }
    )
  })

  const endings: readonly [string, (stores: Stores) => (parties: Parties) => Promise<boolean>][] = [
    ['its user is revoked or gets a new password', endUser],
    [
      'its user is removed',
      stores =>
        ({ user }) =>
          stores.users.remove(user.username)
    ],
    [
      'its client is removed',
      stores =>
        ({ client }) =>
          stores.clients.remove(client.id)
    ]
  ]
  for (const [how, end] of endings) {
    test(`no token lives after a rotation while ${how}`, async () => {
      const stores = await createStores()
      await rounds(
        async () => refreshing(stores, await register(stores)),
        ({ token, spend, successor }) => stores.tokens.rotate(token.refreshDigest, spend, successor),
        end(stores),
        async ({ token, successor }, _, ended) => {
          assert.equal(ended, true)
          same(await living(stores, token), [])
          same(await living(stores, successor), [])
        }
      )
    })

    test(`no token lives after a login while ${how}`, async () => {
      const stores = await createStores()
      await rounds(
        () => loggingIn(stores),
        ({ token }) => stores.tokens.insert(token, 0),
        end(stores),
        async ({ token, user }, _, ended) => {
          assert.equal(ended, true)
          same(await living(stores, token), [])
          const left = await stores.users.find(user.id)
          if (end === endUser) assert.equal(left?.generation, 1)
        }
      )
    })
  }

  test('a user and a client with common tokens can be removed at once', async () => {
    const stores = await createStores()
    await rounds(
      async () => refreshing(stores, await register(stores)),
      ({ user }) => stores.users.remove(user.username),
      ({ client }) => stores.clients.remove(client.id),
      async ({ token }, user, client) => {
        assert.ok(user && client)
        same(await living(stores, token), [])
      }
    )
  })

  const ends: [string, (stores: Stores, parties: Parties) => Promise<boolean>][] = [
    ['their user is revoked', ({ users }, { user }) => users.revoke(user.username, at(1))],
    ['their user is removed', ({ users }, { user }) => users.remove(user.username)],
    ['their client is removed', ({ clients }, { client }) => clients.remove(client.id)]
  ]
  for (const [how, end] of ends) {
    test(`no token lives after twenty logins and rotations while ${how}`, async () => {
      const stores = await createStores()
      const parties = await register(stores)
      const present = await rivals(() => refreshing(stores, parties))
      const late = present.map(() => tokenUnder(grantTo(parties)))
      const answers = present.flatMap(({ token, spend, successor }, i) => [
        stores.tokens.rotate(token.refreshDigest, spend, successor),
        stores.tokens.insert(late[i] ?? token, 0),
        ...(i === 9 ? [end(stores, parties)] : [])
      ])
      await Promise.all(answers)
      assert.equal(await answers[20], true)
      const every = [...present.flatMap(({ token, successor }) => [token, successor]), ...late]
      same((await Promise.all(every.map(token => living(stores, token)))).flat(), [])
    })
  }
}

type Parties = Awaited<ReturnType<typeof register>>
type Refreshing = Parties & {
  readonly token: RefreshToken
  readonly successor: RefreshToken
  readonly spend: ReturnType<typeof someSpend>
}

const refreshing = async (stores: Stores, parties: Parties): Promise<Refreshing> => {
  const token = await logIn(stores, parties)
  return { ...parties, token, successor: tokenUnder(token.grant), spend: someSpend() }
}

const loggingIn = async (stores: Stores): Promise<Parties & { readonly token: RefreshToken }> => {
  const parties = await register(stores)
  return { ...parties, token: tokenUnder(grantTo(parties)) }
}

/** Ends all of a user's logins in one of the two ways. */
const endUser = (stores: Stores): ((parties: Parties) => Promise<boolean>) => {
  let call = 0
  // It changes after every third call, because `rounds` itself changes the order of its calls after every second one.
  return ({ user }) =>
    call++ % 6 < 3
      ? stores.users.revoke(user.username, at(1))
      : stores.users.setPassword(user.username, somePassword(), at(1))
}

/** What is found of a token, and what a late rotation can do with it. */
const living = async (
  { tokens }: Stores,
  { accessDigest, refreshDigest, grant }: RefreshToken
): Promise<readonly string[]> => {
  const access = await tokens.findByAccess(accessDigest)
  const found = await tokens.findByRefresh(refreshDigest)
  const refresh = found?.ended ? undefined : found
  if (refresh === undefined) {
    const late = tokenUnder(grant)
    const rotated = await tokens.rotate(refreshDigest, someSpend(), late)
    if (rotated || (await tokens.findByAccess(late.accessDigest)) !== undefined) return ['rotation']
  }
  return [...(access === undefined ? [] : ['access']), ...(refresh === undefined ? [] : ['refresh'])]
}
