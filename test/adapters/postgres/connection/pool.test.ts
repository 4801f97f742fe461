import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import type { Connection } from '../../../../adapters/postgres/connection/connection.js'
import { createPool } from '../../../../adapters/postgres/connection/pool.js'

t.test('a thousand calls whose time is over do not hold up the one behind them', async t => {
  const connection: Connection = {
    lost: false,
    idle: true,
    drop() {},
    run: async () => [],
    async ready() {},
    async end() {}
  }
  const pool = createPool(1, () => connection)
  let end = (): void => {}
  const long = pool.use({ name: 'long', milliseconds: 60_000 }, () => new Promise<void>(resolve => (end = resolve)))
  let begun = 0
  for (let number = 0; number < 1000; number += 1) {
    void pool.use({ name: 'late', milliseconds: -1 }, async () => {
      begun += 1
    })
  }
  const served = pool.use({ name: 'in time', milliseconds: 60_000 }, async () => 'served')
  await setImmediate()
  end()
  await long
  t.equal(await served, 'served')
  t.equal(begun, 0)
})
