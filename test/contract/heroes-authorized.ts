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
  testsOf,
  tokenUnder
} from './records.js'

/** Tests {@link HeroStore.insertIfAuthorized}. */
export const authorizedHeroContract = (test: TestFunction, createStores: CreateStores): void => {
  const authorized = testsOf(test, createStores, ({ heroes }) => heroes.insertIfAuthorized?.bind(heroes))

  authorized(
    'a hero is stored for whoever presents a token that would be found and has not expired',
    async (stores, insertIfAuthorized) => {
      const { heroes, tokens } = stores
      const parties = await register(stores)
      const token = await logIn(stores, parties, { expiresAt: at(60) })
      const ownGrant = grantTo(parties, { userId: undefined })
      const own = publicTokenUnder(ownGrant, { expiresAt: at(60) })
      await tokens.insert(own, undefined)
      const earlier = await logIn(stores, parties)
      const successor = tokenUnder(earlier.grant)
      await tokens.rotate(earlier.refreshDigest, someSpend(), successor)
      const first = await insertIfAuthorized({ name: 'Ant' }, token.accessDigest, at(59.999))
      const second = await insertIfAuthorized({ name: 'Bee' }, own.accessDigest, at(0))
      const third = await insertIfAuthorized({ name: 'Cat' }, successor.accessDigest, at(0))
      assert.deepEqual(await heroes.list({}), [first, second, third])
      const together = await Promise.all([
        insertIfAuthorized({ name: 'Dog' }, token.accessDigest, at(59.999)),
        insertIfAuthorized({ name: 'Eel' }, own.accessDigest, at(0)),
        insertIfAuthorized({ name: 'Fox' }, successor.accessDigest, at(0))
      ])
      assert.deepEqual(await heroes.list({}), [first, second, third, ...together])
      assert.deepEqual(
        (await heroes.list({})).map(({ name }) => name),
        ['Ant', 'Bee', 'Cat', 'Dog', 'Eel', 'Fox']
      )
    }
  )

  authorized(
    'for a token that is unknown, expired, revoked or rotated no hero is stored, and its name stays free',
    async (stores, insertIfAuthorized) => {
      const { heroes } = stores
      const parties = await register(stores)
      const expired = await logIn(stores, parties, { expiresAt: at(60) })
      const refused = { expired, ...(await endedTokens(stores)) }
      for (const [what, { accessDigest }] of Object.entries(refused)) {
        assert.equal(await insertIfAuthorized({ name: 'Ant' }, accessDigest, at(60)), 'refused', what)
      }
      const together = Object.entries(refused).map(([what, { accessDigest }]) =>
        insertIfAuthorized({ name: what }, accessDigest, at(60))
      )
      assert.deepEqual(
        await Promise.all(together),
        together.map(() => 'refused')
      )
      const live = await logIn(stores, parties)
      for (const digest of [someDigest(), live.refreshDigest]) {
        assert.equal(await insertIfAuthorized({ name: 'Ant' }, digest, at(0)), 'refused')
      }
      assert.deepEqual(await heroes.list({}), [])
      const stored = await insertIfAuthorized({ name: 'Ant' }, live.accessDigest, at(60))
      assert.deepEqual(await heroes.list({}), [stored])
    }
  )

  authorized(
    'a token that is refused learns nothing of the name, and one that is accepted learns that it is taken',
    async (stores, insertIfAuthorized) => {
      const { heroes } = stores
      const token = await logIn(stores, await register(stores))
      const hero = await heroes.insert({ name: 'Ant' })
      assert.equal(await insertIfAuthorized({ name: 'Ant' }, someDigest(), at(0)), 'refused')
      assert.equal(await insertIfAuthorized({ name: 'Ant' }, token.accessDigest, at(0)), undefined)
      const bee = await heroes.insert({ name: 'Bee' })
      const together = [
        insertIfAuthorized({ name: 'Ant' }, someDigest(), at(0)),
        insertIfAuthorized({ name: 'Bee' }, token.accessDigest, at(0)),
        insertIfAuthorized({ name: 'Cat' }, token.accessDigest, at(0))
      ] as const
      assert.deepEqual([await together[0], await together[1]], ['refused', undefined])
      assert.deepEqual(await heroes.list({}), [hero, bee, await together[2]])
    }
  )

  authorized(
    'of twenty heroes with one name, with and without a token, exactly one is stored',
    async (stores, insertIfAuthorized) => {
      const { heroes } = stores
      const { accessDigest } = await logIn(stores, await register(stores))
      const inserted = await rivals(rival =>
        rival % 2 === 0 ? insertIfAuthorized({ name: 'Ant' }, accessDigest, at(0)) : heroes.insert({ name: 'Ant' })
      )
      const stored = inserted.filter(hero => hero !== undefined)
      assert.equal(stored.length, 1)
      assert.deepEqual(await heroes.list({}), stored)
    }
  )

  authorized('of twenty calls at once each is judged by its own token', async (stores, insertIfAuthorized) => {
    const { heroes } = stores
    const parties = await register(stores)
    const { accessDigest } = await logIn(stores, parties)
    const expired = await logIn(stores, parties, { expiresAt: at(60) })
    const answers = await rivals(rival => {
      const hero = { name: `Hero ${rival}` }
      if (rival % 4 === 0) return heroes.insert(hero)
      const digest = [accessDigest, expired.accessDigest, someDigest()][rival % 3] ?? ''
      return insertIfAuthorized(hero, digest, at(61))
    })
    for (const [rival, answer] of answers.entries()) {
      const name = `Hero ${rival}`
      if (rival % 4 === 0 || rival % 3 === 0) assert.ok(typeof answer === 'object' && answer.name === name, name)
      else assert.equal(answer, 'refused', name)
    }
    const stored = answers.filter(answer => typeof answer === 'object')
    assert.deepEqual(
      await heroes.list({}),
      stored.toSorted((a, b) => a.id - b.id)
    )
  })

  authorized(
    'of two heroes with one name the one without a valid token does not keep the other out',
    async (stores, insertIfAuthorized) => {
      const { accessDigest } = await logIn(stores, await register(stores))
      for (let round = 0; round < 5; round++) {
        const hero = { name: `Hero ${round}` }
        const [refused, stored] = await Promise.all([
          insertIfAuthorized(hero, someDigest(), at(0)),
          insertIfAuthorized(hero, accessDigest, at(0))
        ])
        assert.equal(refused, 'refused')
        assert.ok(typeof stored === 'object' && stored.name === hero.name)
      }
    }
  )
}
