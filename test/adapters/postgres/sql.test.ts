import { customType, integer, pgTable, text, timestamp } from 'drizzle-orm/pg-core'
import postgres from 'postgres'
import t from 'tap'
import { manyRows } from '../../../adapters/postgres/sql/columns.js'
import { bytesList, instantList } from '../../../adapters/postgres/sql/values.js'
import { createDatabase } from '../../support/postgres.js'

const bytes = customType<{ data: string; driverData: Uint8Array }>({
  dataType: () => 'bytea',
  toDriver: hex => Buffer.from(hex, 'hex')
})
const things = pgTable('thing', {
  name: text('name').notNull(),
  alias: text('other_name'),
  size: integer('size'),
  at: timestamp('at', { withTimezone: true, mode: 'date', precision: 3 }),
  content: bytes('content')
})

t.test('many rows travel as lists: every type comes back as it was, and what is absent is null', async t => {
  const { url, drop } = await createDatabase()
  const sql = postgres(url, { max: 1 })
  t.teardown(async () => {
    await sql.end()
    await drop()
  })
  await sql`create table thing (name text, other_name text, size int, at timestamptz, content bytea)`
  const { name, alias, size, at, content } = things
  const { names, from, lists } = manyRows({ name, alias, size, at, content })
  const instant = new Date('2026-11-05T12:00:00.007Z')
  const rows = [
    { name: 'a "quoted", {braced} \\ name', alias: 'null', size: -1, at: instant, content: '00ff' },
    { name: '', alias: null, size: undefined, at: null, content: undefined }
  ]
  const values = lists(rows).map(String)
  const stored = await sql.unsafe(
    `insert into thing (${names}) select ${names} from ${from} returning name, other_name, size, at, content`,
    values
  )
  t.same(stored, [
    { name: rows[0]?.name, other_name: 'null', size: -1, at: instant, content: Buffer.from([0, 255]) },
    { name: '', other_name: null, size: null, at: null, content: null }
  ])
})

t.test('lists of bytes take any length, and lists of instants any order', async t => {
  const { url, drop } = await createDatabase()
  const sql = postgres(url, { max: 1 })
  t.teardown(async () => {
    await sql.end()
    await drop()
  })
  const unnested = async (type: string, list: string): Promise<unknown[]> =>
    (await sql.unsafe(`select value from unnest($1::${type}[]) as value`, [list])).map(({ value }) => value)
  const texts = [1, 0, 32, 47, 48, 49, 5000].map(length => Buffer.alloc(length, length + 7))
  const list = bytesList([undefined, ...texts.map(text => text.toString('base64url'))])
  t.same(await unnested('bytea', list), [null, ...texts])
  const instants = [5, 5, 7, 5, undefined, 5, 0].map(time => (time === undefined ? undefined : new Date(time)))
  const found = instants.map(instant => instant ?? null)
  t.same(await unnested('timestamptz', instantList(instants)), found)
  t.throws(() => instantList([new Date(Number.NaN)]), RangeError)
})
