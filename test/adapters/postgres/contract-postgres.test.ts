import t from 'tap'
import { openServer } from '../../../adapters/postgres/database.js'
import { empty } from '../../contract/records.js'
import { storeContract } from '../../contract/stores.js'
import { createDatabase } from '../../support/postgres.js'

t.test('the stores in a PostgreSQL server', async t => {
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  const { stores, migrate, close } = await openServer(url, { pool: 10, prepare: true })
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
