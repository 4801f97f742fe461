import t from 'tap'
import { createMemoryStores } from '../../../adapters/memory/stores.js'
import { at, grantTo, publicTokenUnder, register } from '../../contract/records.js'

t.test('a sweep among thousands of grants lets others have their turn', async t => {
  const stores = createMemoryStores()
  const parties = await register(stores)
  for (let number = 0; number < 5000; number += 1) {
    await stores.tokens.insert(publicTokenUnder(grantTo(parties), { expiresAt: at(100) }), 0)
  }
  let hadTurn = false
  setImmediate(() => {
    hadTurn = true
  })
  t.equal(await stores.grants.removeExpired(at(50), 100), 0)
  t.ok(hadTurn)
})
