import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { serveDatabase } from '../support/database-service.js'
import { createListing, HEROES, status } from '../support/listing.js'
import { ask } from '../support/process.js'

t.test('lists that nobody reads are cut off, so that others have theirs, and do not fill the memory', async t => {
  const { unread, ask } = await createListing(t, { readerMilliseconds: 1000 })
  const before = process.memoryUsage()
  const clients = await unread(24)
  const during = process.memoryUsage()
  const taken = (kind: 'heapUsed' | 'external'): number => during[kind] - before[kind]
  t.ok(taken('heapUsed') + taken('external') < 8 * HEROES * 1050, `${taken('heapUsed')} and ${taken('external')} bytes`)
  let answered = 503
  while (answered === 503) {
    await sleep(20)
    answered = status(await ask('/heroes'))
  }
  t.equal(answered, 200)
  for (const client of clients) client.destroy()
})

t.test(
  'wire 3.11: sixteen searches that no index serves leave a writer its connections, whatever their limit',
  async t => {
    const { url, sql } = await serveDatabase(t, { DATABASE_POOL: '4', PROTECT_HEROES: 'false' })
    const searching = async (): Promise<number> => {
      const [row] = await sql`
      select count(*)::int from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and state = 'active'
        and query like '%name_lower like %'`
      return row?.count
    }
    const lock = await sql.reserve()
    await lock`begin`
    await lock`lock table hero in access exclusive mode`
    const searches = Promise.all(Array.from({ length: 16 }, () => ask(`${url}/heroes?name=zz&limit=20`)))
    let over = false
    const ended = searches.finally(() => {
      over = true
    })
    const written = ask(`${url}/register`, { body: { username: 'eve', password: 'x' } })
    let most = 0
    while (!over) {
      most = Math.max(most, await searching())
      await sleep(10)
    }
    t.equal(most, 2, 'so many search at a time')
    t.equal((await written).status, 200)
    const refused = (await ended).filter(({ body }) => body.includes('search for three letters or digits in a row'))
    t.ok(refused.length > 0, 'beyond those who wait')
    for (const { status, headers } of refused) t.strictSame([status, headers['retry-after']], [503, '1'])
    await lock`rollback`
    lock.release()
    t.has(await ask(`${url}/heroes?name=zz&limit=20`), { status: 200, body: '[]' })
  }
)
