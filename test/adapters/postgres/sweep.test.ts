import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Driver } from '../../../adapters/postgres/connection/driver.js'
import { StatementError, unavailable } from '../../../adapters/postgres/connection/errors.js'
import { createGrantStore } from '../../../adapters/postgres/grants.js'
import { createLookups } from '../../../adapters/postgres/lookups.js'

/** In milliseconds: how long a batch takes, and the work of somebody else. */
const BATCH = 20
const WORK = 2

const unused = async (): Promise<never> => {
  throw new Error('not used here')
}

const driverWith = (transaction: Driver['transaction']): Driver => ({
  connections: undefined,
  clock: undefined,
  lookUp: unused,
  query: unused,
  probe: unused,
  transaction,
  backup: undefined,
  close: async () => {}
})

t.test('a sweep leaves PostgreSQL to others between two batches, and not behind the last one', async t => {
  const events: string[] = []
  const transaction: Driver['transaction'] = async (_name, work) => {
    await sleep(BATCH)
    const result = await work(async text => (text.includes('select id::text') ? [['a'], ['b']] : [[0]]))
    setTimeout(() => events.push('somebody else'), WORK)
    return result
  }
  const driver = driverWith(transaction)
  const { removeExpired } = createGrantStore(driver, createLookups(driver))
  for (const limit of [2, 3]) {
    t.equal(await removeExpired(new Date(), limit), 2)
    events.push(`of ${limit}`)
  }
  t.strictSame(events, ['somebody else', 'of 2', 'of 3'])
})

t.test('a sweep whose connection is lost ends with that, also amid the grants that it looks at one by one', async t => {
  const locked = unavailable(new StatementError('locked', '55P03'))
  const lost = unavailable(new StatementError('lost', '08006'))
  for (const failures of [[lost], [locked, lost]]) {
    const left = [...failures]
    const driver = driverWith(async () => {
      throw left.shift()
    })
    await t.rejects(createGrantStore(driver, createLookups(driver)).removeExpired(new Date(), 10), lost)
    t.strictSame(left, [])
  }
})
