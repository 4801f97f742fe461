// Stores for tests of rules that hold whatever the store is.

import t, { type Test } from 'tap'
import { createMemoryStores } from '../../adapters/memory/stores.js'
import { empty } from '../contract/records.js'
import type { Stores } from './world.js'

let opened: Promise<Stores> | undefined

/** Empties the stores of a PostgreSQL database with a pool of ten, which the process makes at the first call. */
export const emptyStores = async (): Promise<Stores> => {
  opened ??= openStores()
  const stores = await opened
  await empty(stores)
  return stores
}

const openStores = async (): Promise<Stores> => {
  // Imported here, as a run over memory alone is not to wait for it.
  const [{ openServer }, { migratedDatabase }] = await Promise.all([
    import('../../adapters/postgres/database.js'),
    import('./databases.js')
  ])
  const database = await openServer(await migratedDatabase(t), { pool: 10, prepare: true })
  t.teardown(() => database.close())
  return database.stores
}

/** Runs a test on the stores in memory, and where the run has a server, as `npm test` does, on those of {@link emptyStores}. */
export const onEveryStore = async (t: Test, run: (t: Test, stores: Stores) => Promise<void>): Promise<void> => {
  await t.test('on memory', t => run(t, createMemoryStores()))
  if (process.env.TEST_DATABASE_URL) await t.test('on PostgreSQL', async t => run(t, await emptyStores()))
}
