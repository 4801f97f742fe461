import assert from 'node:assert/strict'
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
  same,
  someDigest,
  someSpend,
  type TestFunction,
  tamper,
  tokenUnder
} from './records.js'
import { endingContract } from './tokens-ending.js'
import { withoutUserContract } from './tokens-without-user.js'

export const tokenContract = (test: TestFunction, createStores: CreateStores): void => {
  storingContract(test, createStores)
  rotationContract(test, createStores)
  endingContract(test, createStores)
  withoutUserContract(test, createStores)
}

const storingContract = (test: TestFunction, createStores: CreateStores): void => {
  test('a token is returned as it was stored, by its access token and by its refresh token', async () => {
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
    assert.equal(await stores.tokens.insert(token, 0), true)
    same(await stores.tokens.findByAccess(token.accessDigest), accessOf(token))
    same(await stores.tokens.findByRefresh(token.refreshDigest ?? ''), {
      ...token,
      spent: undefined,
      ended: false
    })
  })

  test('any number of tokens without a refresh token are stored and found', async () => {
    const stores = await createStores()
    const parties = await register(stores)
    for (let i = 0; i < 3; i++) {
      const token = publicTokenUnder(grantTo(parties))
      assert.equal(await stores.tokens.insert(token, 0), true)
      same(await stores.tokens.findByAccess(token.accessDigest), accessOf(token))
    }
  })

  test('scopes are returned in their order, whatever their characters', async () => {
    const stores = await createStores()
    const token = tokenUnder(grantTo(await register(stores), { scopes: ['', ...ODD_TEXTS, ''] }), {
      scopes: ODD_TEXTS.toReversed()
    })
    await stores.tokens.insert(token, 0)
    same(await stores.tokens.findByAccess(token.accessDigest), accessOf(token))
  })

  test('a change to a token record does not change the store', async () => {
    const stores = await createStores()
    const token = tokenUnder(grantTo(await register(stores), { scopes: ['a'] }), { scopes: ['a'] })
    const kept = structuredClone(token)
    const spend = someSpend(1)
    const { nonce } = spend
    const successor = tokenUnder(kept.grant)
    await stores.tokens.insert(token, 0)
    tamper(token)
    tamper(await stores.tokens.findByAccess(kept.accessDigest))
    same(await stores.tokens.findByAccess(kept.accessDigest), accessOf(kept))
    await stores.tokens.rotate(kept.refreshDigest, spend, successor)
    tamper(spend)
    tamper(await stores.tokens.findByRefresh(kept.refreshDigest))
    same(await stores.tokens.findByRefresh(kept.refreshDigest), {
      ...kept,
      spent: { at: at(1), nonce },
      ended: false
    })
  })

  test('an access token is not found as a refresh token, nor a refresh token as an access token', async () => {
    const stores = await createStores()
    const token = await logIn(stores, await register(stores))
    assert.equal(await stores.tokens.findByAccess(token.refreshDigest), undefined)
    assert.equal(await stores.tokens.findByRefresh(token.accessDigest), undefined)
    assert.equal(await stores.tokens.findByAccess(someDigest()), undefined)
    assert.equal(await stores.tokens.findByRefresh(someDigest()), undefined)
    const successor = tokenUnder(token.grant)
    assert.equal(await stores.tokens.rotate(token.accessDigest, someSpend(), successor), false)
    assert.equal(await stores.tokens.findByAccess(successor.accessDigest), undefined)
  })

  test('a token is stored only if its client exists and its user exists at the same generation', async () => {
    const stores = await createStores()
    const parties = await register(stores)
    const { user } = parties
    const token = tokenUnder(grantTo(parties))
    for (const generation of [user.generation + 1, user.generation - 1]) {
      assert.equal(await stores.tokens.insert(token, generation), false, `generation ${generation}`)
    }
    for (const userId of [user.id + 1, 0, -1, 2 ** 31, Number.MAX_SAFE_INTEGER]) {
      const grant = { ...token.grant, userId }
      assert.equal(await stores.tokens.insert({ ...token, grant }, user.generation), false, `user ${userId}`)
    }
    const grant = { ...token.grant, clientId: 'nobody' }
    assert.equal(await stores.tokens.insert({ ...token, grant }, user.generation), false)
    assert.equal(await stores.tokens.findByAccess(token.accessDigest), undefined)
    assert.equal(await stores.tokens.findByRefresh(token.refreshDigest), undefined)
    assert.equal(await stores.tokens.insert(token, user.generation), true, 'neither token nor grant had been stored')
  })

  test('the caller judges expiry: an expired token is found and rotated', async () => {
    const stores = await createStores()
    const past = new Date(1)
    const token = await logIn(stores, await register(stores), { expiresAt: past, refreshExpiresAt: past })
    same(await stores.tokens.findByAccess(token.accessDigest), accessOf(token))
    same(await stores.tokens.findByRefresh(token.refreshDigest), {
      ...token,
      spent: undefined,
      ended: false
    })
    assert.equal(await stores.tokens.rotate(token.refreshDigest, someSpend(), tokenUnder(token.grant)), true)
  })

  test('twenty concurrent logins of one user are all stored', async () => {
    const stores = await createStores()
    const parties = await register(stores)
    const tokens = await rivals(() => logIn(stores, parties))
    same(await Promise.all(tokens.map(token => stores.tokens.findByAccess(token.accessDigest))), tokens.map(accessOf))
  })

  test('each of many concurrent look-ups gets its own token', async () => {
    const stores = await createStores()
    const parties = await register(stores)
    const tokens = await rivals(() => logIn(stores, parties))
    const [missing, ...found] = await Promise.all([
      stores.tokens.findByAccess(someDigest()),
      ...tokens.toReversed().map(token => stores.tokens.findByAccess(token.accessDigest))
    ])
    assert.equal(missing, undefined)
    same(found, tokens.toReversed().map(accessOf))
    const token = await logIn(stores, parties)
    const digest = token.accessDigest
    const [one, other] = await Promise.all([stores.tokens.findByAccess(digest), stores.tokens.findByAccess(digest)])
    tamper(one)
    same(other, accessOf(token), 'two look-ups of one token share no record')
  })
}

const rotationContract = (test: TestFunction, createStores: CreateStores): void => {
  test('a rotation spends the refresh token, ends its access token and stores the successor', async () => {
    const stores = await createStores()
    const { tokens } = stores
    const token = await logIn(stores, await register(stores))
    const successor = tokenUnder(token.grant, { scopes: ['b', 'a'], issuedAt: at(10) })
    const spend = { at: at(10.123), nonce: someDigest() }
    assert.equal(await tokens.rotate(token.refreshDigest, spend, successor), true)
    same(await tokens.findByRefresh(token.refreshDigest), { ...token, spent: spend, ended: false })
    assert.equal(await tokens.findByAccess(token.accessDigest), undefined)
    same(await tokens.findByAccess(successor.accessDigest), accessOf(successor))
    same(await tokens.findByRefresh(successor.refreshDigest), {
      ...successor,
      spent: undefined,
      ended: false
    })
  })

  test('a refresh token is spent at most once, ever, and nothing of a second rotation is stored', async () => {
    const stores = await createStores()
    const { tokens } = stores
    const token = await logIn(stores, await register(stores))
    const [first, second] = [tokenUnder(token.grant), tokenUnder(token.grant)]
    const spend = someSpend(1)
    assert.equal(await tokens.rotate(token.refreshDigest, spend, first), true)
    assert.equal(await tokens.rotate(token.refreshDigest, someSpend(2), second), false)
    same((await tokens.findByRefresh(token.refreshDigest))?.spent, spend)
    assert.ok(await tokens.findByAccess(first.accessDigest))
    assert.equal(await tokens.findByAccess(second.accessDigest), undefined)
    assert.equal(await tokens.findByRefresh(second.refreshDigest), undefined)
  })

  test('a refresh token whose successor cannot be stored is not spent', async () => {
    const stores = await createStores()
    const { tokens } = stores
    const parties = await register(stores)
    const [token, { accessDigest }] = [await logIn(stores, parties), await logIn(stores, parties)]
    const successor = tokenUnder(token.grant, { accessDigest })
    const rotated = await tokens.rotate(token.refreshDigest, someSpend(), successor).catch(() => false)
    assert.equal((await tokens.findByRefresh(token.refreshDigest))?.spent !== undefined, rotated, 'both or neither')
  })

  test('a successor is rotated in its turn, and every spent token is still found', async () => {
    const stores = await createStores()
    const { tokens } = stores
    const chain = [await logIn(stores, await register(stores))]
    for (let i = 1; i < 5; i++) {
      const last = chain.at(-1)
      const successor = tokenUnder(grantOf(chain))
      assert.equal(await tokens.rotate(last?.refreshDigest ?? '', someSpend(i), successor), true)
      chain.push(successor)
    }
    const found = await Promise.all(chain.map(token => tokens.findByRefresh(token.refreshDigest)))
    same(
      found.map(token => token?.spent?.at),
      [at(1), at(2), at(3), at(4), undefined]
    )
    const living = await Promise.all(chain.map(token => tokens.findByAccess(token.accessDigest)))
    same(
      living,
      chain.map((token, index) => (index < 4 ? undefined : accessOf(token)))
    )
  })

  test('a rotation of a refresh token that was never stored stores nothing', async () => {
    const stores = await createStores()
    const token = await logIn(stores, await register(stores))
    const successor = tokenUnder(token.grant)
    assert.equal(await stores.tokens.rotate(someDigest(), someSpend(), successor), false)
    assert.equal(await stores.tokens.findByAccess(successor.accessDigest), undefined)
  })

  test('when twenty calls rotate one token at once, exactly one wins, and the others see its spend', async () => {
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
    assert.equal(winners.length, 1)
    assert.ok(answers.every(({ won, stored }) => won === stored))
    for (const { seen } of answers) same(seen, winners[0]?.spend)
  })

  test('twenty concurrent rotations of different tokens of one user all win', async () => {
    const stores = await createStores()
    const parties = await register(stores)
    const tokens = await rivals(() => logIn(stores, parties))
    const won = await Promise.all(
      tokens.map(token => stores.tokens.rotate(token.refreshDigest, someSpend(), tokenUnder(token.grant)))
    )
    assert.ok(won.every(answer => answer))
  })

  test('nonces of tokens spent before an instant are erased once, and the spends are still found', async () => {
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
    for (const notBefore of [10, 10.123]) assert.equal(await tokens.eraseNonces(at(notBefore)), 0)
    assert.equal(await tokens.eraseNonces(at(15)), 1)
    assert.equal(await tokens.eraseNonces(at(15)), 0)
    same((await tokens.findByRefresh(early.refreshDigest))?.spent, { at: at(10.123), nonce: undefined })
    same((await tokens.findByRefresh(late.refreshDigest))?.spent, spend)
    assert.equal((await tokens.findByRefresh(unspent.refreshDigest))?.spent, undefined)
    assert.equal(await tokens.rotate(early.refreshDigest, someSpend(30), tokenUnder(early.grant)), false)
    assert.equal(await tokens.rotate(unspent.refreshDigest, someSpend(30), tokenUnder(unspent.grant)), true)
    assert.equal(await tokens.eraseNonces(at(100)), 2)
  })

  test('the nonces of a grant that was revoked, by itself or with its user, are erased like others', async () => {
    const stores = await createStores()
    const { tokens, grants, users } = stores
    const parties = await register(stores)
    const [own, withUser] = [await logIn(stores, parties), await logIn(stores, parties)]
    for (const token of [own, withUser]) {
      await tokens.rotate(token.refreshDigest, someSpend(10), tokenUnder(token.grant))
    }
    await grants.revoke(own.grant.id, at(11))
    assert.equal(await users.revoke(parties.user.username, at(12)), true)
    assert.equal(await tokens.eraseNonces(at(20)), 2)
    assert.equal(await tokens.eraseNonces(at(20)), 0)
  })

  test('no nonce is erased twice, however many calls run at once', async () => {
    const stores = await createStores()
    const parties = await register(stores)
    await rivals(async () => {
      const token = await logIn(stores, parties)
      await stores.tokens.rotate(token.refreshDigest, someSpend(10), tokenUnder(token.grant))
    })
    const erased = await rivals(() => stores.tokens.eraseNonces(at(20)))
    assert.equal(
      erased.reduce((sum, count) => sum + count),
      20
    )
  })
}

const grantOf = ([first]: readonly Token[]): Token['grant'] => {
  if (first === undefined) throw new Error('the chain is empty')
  return first.grant
}
