import assert from 'node:assert/strict'
import type { Code } from '../../core/model.js'
import {
  accessOf,
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
  same,
  someDigest,
  somePassword,
  type TestFunction,
  tamper,
  tokenUnder
} from './records.js'

export const codeContract = (test: TestFunction, createStores: CreateStores): void => {
  test('a code with every value that it can have is returned as it was stored, unspent', async () => {
    const stores = await createStores()
    const parties = await register(stores)
    const code: Code = {
      digest: someDigest(),
      grant: grantTo(parties, { scopes: ['b', 'a:b', 'a.readonly'], expiresAt: at(31_536_000.001) }),
      redirectUri: 'https://shop.example/cb?a=%20&b=1',
      challenge: someDigest(),
      issuedAt: at(0.001),
      expiresAt: at(59.999)
    }
    assert.equal(await stores.codes.insert(code, 0), true)
    same(await stores.codes.find(code.digest), { ...code, spent: false, ended: false })
  })

  test('a code without a redirect URI and a challenge is returned with undefined', async () => {
    const stores = await createStores()
    const code = await authorize(stores, await register(stores))
    same(await stores.codes.find(code.digest), { ...code, spent: false, ended: false })
  })

  test('the scopes of a grant are returned in their order, whatever their characters', async () => {
    const stores = await createStores()
    const parties = await register(stores)
    const code = codeUnder(grantTo(parties, { scopes: ['', ...ODD_TEXTS, ''] }))
    await stores.codes.insert(code, 0)
    same(await stores.codes.find(code.digest), { ...code, spent: false, ended: false })
  })

  test('a change to a code record does not change the store', async () => {
    const stores = await createStores()
    const code = codeUnder(grantTo(await register(stores), { scopes: ['a'] }))
    const kept = structuredClone(code)
    await stores.codes.insert(code, 0)
    tamper(code)
    tamper(await stores.codes.find(kept.digest))
    same(await stores.codes.find(kept.digest), { ...kept, spent: false, ended: false })
  })

  test('a code that was never stored is neither found nor spent', async () => {
    const stores = await createStores()
    const code = await authorize(stores, await register(stores))
    const token = tokenUnder(code.grant)
    assert.equal(await stores.codes.find(someDigest()), undefined)
    assert.equal(await stores.codes.redeem(someDigest(), token), false)
    assert.equal(await stores.codes.burn(someDigest()), false)
    assert.equal(await stores.tokens.findByAccess(token.accessDigest), undefined)
    assert.equal((await stores.codes.find(code.digest))?.spent, false)
  })

  test('a code is stored only if its client exists and its user exists at the same generation', async () => {
    const stores = await createStores()
    const parties = await register(stores)
    const { user } = parties
    const code = codeUnder(grantTo(parties))
    for (const generation of [user.generation + 1, user.generation - 1]) {
      assert.equal(await stores.codes.insert(code, generation), false, `generation ${generation}`)
    }
    for (const userId of [user.id + 1, 0, -1, 2 ** 31, Number.MAX_SAFE_INTEGER]) {
      const grant = { ...code.grant, userId }
      assert.equal(await stores.codes.insert({ ...code, grant }, user.generation), false, `user ${userId}`)
    }
    const grant = { ...code.grant, clientId: 'nobody' }
    assert.equal(await stores.codes.insert({ ...code, grant }, user.generation), false)
    assert.equal(await stores.codes.find(code.digest), undefined)
    assert.equal(await stores.codes.insert(code, user.generation), true, 'neither code nor grant had been stored')
  })

  test('the caller judges expiry: an expired code is found and redeemed', async () => {
    const stores = await createStores()
    const code = await authorize(stores, await register(stores), { expiresAt: new Date(1) })
    same(await stores.codes.find(code.digest), { ...code, spent: false, ended: false })
    assert.equal(await stores.codes.redeem(code.digest, tokenUnder(code.grant)), true)
  })

  test('a code that is redeemed is spent, and its token is stored under its grant', async () => {
    const stores = await createStores()
    const code = codeUnder(grantTo(await register(stores), { scopes: ['a', 'b', 'c'] }))
    await stores.codes.insert(code, 0)
    const token = tokenUnder(code.grant, { scopes: ['c', 'a'] })
    assert.equal(await stores.codes.redeem(code.digest, token), true)
    same(await stores.codes.find(code.digest), { ...code, spent: true, ended: false })
    same(await stores.tokens.findByAccess(token.accessDigest), accessOf(token))
    same(await stores.tokens.findByRefresh(token.refreshDigest), {
      ...token,
      spent: undefined,
      ended: false
    })
    await stores.grants.revoke(code.grant.id, at(1))
    assert.equal(await stores.tokens.findByAccess(token.accessDigest), undefined)
  })

  test('a code whose token cannot be stored is not spent', async () => {
    const stores = await createStores()
    const parties = await register(stores)
    const code = await authorize(stores, parties)
    const { accessDigest } = await logIn(stores, parties)
    const redeemed = await stores.codes.redeem(code.digest, tokenUnder(code.grant, { accessDigest })).catch(() => false)
    assert.equal((await stores.codes.find(code.digest))?.spent, redeemed, 'both are done, or neither')
  })

  test('a code is redeemed at most once, ever, and a second token is not stored', async () => {
    const stores = await createStores()
    const code = await authorize(stores, await register(stores))
    const [first, second] = [tokenUnder(code.grant), tokenUnder(code.grant)]
    assert.equal(await stores.codes.redeem(code.digest, first), true)
    assert.equal(await stores.codes.redeem(code.digest, second), false)
    assert.equal(await stores.codes.burn(code.digest), false)
    assert.ok(await stores.tokens.findByAccess(first.accessDigest))
    assert.equal(await stores.tokens.findByAccess(second.accessDigest), undefined)
    assert.equal(await stores.tokens.findByRefresh(second.refreshDigest), undefined)
  })

  test('a code that is burnt is spent, and no token is stored', async () => {
    const stores = await createStores()
    const code = await authorize(stores, await register(stores))
    const token = tokenUnder(code.grant)
    assert.equal(await stores.codes.burn(code.digest), true)
    same(await stores.codes.find(code.digest), { ...code, spent: true, ended: false })
    assert.equal(await stores.codes.burn(code.digest), false)
    assert.equal(await stores.codes.redeem(code.digest, token), false)
    assert.equal(await stores.tokens.findByAccess(token.accessDigest), undefined)
  })

  test('when twenty calls redeem one code at once, exactly one has its token stored', async () => {
    const stores = await createStores()
    const code = await authorize(stores, await register(stores))
    const answers = await rivals(async () => {
      const token = tokenUnder(code.grant)
      const won = await stores.codes.redeem(code.digest, token)
      assert.equal(
        (await stores.codes.find(code.digest))?.spent,
        true,
        'every call finds the code spent after its answer'
      )
      return { won, stored: (await stores.tokens.findByAccess(token.accessDigest)) !== undefined }
    })
    assert.equal(answers.filter(({ won }) => won).length, 1)
    assert.ok(answers.every(({ won, stored }) => won === stored))
  })

  test('when twenty calls burn one code at once, exactly one succeeds', async () => {
    const stores = await createStores()
    const code = await authorize(stores, await register(stores))
    assert.equal((await rivals(() => stores.codes.burn(code.digest))).filter(won => won).length, 1)
  })

  test('when ten calls redeem and ten calls burn one code at once, exactly one succeeds', async () => {
    const stores = await createStores()
    const parties = await register(stores)
    for (const redeemersBegin of [true, false]) {
      const code = await authorize(stores, parties)
      const token = tokenUnder(code.grant)
      const answers = await rivals(async rival => {
        const redeems = (rival % 2 === 0) === redeemersBegin
        const mine = tokenUnder(code.grant)
        const won = await (redeems ? stores.codes.redeem(code.digest, mine) : stores.codes.burn(code.digest))
        const stored = (await stores.tokens.findByAccess(mine.accessDigest)) !== undefined
        return { won, right: stored === (won && redeems) }
      })
      assert.equal(answers.filter(({ won }) => won).length, 1)
      assert.ok(answers.every(({ right }) => right))
      assert.equal(await stores.codes.redeem(code.digest, token), false)
    }
  })

  test('twenty codes for one user are all stored at once, and all redeemed at once', async () => {
    const stores = await createStores()
    const parties = await register(stores)
    const codes = await rivals(() => authorize(stores, parties))
    const won = await Promise.all(codes.map(code => stores.codes.redeem(code.digest, tokenUnder(code.grant))))
    assert.ok(won.every(answer => answer))
  })

  test('a code whose grant was revoked says so, spent or not, and cannot be spent', async () => {
    const stores = await createStores()
    const parties = await register(stores)
    const [code, spent, other] = [
      await authorize(stores, parties),
      await authorize(stores, parties),
      await authorize(stores, parties)
    ]
    await stores.codes.burn(spent.digest)
    for (const { grant } of [code, spent]) await stores.grants.revoke(grant.id, at(1))
    const token = tokenUnder(code.grant)
    same(await stores.codes.find(code.digest), { ...code, spent: false, ended: true })
    same(await stores.codes.find(spent.digest), { ...spent, spent: true, ended: true })
    assert.equal(await stores.codes.redeem(code.digest, token), false)
    assert.equal(await stores.codes.burn(code.digest), false)
    assert.equal(await stores.tokens.findByAccess(token.accessDigest), undefined)
    assert.equal((await stores.codes.find(other.digest))?.ended, false, 'another grant of the same user goes on')
  })

  test('no token lives after a code is redeemed while its grant is revoked', async () => {
    const stores = await createStores()
    const parties = await register(stores)
    await rounds(
      async () => {
        const code = await authorize(stores, parties)
        return { code, token: tokenUnder(code.grant) }
      },
      ({ code, token }) => stores.codes.redeem(code.digest, token),
      async ({ code }) => stores.grants.revoke(code.grant.id, at(1)),
      async ({ code, token }) => {
        assert.equal(await stores.tokens.findByAccess(token.accessDigest), undefined)
        assert.notEqual((await stores.tokens.findByRefresh(token.refreshDigest))?.ended, false)
        assert.equal((await stores.codes.find(code.digest))?.ended, true)
      }
    )
  })

  test('no code lives after it is stored while its user is revoked or gets a new password', async () => {
    const stores = await createStores()
    await rounds(
      async round => {
        const parties = await register(stores)
        return { ...parties, revokes: round % 4 < 2, code: codeUnder(grantTo(parties)) }
      },
      ({ code }) => stores.codes.insert(code, 0),
      ({ user, revokes }) =>
        revokes
          ? stores.users.revoke(user.username, at(1))
          : stores.users.setPassword(user.username, somePassword(), at(1)),
      async ({ code, user }, _, ended) => {
        assert.equal(ended, true)
        assert.notEqual((await stores.codes.find(code.digest))?.ended, false)
        assert.equal(await stores.codes.redeem(code.digest, tokenUnder(code.grant)), false)
        assert.notEqual((await stores.users.find(user.id))?.generation, 0)
      }
    )
  })

  test('no code lives after it is stored while its user or its client is removed', async () => {
    const stores = await createStores()
    await rounds(
      async round => {
        const parties = await register(stores)
        return { ...parties, code: codeUnder(grantTo(parties)), removesClient: round % 4 < 2 }
      },
      ({ code }) => stores.codes.insert(code, 0),
      ({ user, client, removesClient }) =>
        removesClient ? stores.clients.remove(client.id) : stores.users.remove(user.username),
      async ({ code }, _, removed) => {
        assert.equal(removed, true)
        assert.equal(await stores.codes.find(code.digest), undefined)
        const token = tokenUnder(code.grant)
        assert.equal(await stores.codes.redeem(code.digest, token), false)
        assert.equal(await stores.tokens.findByAccess(token.accessDigest), undefined)
      }
    )
  })

  test('no code or token lives after a code is redeemed while its user or its client is removed', async () => {
    const stores = await createStores()
    await rounds(
      async round => {
        const parties = await register(stores)
        const code = await authorize(stores, parties)
        return { ...parties, code, token: tokenUnder(code.grant), removesClient: round % 4 < 2 }
      },
      ({ code, token }) => stores.codes.redeem(code.digest, token),
      ({ user, client, removesClient }) =>
        removesClient ? stores.clients.remove(client.id) : stores.users.remove(user.username),
      async ({ code, token }, _, removed) => {
        assert.equal(removed, true)
        assert.equal(await stores.codes.find(code.digest), undefined)
        assert.equal(await stores.tokens.findByAccess(token.accessDigest), undefined)
        assert.equal(await stores.tokens.findByRefresh(token.refreshDigest), undefined)
      }
    )
  })
}
