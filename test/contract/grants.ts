import assert from 'node:assert/strict'
import type { Token } from '../../core/model.js'
import {
  accessOf,
  at,
  authorize,
  type CreateStores,
  grantTo,
  logIn,
  ODD_TEXTS,
  publicTokenUnder,
  register,
  rivals,
  rounds,
  type Stores,
  same,
  someSpend,
  type TestFunction,
  tamper,
  tokenUnder
} from './records.js'

const EXPIRED = { expiresAt: at(10), refreshExpiresAt: at(20) }
/** Later than the expiry of `EXPIRED` and earlier than every other expiry. */
const NOW = at(100)

/** Removes all grants that can be removed, in batches, as housekeeping does. */
const sweep = async ({ grants }: Stores, now = NOW, limit = 1000): Promise<void> => {
  for (let batches = 0; (await grants.removeExpired(now, limit)) >= limit; batches++) {
    if (batches >= 1000) throw new Error('the sweep does not end')
  }
}

export const grantContract = (test: TestFunction, createStores: CreateStores): void => {
  test('a grant is returned as it was stored, until it is revoked', async () => {
    const stores = await createStores()
    const parties = await register(stores)
    const grant = grantTo(parties, { scopes: ODD_TEXTS, expiresAt: at(31_536_000.999) })
    const token = tokenUnder(grant)
    assert.equal(await stores.grants.find(grant.id), undefined)
    assert.equal(await stores.tokens.findByRefresh(token.refreshDigest), undefined)
    await stores.tokens.insert(token, 0)
    same(await stores.tokens.findByRefresh(token.refreshDigest), { ...token, spent: undefined, ended: false })
    same(await stores.grants.find(grant.id), grant)
    tamper(await stores.grants.find(grant.id))
    same(await stores.grants.find(grant.id), grant)
    assert.equal(await stores.grants.find(crypto.randomUUID()), undefined)
    await stores.grants.revoke(grant.id, at(1))
    assert.equal(await stores.grants.find(grant.id), undefined)
  })

  test('a grant goes when its last token has expired, and not before', async () => {
    const stores = await createStores()
    const { tokens } = stores
    const parties = await register(stores)
    const ended = publicTokenUnder(grantTo(parties), { expiresAt: at(99.999) })
    const going = publicTokenUnder(grantTo(parties), { expiresAt: at(100.001) })
    await tokens.insert(ended, 0)
    await tokens.insert(going, 0)
    const refreshable = await logIn(stores, parties, { expiresAt: at(10), refreshExpiresAt: at(100.001) })
    const unrefreshable = await logIn(stores, parties, { expiresAt: at(100.001), refreshExpiresAt: at(20) })
    const both = await logIn(stores, parties, EXPIRED)
    await sweep(stores)
    assert.equal(await tokens.findByAccess(ended.accessDigest), undefined)
    same(await tokens.findByAccess(going.accessDigest), accessOf(going))
    same(await tokens.findByAccess(refreshable.accessDigest), accessOf(refreshable))
    assert.ok(await tokens.findByRefresh(refreshable.refreshDigest))
    assert.ok(await tokens.findByRefresh(unrefreshable.refreshDigest))
    assert.equal(await tokens.findByAccess(both.accessDigest), undefined)
    assert.equal(await tokens.findByRefresh(both.refreshDigest), undefined)
    assert.equal(await tokens.rotate(both.refreshDigest, someSpend(), tokenUnder(both.grant)), false)
  })

  test('a grant that expires at the very instant stays, and is not looked at', async () => {
    const stores = await createStores()
    const { codes, grants, tokens } = stores
    const parties = await register(stores)
    const token = await logIn(stores, parties, { expiresAt: at(20), refreshExpiresAt: NOW })
    const accessOnly = publicTokenUnder(grantTo(parties), { expiresAt: NOW })
    await tokens.insert(accessOnly, 0)
    const code = await authorize(stores, parties, { expiresAt: NOW })
    const successor = tokenUnder(token.grant, { expiresAt: NOW, refreshExpiresAt: NOW })
    const renewed = await logIn(stores, parties, EXPIRED)
    await tokens.rotate(renewed.refreshDigest, someSpend(5), { ...successor, grant: renewed.grant })
    // A store may look at the grant whose first token has expired, once, and leave it.
    assert.ok((await grants.removeExpired(NOW, 1)) <= 1)
    assert.equal(await grants.removeExpired(NOW, 1), 0)
    assert.ok(await tokens.findByRefresh(token.refreshDigest))
    assert.ok(await tokens.findByAccess(accessOnly.accessDigest))
    assert.ok(await tokens.findByAccess(successor.accessDigest))
    assert.ok(await codes.find(code.digest))
    assert.equal(await grants.removeExpired(at(100.001), 10), 4)
  })

  test('a code that is never used is removed when it has expired', async () => {
    const stores = await createStores()
    const parties = await register(stores)
    const ended = await authorize(stores, parties, { expiresAt: at(99.999) })
    const going = await authorize(stores, parties, { expiresAt: at(100.001) })
    await sweep(stores)
    assert.equal(await stores.codes.find(ended.digest), undefined)
    same(await stores.codes.find(going.digest), { ...going, spent: false, ended: false })
    assert.equal(await stores.codes.redeem(ended.digest, tokenUnder(ended.grant)), false)
    assert.equal(await stores.codes.redeem(going.digest, tokenUnder(going.grant)), true)
  })

  test('a spent code stays while a token of its grant lives, so that a second use is seen', async () => {
    const stores = await createStores()
    const { codes, grants } = stores
    const code = await authorize(stores, await register(stores), { expiresAt: at(10) })
    await codes.redeem(code.digest, tokenUnder(code.grant, { expiresAt: at(50), refreshExpiresAt: at(200) }))
    await sweep(stores)
    same(await codes.find(code.digest), { ...code, spent: true, ended: false })
    await grants.removeExpired(at(201), 1000)
    assert.equal(await codes.find(code.digest), undefined)
  })

  test('spent refresh tokens stay while a token of the grant lives, for 30 days at least, and are removed with the last', async () => {
    const stores = await createStores()
    const { tokens } = stores
    const first = await logIn(stores, await register(stores), EXPIRED)
    const second = tokenUnder(first.grant, { expiresAt: at(40), refreshExpiresAt: at(50) })
    const third = tokenUnder(first.grant, { expiresAt: at(200), refreshExpiresAt: at(300) })
    await tokens.rotate(first.refreshDigest, someSpend(5), second)
    await tokens.rotate(second.refreshDigest, someSpend(30), third)
    await tokens.eraseNonces(NOW)
    for (const now of [at(100), at(201), at(299)]) {
      await sweep(stores, now, 1)
      same((await tokens.findByRefresh(first.refreshDigest))?.spent, { at: at(5), nonce: undefined })
      same((await tokens.findByRefresh(second.refreshDigest))?.spent, { at: at(30), nonce: undefined })
      same(await tokens.findByRefresh(third.refreshDigest), { ...third, spent: undefined, ended: false })
    }
    await sweep(stores, at(301), 1)
    for (const { refreshDigest } of [first, second, third]) {
      assert.equal(await tokens.findByRefresh(refreshDigest), undefined)
    }
  })

  test('a spent refresh token goes 30 days after its issue, or at its expiry if that is later, and its grant lives on', async () => {
    const stores = await createStores()
    const { grants, tokens } = stores
    const day = (days: number): Date => at(days * 86_400)
    const first = await logIn(stores, await register(stores), EXPIRED)
    const { grant } = first
    const second = tokenUnder(grant, { issuedAt: day(1), expiresAt: day(2), refreshExpiresAt: day(60) })
    const third = tokenUnder(grant, { issuedAt: day(2), expiresAt: day(3), refreshExpiresAt: day(61) })
    const last = tokenUnder(grant, { issuedAt: day(3), expiresAt: day(200), refreshExpiresAt: day(200) })
    await tokens.rotate(first.refreshDigest, someSpend(5), second)
    await tokens.rotate(second.refreshDigest, { ...someSpend(), at: day(2) }, third)
    await tokens.eraseNonces(day(3))
    // Its nonce says that a repeat may still be answered.
    await tokens.rotate(third.refreshDigest, { ...someSpend(), at: day(3) }, last)
    const kept = async () =>
      (await Promise.all([first, second, third].map(({ refreshDigest }) => tokens.findByRefresh(refreshDigest)))).map(
        token => token !== undefined
      )
    await sweep(stores, day(29.9))
    assert.deepEqual(await kept(), [true, true, true])
    // A store may look at a grant once a day.
    await sweep(stores, day(31.1))
    assert.deepEqual(await kept(), [false, true, true])
    assert.equal(await tokens.findByAccess(first.accessDigest), undefined)
    await sweep(stores, day(59.9))
    assert.deepEqual(await kept(), [false, true, true])
    await sweep(stores, day(65))
    assert.deepEqual(await kept(), [false, false, true])
    await tokens.eraseNonces(day(66))
    await sweep(stores, day(67), 1)
    assert.deepEqual(await kept(), [false, false, false])
    same(await tokens.findByRefresh(last.refreshDigest), { ...last, spent: undefined, ended: false })
    same(await grants.find(grant.id), grant)
  })

  test('the nonces of a removed grant are removed with it', async () => {
    const stores = await createStores()
    const token = await logIn(stores, await register(stores), EXPIRED)
    await stores.tokens.rotate(token.refreshDigest, someSpend(5), tokenUnder(token.grant, EXPIRED))
    await sweep(stores)
    assert.equal(await stores.tokens.eraseNonces(NOW), 0)
  })

  test('the open logins of a user are those with a good access or refresh token, the newest first', async () => {
    const stores = await createStores()
    const { grants, tokens, codes } = stores
    const parties = await register(stores)
    const { user } = parties
    const other = await register(stores)
    const store = async (beganAt: Date | undefined, changes: Partial<Token> = {}, to = parties) => {
      const token = tokenUnder(grantTo(to, { beganAt }), changes)
      await tokens.insert(token, 0)
      return token
    }
    await store(at(0), {}, other)
    await authorize(stores, parties)
    await store(at(1), { expiresAt: at(100), refreshExpiresAt: at(100) })
    const revoked = await store(at(2))
    await grants.revoke(revoked.grant.id, at(3))
    const unknown = await store(undefined)
    const byAccess = await store(at(4), { expiresAt: at(100.001), refreshExpiresAt: at(100) })
    const byRefresh = await store(at(5), { expiresAt: at(100), refreshExpiresAt: at(100.001) })
    const refreshed = await store(at(3.5))
    await tokens.rotate(refreshed.refreshDigest, someSpend(), tokenUnder(refreshed.grant, { issuedAt: at(50) }))
    const later = await store(at(3.5))
    await tokens.rotate(later.refreshDigest, someSpend(), tokenUnder(later.grant, { issuedAt: at(60) }))
    const spent = await store(at(3.6))
    const over = tokenUnder(spent.grant, { expiresAt: at(100), refreshExpiresAt: at(100) })
    await tokens.rotate(spent.refreshDigest, someSpend(), over)
    const ended = await store(at(6), { expiresAt: at(200), refreshExpiresAt: at(90) })
    await tokens.revokeAccess(ended.accessDigest, at(7))
    const redeemed = await authorize(stores, parties, { issuedAt: at(0) })
    await codes.redeem(redeemed.digest, tokenUnder(redeemed.grant, { issuedAt: at(8) }))

    const expected = [
      { grant: byRefresh.grant, refreshedAt: at(0) },
      { grant: byAccess.grant, refreshedAt: at(0) },
      { grant: later.grant, refreshedAt: at(60) },
      { grant: refreshed.grant, refreshedAt: at(50) },
      { grant: redeemed.grant, refreshedAt: at(8) },
      { grant: unknown.grant, refreshedAt: at(0) }
    ]
    tamper(await grants.listOpen(user.id, at(100), 100))
    same(await grants.listOpen(user.id, at(100), 100), { open: expected, count: 6 })
    same(await grants.listOpen(user.id, at(100), 2), { open: expected.slice(0, 2), count: 6 })
    same(await grants.listOpen(user.id, at(100), 0), { open: [], count: 6 })
    const all = await grants.listOpen(user.id, at(100), Number.MAX_SAFE_INTEGER)
    same(all, { open: expected, count: 6 })
    same(await grants.listOpen(-1, at(100), 100), { open: [], count: 0 })
    await stores.users.revoke(user.username, at(100))
    same(await grants.listOpen(user.id, at(100), 100), { open: [], count: 0 })
  })

  test('a grant that was revoked stays a tombstone until its tokens have expired', async () => {
    const stores = await createStores()
    const { grants, tokens } = stores
    const token = await logIn(stores, await register(stores))
    await grants.revoke(token.grant.id, at(1))
    await sweep(stores)
    assert.equal(await tokens.rotate(token.refreshDigest, someSpend(), tokenUnder(token.grant)), false)
    assert.equal(await tokens.findByAccess(token.accessDigest), undefined)
    assert.equal(await grants.removeExpired(at(1_000_000), 1000), 1)
    assert.equal(await tokens.rotate(token.refreshDigest, someSpend(), tokenUnder(token.grant)), false)
  })

  test('one call removes no more grants than the limit, and repeated calls remove all', async () => {
    const stores = await createStores()
    const parties = await register(stores)
    const expired = await Promise.all(Array.from({ length: 5 }, () => logIn(stores, parties, EXPIRED)))
    const kept = await logIn(stores, parties)
    const left = async (): Promise<number> => {
      const found = await Promise.all(expired.map(token => stores.tokens.findByRefresh(token.refreshDigest)))
      return found.filter(token => token !== undefined).length
    }
    assert.equal(await stores.grants.removeExpired(NOW, 2), 2)
    assert.equal(await left(), 3)
    assert.equal(await stores.grants.removeExpired(NOW, 2), 2)
    assert.equal(await left(), 1)
    assert.equal(await stores.grants.removeExpired(NOW, 2), 1)
    assert.equal(await left(), 0)
    assert.equal(await stores.grants.removeExpired(NOW, 2), 0)
    same(await stores.tokens.findByAccess(kept.accessDigest), accessOf(kept))
  })

  test('repeated calls come to an end although the grants that they look at live on', async () => {
    const stores = await createStores()
    const parties = await register(stores)
    const successors = await rivals(async () => {
      const token = await logIn(stores, parties, EXPIRED)
      const successor = tokenUnder(token.grant)
      await stores.tokens.rotate(token.refreshDigest, someSpend(5), successor)
      return successor
    })
    let calls = 1
    while (calls < 20 && (await stores.grants.removeExpired(NOW, 3)) >= 3) calls += 1
    assert.ok(calls <= 7, `${calls} calls`)
    for (const successor of successors) assert.ok(await stores.tokens.findByAccess(successor.accessDigest))
  })

  test('a user and a client stay when their grants are removed, and can begin new grants', async () => {
    const stores = await createStores()
    const parties = await register(stores)
    await logIn(stores, parties, EXPIRED)
    await sweep(stores)
    same(await stores.users.find(parties.user.id), parties.user)
    same(await stores.clients.find(parties.client.id), parties.client)
    assert.ok(await logIn(stores, parties))
    assert.equal(await stores.users.remove(parties.user.username), true)
  })

  test('two concurrent removals leave no expired grant and remove no other', async () => {
    const stores = await createStores()
    const parties = await register(stores)
    await rounds(
      async () => ({
        expired: await Promise.all(Array.from({ length: 4 }, () => logIn(stores, parties, EXPIRED))),
        kept: await logIn(stores, parties)
      }),
      () => sweep(stores, NOW, 2),
      () => sweep(stores, NOW, 3),
      async ({ expired, kept }) => {
        // One removal may have ended while the other still had the grants locked that the first one skipped.
        await sweep(stores)
        for (const token of expired) assert.equal(await stores.tokens.findByRefresh(token.refreshDigest), undefined)
        same(await stores.tokens.findByAccess(kept.accessDigest), accessOf(kept))
      }
    )
  })

  test('a rotation during the removal of its grant is done whole or not at all', async () => {
    const stores = await createStores()
    const { grants, tokens } = stores
    const parties = await register(stores)
    await rounds(
      async () => {
        const token = await logIn(stores, parties, EXPIRED)
        return { token, successor: tokenUnder(token.grant), spend: someSpend(99) }
      },
      ({ token, successor, spend }) => tokens.rotate(token.refreshDigest, spend, successor),
      () => grants.removeExpired(NOW, 1000),
      async ({ token, successor, spend }, won) => {
        const found = await tokens.findByAccess(successor.accessDigest)
        const spent = (await tokens.findByRefresh(token.refreshDigest))?.spent
        same(
          { found, spent },
          won ? { found: accessOf(successor), spent: spend } : { found: undefined, spent: undefined }
        )
      }
    )
  })

  test('a redemption during the removal of its grant is done whole or not at all', async () => {
    const stores = await createStores()
    const { codes, grants, tokens } = stores
    const parties = await register(stores)
    await rounds(
      async () => {
        const code = await authorize(stores, parties, { expiresAt: at(10) })
        return { code, token: tokenUnder(code.grant) }
      },
      ({ code, token }) => codes.redeem(code.digest, token),
      () => grants.removeExpired(NOW, 1000),
      async ({ code, token }, won) => {
        const found = await tokens.findByAccess(token.accessDigest)
        const spent = (await codes.find(code.digest))?.spent
        same({ found, spent }, won ? { found: accessOf(token), spent: true } : { found: undefined, spent: undefined })
      }
    )
  })

  test('a login during the removal of expired grants of the same user is stored', async () => {
    const stores = await createStores()
    const parties = await register(stores)
    await rounds(
      async () => ({ expired: await logIn(stores, parties, EXPIRED), token: tokenUnder(grantTo(parties)) }),
      ({ token }) => stores.tokens.insert(token, 0),
      () => sweep(stores),
      async ({ expired, token }, stored) => {
        assert.equal(stored, true)
        same(await stores.tokens.findByAccess(token.accessDigest), accessOf(token))
        assert.equal(await stores.tokens.findByRefresh(expired.refreshDigest), undefined)
      }
    )
  })

  test('a user can be removed or revoked during the removal of expired grants', async () => {
    const stores = await createStores()
    await rounds(
      async round => {
        const parties = await register(stores)
        return {
          ...parties,
          removes: round % 4 < 2,
          expired: await logIn(stores, parties, EXPIRED),
          token: await logIn(stores, parties)
        }
      },
      ({ user, removes }) => (removes ? stores.users.remove(user.username) : stores.users.revoke(user.username, at(1))),
      () => sweep(stores),
      async ({ expired, token }, ended) => {
        assert.equal(ended, true)
        // The sweep leaves grants to the next one that the other call has locked.
        await sweep(stores)
        assert.notEqual((await stores.tokens.findByRefresh(expired.refreshDigest))?.ended, false)
        assert.equal(await stores.tokens.findByAccess(token.accessDigest), undefined)
      }
    )
  })
}
