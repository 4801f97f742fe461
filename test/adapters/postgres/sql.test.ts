import { customType, integer, pgTable, text, timestamp } from 'drizzle-orm/pg-core'
import postgres from 'postgres'
import t from 'tap'
import { requested } from '../../../adapters/postgres/sql.js'
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
  const { names, values, from, lists } = requested({ name, alias, size, at, content })
  const instant = new Date('2026-11-05T12:00:00.007Z')
  const rows = [
    { name: 'a "quoted", {braced} \\ name', alias: 'null', size: -1, at: instant, content: '00ff' },
    { name: '', alias: undefined, size: undefined, at: undefined, content: undefined }
  ]
  const parameters = lists(rows).map(String)
  const stored = await sql.unsafe(
    `insert into thing (${names}) select ${values} from ${from} returning name, other_name, size, at, content`,
    parameters
  )
  t.same(stored, [
    { name: rows[0]?.name, other_name: 'null', size: -1, at: instant, content: Buffer.from([0, 255]) },
    { name: '', other_name: null, size: null, at: null, content: null }
  ])
})
