import assert from 'node:assert/strict'
import {
  at,
  type CreateStores,
  grantTo,
  logIn,
  publicTokenUnder,
  register,
  rivals,
  someDigest,
  someSpend,
  type TestFunction,
  tamper,
  testsOf,
  tokenUnder
} from './records.js'

/** Tests {@link TokenStore.findExpiry}. */
export const expiryContract = (test: TestFunction, createStores: CreateStores): void => {
  const expiry = testsOf(test, createStores, ({ tokens }) => tokens.findExpiry?.bind(tokens))

  expiry('the expiry of a token is found, to the millisecond', async (stores, findExpiry) => {
    const parties = await register(stores)
    for (const seconds of [0, 0.001, 0.499, 3600.999, -1_000_000_000.001, 250_000_000_000.123]) {
      const token = await logIn(stores, parties, { expiresAt: at(seconds) })
      assert.deepEqual(await findExpiry(token.accessDigest), token.expiresAt)
    }
    const own = publicTokenUnder(grantTo(parties, { userId: undefined }))
    await stores.tokens.insert(own, undefined)
    assert.deepEqual(await findExpiry(own.accessDigest), own.expiresAt)
  })

  expiry(
    'no expiry is found of a token that is unknown, revoked or rotated, nor under a grant that has ended',
    async (stores, findExpiry) => {
      const { tokens, grants, users, clients } = stores
      const parties = await register(stores)
      const revoked = await logIn(stores, parties)
      await tokens.revokeAccess(revoked.accessDigest, at(1))
      const rotated = await logIn(stores, parties)
      const successor = tokenUnder(rotated.grant)
      await tokens.rotate(rotated.refreshDigest, someSpend(), successor)
      const ended = await logIn(stores, parties)
      await grants.revoke(ended.grant.id, at(1))
      const others = await register(stores)
      const ofRevoked = await logIn(stores, others)
      await users.revoke(others.user.username, at(1))
      const gone = await register(stores)
      const ofGone = await logIn(stores, gone)
      await users.remove(gone.user.username)
      const closed = await register(stores)
      const ofClosed = await logIn(stores, closed)
      await clients.remove(closed.client.id)
      for (const [what, { accessDigest }] of Object.entries({ revoked, rotated, ended, ofRevoked, ofGone, ofClosed })) {
        assert.equal(await findExpiry(accessDigest), undefined, what)
      }
      for (const digest of [someDigest(), rotated.refreshDigest, '']) {
        assert.equal(await findExpiry(digest), undefined)
      }
      assert.deepEqual(await findExpiry(successor.accessDigest), successor.expiresAt)
    }
  )

  expiry('of twenty look-ups of an expiry at once each finds its own', async (stores, findExpiry) => {
    const parties = await register(stores)
    const tokens = await rivals(rival => logIn(stores, parties, { expiresAt: at(rival) }))
    const found = await Promise.all(tokens.map(({ accessDigest }) => findExpiry(accessDigest)))
    assert.deepEqual(
      found,
      tokens.map(({ expiresAt }) => expiresAt)
    )
  })

  expiry('a change to an expiry that was found does not change the store', async (stores, findExpiry) => {
    const token = await logIn(stores, await register(stores))
    tamper(await findExpiry(token.accessDigest))
    assert.deepEqual(await findExpiry(token.accessDigest), at(3600))
  })
}
