import postgres from 'postgres'
import t from 'tap'
import { openServer } from '../../../adapters/postgres/database.js'
import { createCheck } from '../../../adapters/postgres/migrations.js'
import { createDatabase, execute, setDatabase } from '../../support/postgres.js'

const UNAVAILABLE = { code: 'unavailable' }

t.test(
  'a database is ready while it has its schema and takes writes, even if the table of migrations is locked',
  async t => {
    const { url, drop } = await createDatabase()
    const { migrate, requireSchema, check, close } = await openServer(url, { pool: 2, prepare: true })
    t.teardown(async () => {
      await close()
      await drop()
    })
    await t.rejects(check(), { ...UNAVAILABLE, cause: { message: 'the database lacks its schema' } })
    await t.rejects(requireSchema(), { name: 'UnfitDatabaseError' })
    await migrate()
    await requireSchema()
    await check()

    await execute(url, 'create table kept as table drizzle.__drizzle_migrations')
    await execute(url, 'truncate drizzle.__drizzle_migrations')
    await t.rejects(check(), { ...UNAVAILABLE, cause: { message: 'the database lacks its schema' } })
    await execute(url, 'insert into drizzle.__drizzle_migrations table kept')
    await check()

    const sql = postgres(url, { max: 1, onnotice: () => {} })
    await sql.begin(async held => {
      await held`lock table drizzle.__drizzle_migrations`
      await check()
    })
    await sql.end()

    // The first call on a connection that the server has ended fails.
    await setDatabase(url, 'set default_transaction_read_only = on')
    await check().catch(() => {})
    await t.rejects(check(), { ...UNAVAILABLE, cause: { code: '25006' } })
    await requireSchema()
    await setDatabase(url, 'reset default_transaction_read_only')
    await check().catch(() => {})
    await check()

    await execute(url, 'alter table drizzle.__drizzle_migrations rename column created_at to applied_at')
    await t.rejects(check(), { ...UNAVAILABLE, cause: { code: '42703' } })
  }
)

t.test('who asks while a check is under way waits for that one, unless it takes long', async t => {
  let now = 0
  let probes = 0
  let answer: (rows: unknown[][]) => void = () => {}
  const probe = () => {
    probes += 1
    return new Promise<unknown[][]>(resolve => {
      answer = resolve
    })
  }
  const check = createCheck({ probe }, () => now)
  const asked = Array.from({ length: 1000 }, check)
  now = 1000
  asked.push(check())
  t.equal(probes, 1)
  answer([[false, Number.MAX_SAFE_INTEGER]])
  await Promise.all(asked)

  const slow = check()
  const toSlow = answer
  now = 2001
  const next = check()
  toSlow([[false, Number.MAX_SAFE_INTEGER]])
  await slow
  const another = check()
  t.equal(probes, 3)
  answer([[true, 0]])
  await t.rejects(next, UNAVAILABLE)
  await t.rejects(another, UNAVAILABLE)
})
