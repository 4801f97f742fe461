import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Driver } from '../../../adapters/postgres/connection/driver.js'
import { createGrantStore } from '../../../adapters/postgres/grants.js'
import { createLookups } from '../../../adapters/postgres/lookups.js'

/** In milliseconds: how long a batch takes, and the work of somebody else. */
const BATCH = 20
const WORK = 2

t.test('a sweep leaves PostgreSQL to others between two batches, and not behind the last one', async t => {
  const events: string[] = []
  const transaction: Driver['transaction'] = async (_name, work) => {
    await sleep(BATCH)
    const result = await work(async text => (text.includes('select id::text') ? [['a'], ['b']] : [[0]]))
    setTimeout(() => events.push('somebody else'), WORK)
    return result
  }
  const unused = async (): Promise<never> => {
    throw new Error('not used here')
  }
  const driver: Driver = {
    connections: undefined,
    clock: undefined,
    lookUp: unused,
    query: unused,
    probe: unused,
    transaction,
    backup: undefined,
    close: async () => {}
  }
  const { removeExpired } = createGrantStore(driver, createLookups(driver))
  for (const limit of [2, 3]) {
    t.equal(await removeExpired(new Date(), limit), 2)
    events.push(`of ${limit}`)
  }
  t.strictSame(events, ['somebody else', 'of 2', 'of 3'])
})
