import t from 'tap'
import { openEmbedded } from '../../../adapters/postgres/database.js'
import { empty, pairs } from '../../contract/records.js'
import { storeContract } from '../../contract/stores.js'
import { madeFolder } from '../../support/embedded.js'

// The engine runs one statement after the other, so that two calls never meet inside of it.
pairs.waves = 2

t.test('the stores in the embedded PostgreSQL', async t => {
  const { stores, migrate, close } = await openEmbedded(await madeFolder(t))
  t.teardown(close)
  await migrate()
  storeContract(
    (title, body) => t.test(title, body),
    async () => {
      await empty(stores)
      return stores
    }
  )
})
