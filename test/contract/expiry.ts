import assert from 'node:assert/strict'
import {
  at,
  type CreateStores,
  endedTokens,
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
      const earlier = await logIn(stores, await register(stores))
      const live = tokenUnder(earlier.grant)
      await stores.tokens.rotate(earlier.refreshDigest, someSpend(), live)
      for (const [what, { accessDigest }] of Object.entries(await endedTokens(stores))) {
        assert.equal(await findExpiry(accessDigest), undefined, what)
      }
      for (const digest of [someDigest(), live.refreshDigest, '']) {
        assert.equal(await findExpiry(digest), undefined)
      }
      assert.deepEqual(await findExpiry(live.accessDigest), live.expiresAt)
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
