import t from 'tap'
import { openEmbedded } from '../../../adapters/postgres/database.js'
import { empty } from '../../contract/records.js'
import { storeContract } from '../../contract/stores.js'

t.test('the stores in the embedded PostgreSQL', async t => {
  const { stores, migrate, close } = await openEmbedded(t.testdir())
  t.teardown(close)
  await migrate()
  await storeContract(t, async () => {
    await empty(stores)
    return stores
  })
})
