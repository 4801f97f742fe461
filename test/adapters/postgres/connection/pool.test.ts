import t from 'tap'
import { StatementError, unavailable } from '../../../../adapters/postgres/connection/errors.js'
import type { Lane } from '../../../../adapters/postgres/connection/lane.js'
import { createPool } from '../../../../adapters/postgres/connection/pool.js'

const LOCKED = unavailable(new StatementError('canceling statement due to lock timeout', '55P03'))

const lane = (): Lane => ({ lost: false, send() {}, run: async () => [], drop() {}, async end() {} })
const turn = () => new Promise(resolve => setImmediate(resolve))

/**
 * A pool whose calls end when the test says so. `begun` has the names of those under way, in the order in which they
 * began.
 */
const open = (size: number) => {
  const pool = createPool(size, lane)
  const underWay: { readonly name: string; end(error?: Error): void }[] = []
  const running = (name: string) =>
    new Promise<string>((resolve, reject) => {
      underWay.push({ name, end: error => (error ? reject(error) : resolve(name)) })
    })
  const use = (name: string, milliseconds = 4000) => pool.use(name, milliseconds, () => running(name))
  const useUrgently = (name: string, milliseconds = 4000) => pool.useUrgently(milliseconds, () => running(name))
  return {
    pool,
    use,
    useUrgently,
    begun: () => underWay.map(({ name }) => name),
    async end(error?: Error) {
      underWay.shift()?.end(error)
      await turn()
    }
  }
}

t.test('a call that finds no connection free waits for one, first come, first served', async t => {
  const { use, begun, end } = open(2)
  const all = ['a', 'b', 'c', 'd'].map(name => use(name))
  await turn()
  t.strictSame(begun(), ['a', 'b'])
  await end()
  t.strictSame(begun(), ['b', 'c'])
  await end()
  await end()
  await end()
  t.strictSame(await Promise.all(all), ['a', 'b', 'c', 'd'])
})

t.test('calls with a name that found something locked get half of the connections, until one succeeds', async t => {
  const { use, begun, end } = open(5)
  const told = t.rejects(use('hero'), LOCKED)
  await turn()
  await end(LOCKED)
  await told

  const all = ['hero', 'hero', 'hero', 'hero', 'user'].map(name => use(name))
  await turn()
  t.strictSame(begun(), ['hero', 'hero', 'user'])
  all.push(use('user'))
  await turn()
  t.strictSame(begun(), ['hero', 'hero', 'user', 'user'])
  await end()
  t.strictSame(begun(), ['hero', 'user', 'user', 'hero'], 'a call with that name waits for another one with it')
  await end()
  await end()
  await end()
  await end()
  await end()
  t.equal((await Promise.all(all)).length, 6)

  const free = ['hero', 'hero', 'hero', 'hero'].map(name => use(name))
  await turn()
  t.equal(begun().length, 4)
  for (const _ of free) await end()
})

t.test('a single connection also serves calls that find something locked', async t => {
  const { use, end } = open(1)
  const told = t.rejects(use('hero'), LOCKED)
  await turn()
  await end(LOCKED)
  await told
  const again = use('hero')
  await turn()
  await end()
  t.equal(await again, 'hero')
})

t.test('of three connections, one is free for urgent calls alone', async t => {
  const { use, useUrgently, begun, end } = open(3)
  const usual = ['a', 'b', 'c'].map(name => use(name))
  await turn()
  t.strictSame(begun(), ['a', 'b'])
  const urgent = ['now', 'next'].map(name => useUrgently(name))
  await turn()
  t.strictSame(begun(), ['a', 'b', 'now'])
  await end()
  t.strictSame(begun(), ['b', 'now', 'next'], 'an urgent call goes before those that wait')
  await end()
  t.strictSame(begun(), ['now', 'next', 'c'], 'urgent calls take nothing from the others')
  for (const _ of [1, 2, 3]) await end()
  t.strictSame(await Promise.all([...usual, ...urgent]), ['a', 'b', 'c', 'now', 'next'])
})

t.test('of two connections none is kept free, and urgent calls go first', async t => {
  const { use, useUrgently, begun, end } = open(2)
  const usual = ['a', 'b', 'c'].map(name => use(name))
  const urgent = useUrgently('now')
  await turn()
  t.strictSame(begun(), ['a', 'b'])
  await end()
  t.strictSame(begun(), ['b', 'now'])
  await end()
  const told = t.rejects(urgent, LOCKED)
  await end(LOCKED)
  await told
  await end()
  t.strictSame(await Promise.all(usual), ['a', 'b', 'c'])
})

t.test('work that has waited too long never begins', async t => {
  const { use, begun, end } = open(1)
  const first = use('a')
  void use('too late', 0)
  const third = use('c')
  await turn()
  await end()
  t.strictSame(begun(), ['c'])
  await end()
  t.strictSame(await Promise.all([first, third]), ['a', 'c'])
})

t.test('calls that wait when the pool is closed are rejected, and later calls as well', async t => {
  const { pool, use, end } = open(1)
  const first = use('a')
  const second = use('b')
  await turn()
  const refused = { code: 'unavailable', cause: { message: 'the database is closed' } }
  const told = t.rejects(second, refused)
  const closed = pool.close()
  await told
  await t.rejects(use('c'), refused)
  await end()
  t.equal(await first, 'a')
  await closed
})
