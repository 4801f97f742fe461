import type { Test } from 'tap'
import type { Token } from '../../core/model.js'
import {
  accessOf,
  at,
  type CreateStores,
  grantTo,
  logIn,
  ODD_TEXTS,
  publicTokenUnder,
  register,
  rivals,
  someDigest,
  someSpend,
  tamper,
  tokenUnder
} from './records.js'
import { endingContract } from './tokens-ending.js'
import { withoutUserContract } from './tokens-without-user.js'

export const tokenContract = async (t: Test, createStores: CreateStores): Promise<void> => {
  await storingContract(t, createStores)
  await rotationContract(t, createStores)
  await endingContract(t, createStores)
  await withoutUserContract(t, createStores)
}

const storingContract = async (t: Test, createStores: CreateStores): Promise<void> => {
  await t.test('a token is returned as it was stored, by its access token and by its refresh token', async t => {
    const stores = await createStores()
    const grant = grantTo(await register(stores), { scopes: ['b', 'a:b'], expiresAt: at(31_536_000.999) })
    const token: Token = {
      accessDigest: someDigest(),
      refreshDigest: someDigest(),
      grant,
      scopes: ['a:b'],
      issuedAt: at(0.001),
      expiresAt: at(3600.499),
      refreshExpiresAt: at(7200.5)
    }
    t.equal(await stores.tokens.insert(token, 0), true)
    t.strictSame(await stores.tokens.findByAccess(token.accessDigest), accessOf(token))
    t.strictSame(await stores.tokens.findByRefresh(token.refreshDigest ?? ''), { ...token, spent: undefined })
  })

  await t.test('any number of tokens without a refresh token are stored and found', async t => {
    const stores = await createStores()
    const parties = await register(stores)
    for (let i = 0; i < 3; i++) {
      const token = publicTokenUnder(grantTo(parties))
      t.equal(await stores.tokens.insert(token, 0), true)
      t.strictSame(await stores.tokens.findByAccess(token.accessDigest), accessOf(token))
    }
  })

  await t.test('scopes are returned in their order, whatever their characters', async t => {
    const stores = await createStores()
    const token = tokenUnder(grantTo(await register(stores), { scopes: ['', ...ODD_TEXTS, ''] }), {
      scopes: ODD_TEXTS.toReversed()
    })
    await stores.tokens.insert(token, 0)
    t.strictSame(await stores.tokens.findByAccess(token.accessDigest), accessOf(token))
  })

  await t.test('a change to a token record does not change the store', async t => {
    const stores = await createStores()
    const token = tokenUnder(grantTo(await register(stores), { scopes: ['a'] }), { scopes: ['a'] })
    const kept = structuredClone(token)
    const spend = someSpend(1)
    const { nonce } = spend
    const successor = tokenUnder(kept.grant)
    await stores.tokens.insert(token, 0)
    tamper(token)
    tamper(await stores.tokens.findByAccess(kept.accessDigest))
    t.strictSame(await stores.tokens.findByAccess(kept.accessDigest), accessOf(kept))
    await stores.tokens.rotate(kept.refreshDigest, spend, successor)
    tamper(spend)
    tamper(await stores.tokens.findByRefresh(kept.refreshDigest))
    t.strictSame(await stores.tokens.findByRefresh(kept.refreshDigest), { ...kept, spent: { at: at(1), nonce } })
  })

  await t.test('an access token is not found as a refresh token, nor a refresh token as an access token', async t => {
    const stores = await createStores()
    const token = await logIn(stores, await register(stores))
    t.equal(await stores.tokens.findByAccess(token.refreshDigest), undefined)
    t.equal(await stores.tokens.findByRefresh(token.accessDigest), undefined)
    t.equal(await stores.tokens.findByAccess(someDigest()), undefined)
    t.equal(await stores.tokens.findByRefresh(someDigest()), undefined)
    const successor = tokenUnder(token.grant)
    t.equal(await stores.tokens.rotate(token.accessDigest, someSpend(), successor), false)
    t.equal(await stores.tokens.findByAccess(successor.accessDigest), undefined)
  })

  await t.test('a token is stored only if its client exists and its user exists at the same generation', async t => {
    const stores = await createStores()
    const parties = await register(stores)
    const { user } = parties
    const token = tokenUnder(grantTo(parties))
    for (const generation of [user.generation + 1, user.generation - 1]) {
      t.equal(await stores.tokens.insert(token, generation), false, `generation ${generation}`)
    }
    for (const userId of [user.id + 1, 0, -1, 2 ** 31, Number.MAX_SAFE_INTEGER]) {
      const grant = { ...token.grant, userId }
      t.equal(await stores.tokens.insert({ ...token, grant }, user.generation), false, `user ${userId}`)
    }
    const grant = { ...token.grant, clientId: 'nobody' }
    t.equal(await stores.tokens.insert({ ...token, grant }, user.generation), false)
    t.equal(await stores.tokens.findByAccess(token.accessDigest), undefined)
    t.equal(await stores.tokens.findByRefresh(token.refreshDigest), undefined)
    t.equal(await stores.tokens.insert(token, user.generation), true, 'neither token nor grant had been stored')
  })

  await t.test('the caller judges expiry: an expired token is found and rotated', async t => {
    const stores = await createStores()
    const past = new Date(1)
    const token = await logIn(stores, await register(stores), { expiresAt: past, refreshExpiresAt: past })
    t.strictSame(await stores.tokens.findByAccess(token.accessDigest), accessOf(token))
    t.strictSame(await stores.tokens.findByRefresh(token.refreshDigest), { ...token, spent: undefined })
    t.equal(await stores.tokens.rotate(token.refreshDigest, someSpend(), tokenUnder(token.grant)), true)
  })

  await t.test('twenty concurrent logins of one user are all stored', async t => {
    const stores = await createStores()
    const parties = await register(stores)
    const tokens = await rivals(() => logIn(stores, parties))
    t.strictSame(
      await Promise.all(tokens.map(token => stores.tokens.findByAccess(token.accessDigest))),
      tokens.map(accessOf)
    )
  })

  await t.test('each of many concurrent look-ups gets its own token', async t => {
    const stores = await createStores()
    const parties = await register(stores)
    const tokens = await rivals(() => logIn(stores, parties))
    const [missing, ...found] = await Promise.all([
      stores.tokens.findByAccess(someDigest()),
      ...tokens.toReversed().map(token => stores.tokens.findByAccess(token.accessDigest))
    ])
    t.equal(missing, undefined)
    t.strictSame(found, tokens.toReversed().map(accessOf))
    const token = await logIn(stores, parties)
    const digest = token.accessDigest
    const [one, other] = await Promise.all([stores.tokens.findByAccess(digest), stores.tokens.findByAccess(digest)])
    tamper(one)
    t.strictSame(other, accessOf(token), 'two look-ups of one token share no record')
  })
}

const rotationContract = async (t: Test, createStores: CreateStores): Promise<void> => {
  await t.test('a rotation spends the refresh token, ends its access token and stores the successor', async t => {
    const stores = await createStores()
    const { tokens } = stores
    const token = await logIn(stores, await register(stores))
    const successor = tokenUnder(token.grant, { scopes: ['a'], issuedAt: at(10) })
    const spend = { at: at(10.123), nonce: someDigest() }
    t.equal(await tokens.rotate(token.refreshDigest, spend, successor), true)
    t.strictSame(await tokens.findByRefresh(token.refreshDigest), { ...token, spent: spend })
    t.equal(await tokens.findByAccess(token.accessDigest), undefined)
    t.strictSame(await tokens.findByAccess(successor.accessDigest), accessOf(successor))
    t.strictSame(await tokens.findByRefresh(successor.refreshDigest), { ...successor, spent: undefined })
  })

  await t.test('a refresh token is spent at most once, ever, and nothing of a second rotation is stored', async t => {
    const stores = await createStores()
    const { tokens } = stores
    const token = await logIn(stores, await register(stores))
    const [first, second] = [tokenUnder(token.grant), tokenUnder(token.grant)]
    const spend = someSpend(1)
    t.equal(await tokens.rotate(token.refreshDigest, spend, first), true)
    t.equal(await tokens.rotate(token.refreshDigest, someSpend(2), second), false)
    t.strictSame((await tokens.findByRefresh(token.refreshDigest))?.spent, spend)
    t.ok(await tokens.findByAccess(first.accessDigest))
    t.equal(await tokens.findByAccess(second.accessDigest), undefined)
    t.equal(await tokens.findByRefresh(second.refreshDigest), undefined)
  })

  await t.test('a successor is rotated in its turn, and every spent token is still found', async t => {
    const stores = await createStores()
    const { tokens } = stores
    const chain = [await logIn(stores, await register(stores))]
    for (let i = 1; i < 5; i++) {
      const last = chain.at(-1)
      const successor = tokenUnder(grantOf(chain))
      t.equal(await tokens.rotate(last?.refreshDigest ?? '', someSpend(i), successor), true)
      chain.push(successor)
    }
    const found = await Promise.all(chain.map(token => tokens.findByRefresh(token.refreshDigest)))
    t.strictSame(
      found.map(token => token?.spent?.at),
      [at(1), at(2), at(3), at(4), undefined]
    )
    const living = await Promise.all(chain.map(token => tokens.findByAccess(token.accessDigest)))
    t.strictSame(
      living,
      chain.map((token, index) => (index < 4 ? undefined : accessOf(token)))
    )
  })

  await t.test('a rotation of a refresh token that was never stored stores nothing', async t => {
    const stores = await createStores()
    const token = await logIn(stores, await register(stores))
    const successor = tokenUnder(token.grant)
    t.equal(await stores.tokens.rotate(someDigest(), someSpend(), successor), false)
    t.equal(await stores.tokens.findByAccess(successor.accessDigest), undefined)
  })

  await t.test(
    'when twenty calls rotate one token at once, exactly one wins, and the others see its spend',
    async t => {
      const stores = await createStores()
      const { tokens } = stores
      const token = await logIn(stores, await register(stores))
      const answers = await rivals(async rival => {
        const successor = tokenUnder(token.grant)
        const spend = someSpend(rival)
        const won = await tokens.rotate(token.refreshDigest, spend, successor)
        const seen = (await tokens.findByRefresh(token.refreshDigest))?.spent
        const stored = (await tokens.findByAccess(successor.accessDigest)) !== undefined
        return { won, spend, seen, stored }
      })
      const winners = answers.filter(({ won }) => won)
      t.equal(winners.length, 1)
      t.ok(answers.every(({ won, stored }) => won === stored))
      for (const { seen } of answers) t.strictSame(seen, winners[0]?.spend)
    }
  )

  await t.test('twenty concurrent rotations of different tokens of one user all win', async t => {
    const stores = await createStores()
    const parties = await register(stores)
    const tokens = await rivals(() => logIn(stores, parties))
    const won = await Promise.all(
      tokens.map(token => stores.tokens.rotate(token.refreshDigest, someSpend(), tokenUnder(token.grant)))
    )
    t.ok(won.every(answer => answer))
  })

  await t.test('nonces of tokens spent before an instant are erased once, and the spends are still found', async t => {
    const stores = await createStores()
    const { tokens } = stores
    const parties = await register(stores)
    const [early, late, unspent] = [
      await logIn(stores, parties),
      await logIn(stores, parties),
      await logIn(stores, parties)
    ]
    const spend = someSpend(20)
    await tokens.rotate(early.refreshDigest, someSpend(10.123), tokenUnder(early.grant))
    await tokens.rotate(late.refreshDigest, spend, tokenUnder(late.grant))
    for (const notBefore of [10, 10.123]) t.equal(await tokens.eraseNonces(at(notBefore)), 0)
    t.equal(await tokens.eraseNonces(at(15)), 1)
    t.equal(await tokens.eraseNonces(at(15)), 0)
    t.strictSame((await tokens.findByRefresh(early.refreshDigest))?.spent, { at: at(10.123), nonce: undefined })
    t.strictSame((await tokens.findByRefresh(late.refreshDigest))?.spent, spend)
    t.equal((await tokens.findByRefresh(unspent.refreshDigest))?.spent, undefined)
    t.equal(await tokens.rotate(early.refreshDigest, someSpend(30), tokenUnder(early.grant)), false)
    t.equal(await tokens.rotate(unspent.refreshDigest, someSpend(30), tokenUnder(unspent.grant)), true)
    t.equal(await tokens.eraseNonces(at(100)), 2)
  })

  await t.test('no nonce is erased twice, however many calls run at once', async t => {
    const stores = await createStores()
    const parties = await register(stores)
    await rivals(async () => {
      const token = await logIn(stores, parties)
      await stores.tokens.rotate(token.refreshDigest, someSpend(10), tokenUnder(token.grant))
    })
    const erased = await rivals(() => stores.tokens.eraseNonces(at(20)))
    t.equal(
      erased.reduce((sum, count) => sum + count),
      20
    )
  })
}

const grantOf = ([first]: readonly Token[]): Token['grant'] => {
  if (first === undefined) throw new Error('the chain is empty')
  return first.grant
}
