import assert from 'node:assert/strict'
import type { Client, Grant, Token } from '../../core/model.js'
import type { PlainRefresh } from '../../core/ports.js'
import {
  accessOf,
  at,
  type CreateStores,
  clientWith,
  grantTo,
  ODD_TEXTS,
  type Parties,
  publicTokenUnder,
  type RefreshToken,
  register,
  rivals,
  rounds,
  type Stores,
  someDigest,
  someSpend,
  type TestFunction,
  testsOf,
  tokenUnder
} from './records.js'

/** A user and a client that may refresh. */
const registerRefreshing = async (stores: Stores, changes: Partial<Client> = {}): Promise<Parties> => {
  const { user } = await register(stores)
  const client = clientWith({ allowedScopes: ['a', 'b'], grantTypes: ['refresh_token'], ...changes })
  assert.equal(await stores.clients.insert(client), true)
  return { user, client }
}

const logIn = async (
  stores: Stores,
  parties: Parties,
  { grant: grantChanges = {}, token: tokenChanges = {} }: { grant?: Partial<Grant>; token?: Partial<Token> } = {}
): Promise<RefreshToken> => {
  const grant = grantTo(parties, { scopes: ['b', 'a'], ...grantChanges })
  const token = tokenUnder(grant, { scopes: grant.scopes, refreshExpiresAt: at(100), ...tokenChanges })
  const generation = grant.userId === undefined ? undefined : parties.user.generation
  assert.equal(await stores.tokens.insert(token, generation), true)
  return token
}

const plain = (
  { client }: Pick<Parties, 'client'>,
  { refreshDigest }: Pick<RefreshToken, 'refreshDigest'>,
  changes: Partial<PlainRefresh> = {}
): PlainRefresh => ({
  digest: refreshDigest,
  clientId: client.id,
  secretDigest: client.secretDigest ?? someDigest(),
  spend: someSpend(50),
  successor: {
    accessDigest: someDigest(),
    refreshDigest: someDigest(),
    expiresAt: at(110),
    refreshExpiresAt: at(150)
  },
  ...changes
})

const successorOf = ({ spend, successor }: PlainRefresh, { grant }: Token): Token => ({
  ...successor,
  grant,
  scopes: grant.scopes,
  issuedAt: spend.at
})

/** Tests {@link TokenStore.rotateIfPlain}. */
export const plainRefreshContract = (test: TestFunction, createStores: CreateStores): void => {
  const rotating = testsOf(test, createStores, ({ tokens }) => tokens.rotateIfPlain?.bind(tokens))

  rotating('a plain refresh spends the token and stores its successor', async (stores, rotate) => {
    const parties = await registerRefreshing(stores)
    const first = await logIn(stores, parties)
    const refresh = plain(parties, first)
    const successor = successorOf(refresh, first)
    assert.deepEqual(await rotate(refresh), successor)
    const { tokens } = stores
    assert.equal(await tokens.findByAccess(first.accessDigest), undefined)
    assert.deepEqual(await tokens.findByRefresh(first.refreshDigest), { ...first, spent: refresh.spend })
    assert.deepEqual(await tokens.findByAccess(successor.accessDigest), accessOf(successor))
    const second = { ...successor, refreshDigest: successor.refreshDigest ?? '' }
    assert.deepEqual(await tokens.findByRefresh(second.refreshDigest), { ...successor, spent: undefined })
    const again = plain(parties, second)
    assert.deepEqual(await rotate(again), successorOf(again, first))
  })

  rotating("a successor has the grant's scopes, also after a token with fewer", async (stores, rotate) => {
    const parties = await registerRefreshing(stores)
    for (const scopes of [['a'], []]) {
      const first = await logIn(stores, parties, { token: { scopes } })
      const refresh = plain(parties, first)
      const successor = successorOf(refresh, first)
      assert.deepEqual(successor.scopes, ['b', 'a'])
      assert.deepEqual(await rotate(refresh), successor)
      assert.deepEqual(await stores.tokens.findByAccess(successor.accessDigest), accessOf(successor))
    }
  })

  rotating('a successor expires with its grant at the latest', async (stores, rotate) => {
    const parties = await registerRefreshing(stores)
    for (const [end, expiresAt, refreshExpiresAt] of [
      [149.999, 110, 149.999],
      [109.999, 109.999, 109.999],
      [50.001, 50.001, 50.001]
    ] as const) {
      const first = await logIn(stores, parties, { grant: { expiresAt: at(end) } })
      const refresh = plain(parties, first)
      const expected = {
        ...successorOf(refresh, first),
        expiresAt: at(expiresAt),
        refreshExpiresAt: at(refreshExpiresAt)
      }
      assert.deepEqual(await rotate(refresh), expected)
      const stored = await stores.tokens.findByRefresh(refresh.successor.refreshDigest ?? '')
      assert.deepEqual(stored, { ...expected, spent: undefined })
    }
  })

  rotating(
    'a grant without a user, one without scopes and one with odd scopes are refreshed',
    async (stores, rotate) => {
      const parties = await registerRefreshing(stores, {
        allowedScopes: [...ODD_TEXTS, 'more'],
        grantTypes: ['x', 'refresh_token']
      })
      for (const grant of [{ userId: undefined }, {}, { scopes: ODD_TEXTS.toReversed() }]) {
        const first = await logIn(stores, parties, { grant: { scopes: [], ...grant } })
        const refresh = plain(parties, first)
        assert.deepEqual(await rotate(refresh), successorOf(refresh, first))
        assert.deepEqual(
          await stores.tokens.findByAccess(refresh.successor.accessDigest),
          accessOf(successorOf(refresh, first))
        )
      }
    }
  )

  rotating('whatever else is not plain, and then nothing changes', async (stores, rotate) => {
    const parties = await registerRefreshing(stores)
    const { client, user } = parties
    const others = await registerRefreshing(stores)
    const refreshing = await registerRefreshing(stores)
    const secret = client.secretDigest ?? ''
    const notPlain: readonly (readonly [string, RefreshToken, Partial<PlainRefresh>])[] = [
      ['an unknown token', await logIn(stores, parties), { digest: someDigest() }],
      ['an unknown client', await logIn(stores, parties), { clientId: 'nobody' }],
      ['a wrong secret', await logIn(stores, parties), { secretDigest: someDigest() }],
      ["another client's token", await logIn(stores, others), {}],
      ["another client's secret", await logIn(stores, parties), { secretDigest: others.client.secretDigest ?? '' }],
      ['an expired token', await logIn(stores, parties, { token: { refreshExpiresAt: at(50) } }), {}],
      ['an expired grant', await logIn(stores, parties, { grant: { expiresAt: at(50) } }), {}],
      ['a scope that is not allowed', await logIn(stores, parties, { grant: { scopes: ['a', 'c'] } }), {}],
      [
        'a scope that is not allowed, and that the token has not',
        await logIn(stores, parties, { grant: { scopes: ['a', 'c'] }, token: { scopes: ['a'] } }),
        {}
      ],
      ['a scope that another one covers', await logIn(stores, parties, { grant: { scopes: ['a:b'] } }), {}]
    ]
    const expectNothing = async (what: string, token: RefreshToken, refresh: PlainRefresh): Promise<void> => {
      const before = await stores.tokens.findByRefresh(token.refreshDigest)
      assert.equal(await rotate(refresh), undefined, what)
      const companion = await logIn(stores, refreshing)
      const beside = plain(refreshing, companion)
      const together = await Promise.all([rotate(refresh), rotate(beside)])
      assert.deepEqual(together, [undefined, successorOf(beside, companion)], what)
      assert.deepEqual(await stores.tokens.findByRefresh(token.refreshDigest), before, what)
      assert.equal(await stores.tokens.findByAccess(refresh.successor.accessDigest), undefined, what)
      assert.equal(await stores.tokens.findByRefresh(refresh.successor.refreshDigest ?? ''), undefined, what)
    }
    for (const [what, token, changes] of notPlain) {
      assert.notEqual(await stores.tokens.findByRefresh(token.refreshDigest), undefined, what)
      await expectNothing(what, token, plain(parties, token, changes))
    }

    const spent = await logIn(stores, parties)
    assert.equal(await stores.tokens.rotate(spent.refreshDigest, someSpend(1), tokenUnder(spent.grant)), true)
    await expectNothing('a spent token', spent, plain(parties, spent))
    const ended = await logIn(stores, parties)
    await stores.grants.revoke(ended.grant.id, at(1))
    await expectNothing('a grant that has ended', ended, plain(parties, ended))
    const withoutRefresh = publicTokenUnder(grantTo(parties))
    await stores.tokens.insert(withoutRefresh, user.generation)
    await expectNothing('an access token', ended, plain(parties, { refreshDigest: withoutRefresh.accessDigest }))

    const token = await logIn(stores, parties)
    await stores.clients.rotateSecret(client.id, someDigest(), at(1000))
    await expectNothing('the secret before the present one', token, plain(parties, token, { secretDigest: secret }))
    const unable = await registerRefreshing(stores, { grantTypes: ['password', 'authorization_code'] })
    const tokenOfUnable = await logIn(stores, unable)
    await expectNothing('a client without the grant type', tokenOfUnable, plain(unable, tokenOfUnable))
    const open = await registerRefreshing(stores, { secretDigest: undefined })
    const tokenOfOpen = await logIn(stores, open)
    await expectNothing('a public client', tokenOfOpen, plain(open, tokenOfOpen))
    const ofRevoked = await logIn(stores, others)
    await stores.users.revoke(others.user.username, at(1))
    await expectNothing('a user whose logins were ended', ofRevoked, plain(others, ofRevoked))
    const leaving = await registerRefreshing(stores)
    const ofLeaving = await logIn(stores, leaving)
    await stores.users.remove(leaving.user.username)
    await expectNothing('a user who is gone', ofLeaving, plain(leaving, ofLeaving))
    const closing = await registerRefreshing(stores)
    const ofClosing = await logIn(stores, closing)
    await stores.clients.remove(closing.client.id)
    await expectNothing('a client that is gone', ofClosing, plain(closing, ofClosing))
  })

  rotating('expiry is judged to the millisecond', async (stores, rotate) => {
    const parties = await registerRefreshing(stores)
    for (const [refreshExpiresAt, expiresAt] of [
      [50.001, 1000],
      [1000, 50.001]
    ] as const) {
      const token = await logIn(stores, parties, {
        grant: { expiresAt: at(expiresAt) },
        token: { refreshExpiresAt: at(refreshExpiresAt) }
      })
      assert.equal(await rotate(plain(parties, token, { spend: someSpend(50.001) })), undefined)
      assert.notEqual(await rotate(plain(parties, token)), undefined)
    }
  })

  rotating('of twenty plain refreshes of one token at once, one stores its successor', async (stores, rotate) => {
    const parties = await registerRefreshing(stores)
    const token = await logIn(stores, parties)
    const refreshes = Array.from({ length: 20 }, () => plain(parties, token))
    const outcomes = await rivals(async rival => rotate(refreshes[rival] ?? plain(parties, token)))
    const stored = outcomes.map(outcome => typeof outcome === 'object')
    assert.equal(stored.filter(Boolean).length, 1)
    const winner = refreshes[stored.indexOf(true)]
    assert.deepEqual((await stores.tokens.findByRefresh(token.refreshDigest))?.spent, winner?.spend)
    for (const refresh of refreshes) {
      const found = await stores.tokens.findByAccess(refresh.successor.accessDigest)
      assert.equal(found !== undefined, refresh === winner)
    }
  })

  rotating('each of many refreshes at once has its own outcome', async (stores, rotate) => {
    const one = await registerRefreshing(stores)
    const other = await registerRefreshing(stores, { grantTypes: [] })
    const all = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const parties = index % 3 === 0 ? other : one
        const token = await logIn(stores, parties)
        return { parties, token, refresh: plain(parties, token) }
      })
    )
    const outcomes = await Promise.all(all.map(({ refresh }) => rotate(refresh)))
    assert.deepEqual(
      outcomes,
      all.map(({ parties, token, refresh }) => (parties === other ? undefined : successorOf(refresh, token)))
    )
  })

  rotating('of a plain refresh and a rotation at once, one spends the token', async (stores, rotate) => {
    const parties = await registerRefreshing(stores)
    await rounds(
      async () => {
        const token = await logIn(stores, parties)
        return { token, refresh: plain(parties, token), successor: tokenUnder(token.grant) }
      },
      ({ refresh }) => rotate(refresh),
      ({ token, successor }) => stores.tokens.rotate(token.refreshDigest, someSpend(50), successor),
      async ({ refresh, successor }, outcome, rotated) => {
        assert.notEqual(typeof outcome === 'object', rotated)
        const { tokens } = stores
        assert.equal((await tokens.findByAccess(refresh.successor.accessDigest)) === undefined, rotated)
        assert.equal((await tokens.findByAccess(successor.accessDigest)) !== undefined, rotated)
      }
    )
  })

  const ends: Readonly<Record<string, (stores: Stores, parties: Parties, grant: Grant) => Promise<unknown>>> = {
    'the end of its grant': ({ grants }, _, { id }) => grants.revoke(id, at(51)),
    "the end of its user's logins": ({ users }, { user }) => users.revoke(user.username, at(51)),
    'the removal of its user': ({ users }, { user }) => users.remove(user.username),
    'the removal of its client': ({ clients }, { client }) => clients.remove(client.id)
  }
  for (const [what, end] of Object.entries(ends)) {
    rotating(`a plain refresh beside ${what} leaves nothing that is found`, async (stores, rotate) => {
      await rounds(
        async () => {
          const parties = await registerRefreshing(stores)
          const token = await logIn(stores, parties)
          return { parties, token, refresh: plain(parties, token) }
        },
        ({ refresh }) => rotate(refresh),
        ({ parties, token }) => end(stores, parties, token.grant),
        async ({ token, refresh }) => {
          const { tokens } = stores
          assert.equal(await tokens.findByRefresh(token.refreshDigest), undefined)
          assert.equal(await tokens.findByAccess(refresh.successor.accessDigest), undefined)
          assert.equal(await tokens.findByRefresh(refresh.successor.refreshDigest ?? ''), undefined)
        }
      )
    })
  }
}
