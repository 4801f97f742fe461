import assert from 'node:assert/strict'
import type { Client } from '../../core/model.js'
import type { ClientChanges } from '../../core/ports.js'
import {
  accessOf,
  at,
  authorize,
  type CreateStores,
  clientWith,
  codeUnder,
  grantTo,
  logIn,
  ODD_TEXTS,
  register,
  rivals,
  rounds,
  same,
  someDigest,
  someSpend,
  type TestFunction,
  tamper,
  tokenUnder
} from './records.js'

const fullClient = (): Client =>
  clientWith({
    id: 'shop.example_1~a-Z',
    previousSecret: { digest: someDigest(), until: at(3600) },
    redirectUris: ['https://shop.example/cb?a=%20&b=1', 'http://[::1]:1/cb', 'com.example:/cb'],
    allowedScopes: ['heroes', 'heroes:read', 'a.readonly'],
    grantTypes: ['refresh_token', 'client_credentials'],
    name: 'The “shop” \u{1f6d2}',
    requirePkce: true,
    requireState: false
  })

export const clientContract = (test: TestFunction, createStores: CreateStores): void => {
  test('a client with every value that it can have is returned as it was stored', async () => {
    const { clients } = await createStores()
    const client = fullClient()
    assert.equal(await clients.insert(client), true)
    same(await clients.find(client.id), client)
    same(await clients.list(), [client])
  })

  test('a public client without any value is returned with undefined and an empty list', async () => {
    const { clients } = await createStores()
    const client = clientWith({ secretDigest: undefined })
    assert.equal(await clients.insert(client), true)
    same(await clients.find(client.id), client)
  })

  test('scopes and names are returned unchanged and in their order, whatever their characters', async () => {
    const { clients } = await createStores()
    const allowedScopes = [...ODD_TEXTS, '', ...ODD_TEXTS]
    const client = clientWith({ allowedScopes, redirectUris: [`https://a.example/${'x'.repeat(1980)}`, ...ODD_TEXTS] })
    assert.equal(await clients.find(client.id), undefined)
    assert.equal(await clients.insert(client), true)
    same(await clients.find(client.id), client)
    for (const text of ODD_TEXTS) {
      const changed = { ...client, allowedScopes: [text], name: text }
      same(await clients.update(client.id, { allowedScopes: [text], name: text }), changed)
      same(await clients.find(client.id), changed)
      const named = clientWith({ name: text })
      await clients.insert(named)
      same(await clients.find(named.id), named)
    }
    same((await clients.update(client.id, { allowedScopes: [''] }))?.allowedScopes, [''])
  })

  test('a client that is not registered is neither found, changed nor removed', async () => {
    const { clients } = await createStores()
    await clients.insert(clientWith({ id: 'app' }))
    for (const id of ['', 'App', 'app ', 'ap%', 'app_', '\u{1f9b8}']) {
      assert.equal(await clients.find(id), undefined, JSON.stringify(id))
      assert.equal(await clients.update(id, { name: 'x' }), undefined, JSON.stringify(id))
      assert.equal(await clients.rotateSecret(id, someDigest(), at(0)), false, JSON.stringify(id))
      assert.equal(await clients.remove(id), false, JSON.stringify(id))
    }
  })

  test('a client with a taken id is not stored, and nothing changes', async () => {
    const { clients } = await createStores()
    const client = clientWith({ id: 'app', name: 'first' })
    await clients.insert(client)
    assert.equal(await clients.insert(clientWith({ id: 'app', name: 'second' })), false)
    same(await clients.list(), [client])
  })

  test('when twenty clients with one id are inserted at once, exactly one is stored', async () => {
    const { clients } = await createStores()
    const rivalling = await rivals(async rival => {
      const client = clientWith({ id: 'app', name: `rival ${rival}` })
      return { client, stored: await clients.insert(client) }
    })
    const winners = rivalling.filter(({ stored }) => stored)
    assert.equal(winners.length, 1)
    same(await clients.list(), [winners[0]?.client])
  })

  test('clients are listed by id in the order of code points, whatever the locale', async () => {
    const { clients } = await createStores()
    same(await clients.list(), [])
    const ids = ['-a', '.a', '0', '10', '9', 'A', 'Z', '_a', 'a', 'a-b', 'a.b', 'aB', 'a_b', 'ab', 'b', '~a']
    for (const id of [...ids.slice(8), ...ids.slice(0, 8).toReversed()]) await clients.insert(clientWith({ id }))
    same(
      (await clients.list()).map(({ id }) => id),
      ids
    )
    await Promise.all(Array.from({ length: 100 }, () => clients.insert(clientWith())))
    assert.equal((await clients.list()).length, ids.length + 100)
  })

  test('a change to a client record does not change the store', async () => {
    const { clients } = await createStores()
    const client = fullClient()
    const kept = structuredClone(client)
    await clients.insert(client)
    tamper(client)
    tamper(await clients.find(kept.id))
    tamper(await clients.list())
    tamper(await clients.update(kept.id, {}))
    same(await clients.find(kept.id), kept)
    for (const key of ['redirectUris', 'allowedScopes', 'grantTypes'] as const) {
      const changed = ['a', 'b']
      await clients.update(kept.id, { [key]: changed })
      tamper(changed)
      same((await clients.find(kept.id))?.[key], ['a', 'b'])
    }
    const until = at(60)
    await clients.rotateSecret(kept.id, someDigest(), until)
    tamper(until)
    same((await clients.find(kept.id))?.previousSecret?.until, at(60))
  })

  test('a change leaves the keys that it does not name as they are, and undefined removes a name', async () => {
    const { clients } = await createStores()
    const client = fullClient()
    await clients.insert(client)
    const changes: Partial<Client>[] = [
      {},
      { name: 'another name' },
      { requirePkce: false },
      { requireState: false },
      { allowedScopes: [] },
      { redirectUris: ['com.example:/cb'] },
      { redirectUris: ['https://a.example/', 'https://b.example/'] },
      { grantTypes: ['password'] },
      { grantTypes: [] },
      { name: undefined },
      { redirectUris: [] },
      { name: 'x', redirectUris: ['b', 'a'], allowedScopes: ['b', 'a'], grantTypes: ['b', 'a'], requirePkce: true }
    ]
    let expected = client
    for (const change of changes) {
      expected = { ...expected, ...change }
      same(await clients.update(client.id, change), expected, JSON.stringify(change))
      same(await clients.find(client.id), expected)
    }
  })

  test('a value that a client must have stays as it is when it is undefined in a change', async () => {
    const { clients } = await createStores()
    const client = fullClient()
    await clients.insert(client)
    const changes: ClientChanges[] = [
      { redirectUris: undefined },
      { allowedScopes: undefined },
      { grantTypes: undefined },
      { requirePkce: undefined },
      { requireState: undefined },
      { redirectUris: undefined, allowedScopes: undefined, grantTypes: undefined, requirePkce: undefined }
    ]
    for (const change of changes) {
      same(await clients.update(client.id, change), client, Object.keys(change).join())
      same(await clients.find(client.id), client)
    }
    const changed = { ...client, name: undefined, requirePkce: false }
    const last = { allowedScopes: undefined, name: undefined, requirePkce: false }
    same(await clients.update(client.id, last), changed)
    same(await clients.find(client.id), changed)
  })

  test('concurrent changes of different keys are all kept', async () => {
    const { clients } = await createStores()
    await rounds(
      async () => {
        const client = clientWith()
        await clients.insert(client)
        return { client, digest: someDigest() }
      },
      ({ client }) =>
        Promise.all([clients.update(client.id, { name: 'x' }), clients.update(client.id, { allowedScopes: ['a'] })]),
      ({ client, digest }) =>
        Promise.all([
          clients.update(client.id, { requirePkce: true }),
          clients.rotateSecret(client.id, digest, undefined)
        ]),
      async ({ client, digest }) => {
        const changed = { ...client, name: 'x', allowedScopes: ['a'], requirePkce: true, secretDigest: digest }
        same(await clients.find(client.id), changed)
      }
    )
  })

  test('a new secret keeps the present secret as the previous one until the given instant', async () => {
    const { clients } = await createStores()
    const client = fullClient()
    await clients.insert(client)
    const [second, third] = [someDigest(), someDigest()]
    assert.equal(await clients.rotateSecret(client.id, second, at(60)), true)
    const previous = client.secretDigest
    same(await clients.find(client.id), {
      ...client,
      secretDigest: second,
      previousSecret: { digest: previous, until: at(60) }
    })
    assert.equal(await clients.rotateSecret(client.id, third, at(120)), true)
    same(
      await clients.find(client.id),
      { ...client, secretDigest: third, previousSecret: { digest: second, until: at(120) } },
      'at most one previous secret is kept'
    )
  })

  test('a new secret without such an instant leaves no previous secret', async () => {
    const { clients } = await createStores()
    const client = fullClient()
    await clients.insert(client)
    const digest = someDigest()
    assert.equal(await clients.rotateSecret(client.id, digest, undefined), true)
    same(await clients.find(client.id), { ...client, secretDigest: digest, previousSecret: undefined })
  })

  test('twenty concurrent rotations of the secret leave one secret and the one before it', async () => {
    const { clients } = await createStores()
    const client = clientWith()
    await clients.insert(client)
    const digests = await rivals(async () => {
      const digest = someDigest()
      assert.equal(await clients.rotateSecret(client.id, digest, at(60)), true)
      return digest
    })
    const { secretDigest, previousSecret } = (await clients.find(client.id)) ?? client
    assert.ok(digests.some(digest => digest === secretDigest))
    assert.ok(digests.some(digest => digest === previousSecret?.digest))
    assert.notEqual(secretDigest, previousSecret?.digest)
  })

  test('a public client gets no secret', async () => {
    const { clients } = await createStores()
    const client = clientWith({ secretDigest: undefined })
    await clients.insert(client)
    assert.equal(await clients.rotateSecret(client.id, someDigest(), at(60)), false)
    same(await clients.find(client.id), client)
  })

  test('a new secret or other changes end no token', async () => {
    const stores = await createStores()
    const parties = await register(stores)
    const token = await logIn(stores, parties)
    await stores.clients.rotateSecret(parties.client.id, someDigest(), undefined)
    await stores.clients.update(parties.client.id, { allowedScopes: ['a'], name: 'x' })
    same(await stores.tokens.findByAccess(token.accessDigest), accessOf(token))
  })

  test('a client is removed with all its codes and tokens, and those of others stay', async () => {
    const stores = await createStores()
    const { clients, codes, tokens, users } = stores
    const parties = await register(stores)
    const others = { user: parties.user, client: clientWith() }
    await clients.insert(others.client)
    const code = await authorize(stores, parties)
    const spent = await authorize(stores, parties)
    await codes.burn(spent.digest)
    const token = await logIn(stores, parties)
    const successor = tokenUnder(token.grant)
    await tokens.rotate(token.refreshDigest, someSpend(), successor)
    const kept = await logIn(stores, others)
    const keptCode = await authorize(stores, others)
    const { id } = parties.client
    assert.equal(await clients.remove(id), true)
    assert.equal(await clients.remove(id), false)
    const findAll = (): Promise<unknown[]> =>
      Promise.all([
        clients.find(id),
        codes.find(code.digest),
        codes.find(spent.digest),
        tokens.findByRefresh(token.refreshDigest),
        tokens.findByAccess(successor.accessDigest),
        tokens.findByRefresh(successor.refreshDigest)
      ])
    assert.ok((await findAll()).every(found => found === undefined))
    same(await clients.list(), [others.client])
    same(await tokens.findByAccess(kept.accessDigest), accessOf(kept))
    assert.ok(await codes.find(keptCode.digest))
    assert.ok(await users.find(parties.user.id))
    assert.equal(await codes.redeem(code.digest, tokenUnder(code.grant)), false)
    assert.equal(await tokens.rotate(successor.refreshDigest, someSpend(), tokenUnder(token.grant)), false)
    await clients.insert(parties.client)
    same(
      (await findAll()).slice(1),
      [undefined, undefined, undefined, undefined, undefined],
      'a new client with the id has none of the codes and tokens'
    )
  })

  test('a login under way is not stored when its client is gone', async () => {
    const stores = await createStores()
    const parties = await register(stores)
    await stores.clients.remove(parties.client.id)
    const token = tokenUnder(grantTo(parties))
    const code = codeUnder(grantTo(parties))
    assert.equal(await stores.tokens.insert(token, parties.user.generation), false)
    assert.equal(await stores.codes.insert(code, parties.user.generation), false)
    assert.equal(await stores.tokens.findByAccess(token.accessDigest), undefined)
    assert.equal(await stores.codes.find(code.digest), undefined)
  })

  test('when twenty calls remove one client at once, exactly one succeeds', async () => {
    const stores = await createStores()
    const parties = await register(stores)
    await logIn(stores, parties)
    const removed = await rivals(() => stores.clients.remove(parties.client.id))
    assert.equal(removed.filter(done => done).length, 1)
  })
}
