import t from 'tap'
import type { Run } from '../../../adapters/postgres/connection/driver.js'
import { StatementError, unavailable } from '../../../adapters/postgres/connection/errors.js'
import { createLookups } from '../../../adapters/postgres/lookups.js'

const LOCKED = unavailable(new StatementError('canceling statement due to lock timeout', '55P03'))
const LOST = unavailable(new StatementError('the connection was lost', 'CONNECTION_CLOSED'))

interface Statement {
  /** The keys that it looks up, by their kind. */
  readonly keys: Readonly<Record<string, string>>
  answer(): void
  refuse(reason: Error): void
}

/** A connection that finds each key itself, and nothing for 0. */
const connection = () => {
  const underWay: Statement[] = []
  const seen: Statement['keys'][] = []
  const run: Run = (text, values) => {
    const kinds = [...text.matchAll(/select (\w+) from/g)].flatMap(([, kind]) => kind ?? [])
    const lists = values.map(value => String(value).replaceAll(/[{}"]/g, '').split(','))
    const keys = Object.fromEntries(kinds.map((kind, index) => [kind, lists[index]?.join() ?? '']))
    const rows = Array.from({ length: Math.max(...lists.map(({ length }) => length)) }, (_, row) => [
      row + 1,
      ...lists.map(list => (list[row] === undefined || list[row] === '0' ? null : list[row]))
    ])
    seen.push(keys)
    return new Promise((resolve, reject) => {
      underWay.push({ keys, answer: () => resolve(rows), refuse: reject })
    })
  }
  return { run, seen, next: () => underWay.shift() }
}

const UNREADABLE = '13'

const turn = () => new Promise(resolve => setImmediate(resolve))

/** Look-ups of three kinds: `token` and `hero` share a statement, `client` has its own. */
const open = () => {
  const shared = connection()
  const pool = connection()
  const lookups = createLookups({ lookUp: shared.run, query: pool.run })
  const find = (name: string, group?: string) =>
    lookups.create<number, string>({
      ...(group !== undefined && { group }),
      type: 'bigint',
      selection: {
        text: name,
        width: 1,
        read: ([key]) => {
          if (key === UNREADABLE) throw new TypeError('the row cannot be read')
          return `${name} ${key}`
        }
      },
      from: 'from it where key = $1'
    })
  return { shared, pool, token: find('token', 'read'), hero: find('hero', 'read'), client: find('client') }
}

t.test('look-ups of one turn leave together, in one statement for each group of kinds that share one', async t => {
  const { shared, token, hero, client } = open()
  const asked = Promise.all([token(1), hero(2), token(3), hero(0), client(4), hero(5)])
  t.strictSame(shared.seen, [])
  await turn()
  t.strictSame(shared.seen, [{ token: '1,3', hero: '2,0,5' }, { client: '4' }])
  shared.next()?.answer()
  shared.next()?.answer()
  t.strictSame(await asked, ['token 1', 'hero 2', 'token 3', undefined, 'client 4', 'hero 5'])
})

t.test('one batch is under way, and the next one takes all look-ups that were added meanwhile', async t => {
  const { shared, token, hero } = open()
  const asked = []
  for (const key of [1, 2, 3]) {
    asked.push(token(key), hero(key))
    await turn()
  }
  t.strictSame(shared.seen, [{ token: '1', hero: '1' }])
  shared.next()?.answer()
  await turn()
  t.strictSame(shared.seen.slice(1), [{ token: '2,3', hero: '2,3' }])
  shared.next()?.answer()
  t.equal((await Promise.all(asked)).length, 6)
})

t.test('a look-up that PostgreSQL refuses fails alone', async t => {
  const { shared, pool, token, hero } = open()
  const asked = Promise.allSettled([token(1), hero(2), hero(3)])
  await turn()
  const broken = new StatementError('a value that PostgreSQL refuses', '22P02')
  shared.next()?.refuse(broken)
  await turn()
  pool.next()?.answer()
  pool.next()?.refuse(broken)
  await turn()
  pool.next()?.refuse(broken)
  pool.next()?.answer()
  t.match(await asked, [{ value: 'token 1' }, { reason: broken }, { value: 'hero 3' }])
  t.strictSame(shared.seen, [{ token: '1', hero: '2,3' }])
  t.strictSame(pool.seen, [{ token: '1' }, { hero: '2,3' }, { hero: '2' }, { hero: '3' }])
})

t.test('after a lost connection nothing that was under way is sent again', async t => {
  const { shared, pool, token, hero } = open()
  const settled = Promise.allSettled([token(1), hero(2)])
  await turn()
  shared.next()?.refuse(LOST)
  t.match(await settled, [{ reason: LOST }, { reason: LOST }])
  await turn()
  t.equal(shared.seen.length + pool.seen.length, 1)
})

t.test('a row that cannot be read fails its look-up, and the next ones are answered', async t => {
  const { shared, token } = open()
  const unreadable = t.rejects(token(Number(UNREADABLE)), new TypeError('the row cannot be read'))
  await turn()
  shared.next()?.answer()
  await unreadable
  const next = token(1)
  await turn()
  shared.next()?.answer()
  t.equal(await next, 'token 1')
})

t.test(
  'a kind whose table is locked leaves the shared statement as a whole, and others do not wait for it',
  async t => {
    const { shared, pool, token, hero } = open()
    const told = Promise.allSettled([hero(1), hero(2)])
    const beside = token(1)
    await turn()
    shared.next()?.refuse(LOCKED)
    await turn()
    t.strictSame(pool.seen, [{ hero: '1,2' }, { token: '1' }], 'each kind by itself')
    const alone = pool.next()
    pool.next()?.answer()
    t.equal(await beside, 'token 1')

    const others = [token(2), hero(3), hero(4)]
    await turn()
    t.strictSame(shared.seen.slice(1), [{ token: '2' }])
    shared.next()?.answer()
    t.equal(await others[0], 'token 2')
    t.equal(pool.seen.length, 2, 'one statement of the locked kind is under way')

    alone?.refuse(LOCKED)
    t.match(await told, [{ reason: LOCKED }, { reason: LOCKED }])
    await turn()
    t.strictSame(pool.seen.slice(2), [{ hero: '3,4' }], 'nothing that found the table locked is sent again')
    pool.next()?.answer()
    t.strictSame(await Promise.all(others.slice(1)), ['hero 3', 'hero 4'])

    const together = Promise.all([token(6), hero(6)])
    await turn()
    t.strictSame(shared.seen.slice(2), [{ token: '6', hero: '6' }], 'once the table is free, all is as before')
    shared.next()?.answer()
    t.strictSame(await together, ['token 6', 'hero 6'])
  }
)
