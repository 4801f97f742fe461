import t from 'tap'
import { openServer } from '../../../adapters/postgres/database.js'
import { empty } from '../../contract/records.js'
import { storeContract } from '../../contract/stores.js'
import { migratedDatabase } from '../../support/databases.js'

t.test('the stores in a PostgreSQL server', async t => {
  const url = await migratedDatabase(t)
  const { stores, close } = await openServer(url, { pool: 10, prepare: true })
  t.teardown(close)
  storeContract(
    (title, body) => t.test(title, body),
    async () => {
      await empty(stores)
      return stores
    }
  )
})
