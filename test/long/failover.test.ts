import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import t from 'tap'
import { serveDatabase } from '../support/database-service.js'
import { createFaults } from '../support/fault.js'
import { ask } from '../support/process.js'
import { startPair } from '../support/replication.js'

const ROUNDS = 10
const SWITCHOVERS = 3

const pair = await startPair()
t.teardown(() => pair.remove())
const service = await serveDatabase(t, { DATABASE_URL: pair.url })
const { url, logIn } = service
const { stage } = await createFaults(service, () => pair.primary().url)

t.test(
  'ten times the primary is killed and the standby promoted, and nothing that was acknowledged is lost',
  async t => {
    const { headers } = await logIn()
    for (let round = 1; round <= ROUNDS; round++) {
      await stage(t, `round ${round}`, async () => {
        await pair.primary().kill()
        // Later rounds may be so quick that every write waits for the new primary.
        if (round === 1) {
          const { status } = await ask(`${url}/heroes`, { headers, body: { name: 'early' } })
          t.equal(status, 503, 'a write is refused while there is no primary')
        }
        await pair.promote()
      })
      await pair.rejoin()
    }
  }
)

t.test('a switchover: the primary is shut down, and then the standby is promoted', async t => {
  for (let round = 1; round <= SWITCHOVERS; round++) {
    await stage(t, `round ${round}`, async () => {
      await pair.primary().stop()
      await pair.promote()
    })
    await pair.rejoin()
  }
})

t.test('while the standby is frozen no write is acknowledged, and reads go on', async t => {
  const { headers } = await logIn()
  const refused = await stage(t, 'the standby is frozen', async () => {
    pair.standby().pause()
    const reads = new Set<number>()
    for (let i = 0; i < 60; i++) {
      reads.add((await ask(`${url}/heroes/1`, { headers })).status)
      await sleep(100)
    }
    t.strictSame(reads, new Set([200]))
    pair.standby().resume()
  })
  t.ok(refused > 0, 'no write is acknowledged that the standby does not have')
})

t.test('an operator lets a standby go that is gone for good, and writes go on', async t => {
  const { headers } = await logIn()
  await pair.standby().kill()
  const sql = postgres(pair.primary().url, { max: 1, onnotice: () => {} })
  await sql.unsafe("alter system set synchronous_standby_names = ''")
  await sql`select pg_reload_conf()`
  await sql.end()
  t.equal((await ask(`${url}/heroes`, { headers, body: { name: 'alone' } })).status, 200)
})
