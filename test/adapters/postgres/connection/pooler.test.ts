// The last test composes a service. What that loads would hold up the others, whose time is short, while they run.
import '../../../../adapters/postgres/database.js'
import t, { type Test } from 'tap'
import { openConnection } from '../../../../adapters/postgres/connection/connection.js'
import { createHosts } from '../../../../adapters/postgres/connection/hosts.js'
import { compose, prepareSchema } from '../../../../app/compose.js'
import { readSettings } from '../../../../app/settings/settings.js'
import { type FakePooler, startFakePooler } from '../../../support/fake-pooler.js'

t.jobs = 4

const LOST = { code: 'PREPARED_STATEMENTS_LOST' }

/** A pooler, and what opens a connection over it and runs a statement there. */
const open = async (t: Test, changes: Partial<FakePooler>) => {
  const pooler = Object.assign(await startFakePooler(t), changes)
  const hosts = createHosts(pooler.url, { connectTimeoutSeconds: 1 })
  return {
    pooler,
    hosts,
    async run(prepare = true) {
      const connection = openConnection(hosts, { prepare, lookups: false, readClock: async () => {} })
      t.teardown(() => connection.drop())
      await connection.run('insert', [])
      return connection
    },
    limits: () => pooler.statements.filter(({ statement }) => statement.startsWith('set ')),
    probes: () => pooler.statements.filter(({ statement }) => statement.startsWith('begin'))
  }
}

t.test('a pooler that loses prepared statements is refused, however that shows', { buffered: true }, async t => {
  for (const changes of [{}, { refuses: true }, { routine: 'of another server' }, { size: 1 }]) {
    const { run, limits } = await open(t, changes)
    await t.rejects(run(), LOST, JSON.stringify(changes))
    t.strictSame(limits(), [])
    await run(false)
  }
})

t.test('a pooler in transaction mode that carries prepared statements is used, without limits', async t => {
  for (const refuses of [false, true]) {
    const { pooler, run, limits, probes } = await open(t, { carries: true, refuses, size: 5 })
    await Promise.all([run(), run()])
    await run()
    t.strictSame(limits(), [])
    t.equal(probes().length, 1, 'it is tried once')
    t.match(pooler.startups[0], 'statement_timeout')
  }
})

t.test('a pooler in session mode is used, and every connection sets its limits', async t => {
  for (const refuses of [false, true]) {
    const { run, limits } = await open(t, { mode: 'session', refuses, size: 5 })
    await Promise.all([run(), run()])
    t.equal(limits().length, 2)
    t.match(limits()[0]?.statement, /^set statement_timeout = '3000';set lock_timeout = '500';/)
    t.equal(new Set(limits().map(({ backend }) => backend)).size, 2)
  }
  const { run, limits } = await open(t, { mode: 'session', size: 1 })
  await run()
  t.equal(limits().length, 1, 'where the only backend is taken by one connection, each has its own')
})

t.test('a pooler that could not be tried is tried again', async t => {
  const { pooler, run, probes } = await open(t, { carries: true, mostClients: 1 })
  await t.rejects(run(), { code: '53300' })
  pooler.mostClients = 100
  await run()
  t.equal(probes().length, 1)
})

t.test(
  'a pooler that falls silent while it is tried is given up in time, and tried again',
  { buffered: true },
  async t => {
    for (const silentAt of ['begin', 'rollback', 'set ']) {
      const { pooler, hosts, run } = await open(t, { mode: 'session', silentAt })
      const connection = openConnection(hosts, { prepare: true, lookups: false, readClock: async () => {} })
      await t.rejects(connection.run('insert', []), { message: 'no connection within 1 s' }, silentAt)
      t.ok(connection.lost)
      pooler.silentAt = undefined
      t.notOk((await run()).lost)
    }
  }
)

t.test('a pooler that has refused a connection is tried again', async t => {
  const { pooler, run } = await open(t, { carries: true })
  await run()
  pooler.mostClients = 0
  await t.rejects(run(), { code: '53300' })
  Object.assign(pooler, { mostClients: 100, carries: false })
  await t.rejects(run(), LOST)
})

t.test('a prepared statement that a pooler loses later ends its connection', async t => {
  const { pooler, run } = await open(t, { carries: true, routine: 'of another server' })
  const connection = await run()
  await connection.run('select $1', [1])
  pooler.carries = false
  const blocking = await run(false)
  await blocking.run('begin', [])
  await t.rejects(connection.run('select $1', [1]), { code: '26000' })
  t.ok(connection.lost)
})

t.test('the start is refused with a line that names DATABASE_PREPARE', async t => {
  const { pooler } = await open(t, {})
  const settings = readSettings({ DATABASE_URL: pooler.url })
  const composition = await compose(settings)
  t.teardown(() => composition.database.close())
  await t.rejects(prepareSchema(composition, settings), {
    name: 'UnusableSettingError',
    message: /^DATABASE_PREPARE cannot be used: a pooler is in between that loses [^\n]+ false then$/
  })
})
