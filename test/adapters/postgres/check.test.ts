import postgres from 'postgres'
import t from 'tap'
import { createCheck } from '../../../adapters/postgres/check.js'
import { StatementError } from '../../../adapters/postgres/connection/errors.js'
import { openServer } from '../../../adapters/postgres/database.js'
import { createDatabase, execute, setDatabase } from '../../support/postgres.js'

const UNAVAILABLE = { code: 'unavailable' }
const WITHOUT_SCHEMA = {
  ...UNAVAILABLE,
  cause: { message: 'the database lacks its schema, or a part of it (the search path is "$user", public)' }
}

t.test(
  'a database is ready while it has its schema and takes writes, even if the table of migrations is locked',
  async t => {
    const { url, drop } = await createDatabase()
    const { migrate, requireSchema, check, close } = await openServer(url, { pool: 2, prepare: true })
    t.teardown(async () => {
      await close()
      await drop()
    })
    await t.rejects(check(), WITHOUT_SCHEMA)
    await t.rejects(requireSchema(), { name: 'UnfitDatabaseError' })
    await migrate()
    await requireSchema()
    await check()

    for (const [away, back] of [
      [
        'create table kept as table heroes_migration; truncate heroes_migration',
        'insert into heroes_migration table kept'
      ],
      ['alter table scope rename to scopes', 'alter table scopes rename to scope'],
      ['alter table heroes_migration rename to migration', 'alter table migration rename to heroes_migration']
    ] as const) {
      await execute(url, away)
      await t.rejects(check(), WITHOUT_SCHEMA, away)
      await execute(url, back)
      await check()
    }

    const sql = postgres(url, { max: 1, onnotice: () => {} })
    await sql.begin(async held => {
      await held`lock table heroes_migration, hero`
      await check()
    })
    await sql.end()

    // The first call on a connection that the server has ended fails.
    await setDatabase(url, 'set default_transaction_read_only = on')
    await check().catch(() => {})
    await t.rejects(check(), { ...UNAVAILABLE, cause: { code: '25006' } })
    await t.rejects(requireSchema(), { ...UNAVAILABLE, cause: { code: '25006' } }, 'at the start as well')
    await setDatabase(url, 'reset default_transaction_read_only')
    await requireSchema().catch(() => {})
    await requireSchema()
    await check()

    await execute(url, 'alter table heroes_migration rename column hash to digest')
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
  answer([[false, 'public', '', false]])
  await Promise.all(asked)

  const slow = check()
  const toSlow = answer
  now = 2001
  const next = check()
  toSlow([[false, 'public', '', false]])
  await slow
  const another = check()
  t.equal(probes, 3)
  answer([[true, 'public', '', false]])
  await t.rejects(next, UNAVAILABLE)
  await t.rejects(another, UNAVAILABLE)
})

t.test('a table that may not be read makes the database unavailable', async t => {
  const failure = new StatementError('permission denied for table heroes_migration', '42501')
  const check = createCheck({ probe: () => Promise.reject(failure) })
  await t.rejects(check(), { ...UNAVAILABLE, cause: failure })
})
