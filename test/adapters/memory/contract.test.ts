import { runInNewContext } from 'node:vm'
import t from 'tap'
import { createMemoryStores } from '../../../adapters/memory/stores.js'
import { at, grantTo, publicTokenUnder, register, someSpend, tokenUnder } from '../../contract/records.js'
import { storeContract } from '../../contract/stores.js'

t.test('the stores in memory', async t => {
  storeContract(
    (title, body) => t.test(title, body),
    async () => createMemoryStores()
  )
})

/** A copy whose lists, dates and objects have the prototypes of another realm, as Node's own have under jest. */
const copyOfAnotherRealm: (record: unknown) => unknown = runInNewContext(`
const copy = value =>
  Array.isArray(value) ? Array.from(value, copy)
  : Object.prototype.toString.call(value) === '[object Date]' ? new Date(value.getTime())
  : typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, copy(each)]))
  : value
copy`)

t.test('the suites compare by value: records of another realm pass', async t => {
  const estranged = <Store extends object>(store: Store): Store =>
    new Proxy(store, {
      get:
        (_, name) =>
        async (...args: unknown[]) =>
          copyOfAnotherRealm(await Object(store)[name](...args))
    })
  storeContract(
    (title, body) => t.test(title, body),
    async () => {
      const { heroes, users, clients, scopes, grants, codes, tokens, attempts } = createMemoryStores()
      return {
        heroes: estranged(heroes),
        users: estranged(users),
        clients: estranged(clients),
        scopes: estranged(scopes),
        grants: estranged(grants),
        codes: estranged(codes),
        tokens: estranged(tokens),
        attempts: estranged(attempts)
      }
    }
  )
})

t.test('a login that was refreshed more often than a call may have arguments is listed', async t => {
  const stores = createMemoryStores()
  const { tokens, grants } = stores
  const parties = await register(stores)
  const grant = grantTo(parties)
  const spend = someSpend()
  await tokens.insert(tokenUnder(grant, { refreshDigest: '0' }), 0)
  for (let number = 1; number <= 130_000; number += 1) {
    const successor = tokenUnder(grant, { accessDigest: `${number}`, refreshDigest: `${number}` })
    await tokens.rotate(`${number - 1}`, spend, successor)
  }
  t.strictSame((await grants.listOpen(parties.user.id, at(1), 1)).count, 1)
})

t.test('a sweep among thousands of grants lets others have their turn, and so does each batch', async t => {
  const stores = createMemoryStores()
  const { grants, attempts, tokens } = stores
  const parties = await register(stores)
  for (let number = 0; number < 6000; number += 1) {
    await tokens.insert(publicTokenUnder(grantTo(parties), { expiresAt: at(100) }), 0)
  }
  for (let number = 0; number < 100; number += 1) await attempts.take([{ key: `${number}`, most: 1 }], at(0), 100)
  for (const [store, now, removed] of [
    [grants, at(50), 0],
    [grants, at(200), 100],
    [attempts, at(200), 100]
  ] as const) {
    let hadTurn = false
    setImmediate(() => {
      hadTurn = true
    })
    t.equal(await store.removeExpired(now, 100), removed)
    t.ok(hadTurn)
  }
})
