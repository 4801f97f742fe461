import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import { connectServer } from '../../adapters/postgres/connection/server.js'
import { heroes } from '../support/command.js'
import { serveDatabase } from '../support/database-service.js'
import { createFaults } from '../support/fault.js'
import { freePort } from '../support/ports.js'
import { createDatabase, unprivileged } from '../support/postgres.js'
import { ask, temporaryFolder } from '../support/process.js'

const { stdout: version } = spawnSync('pgbouncer', ['--version'], { encoding: 'utf8' })
const withPgBouncer = /^PgBouncer/.test(version ?? '') ? {} : { skip: 'there is no pgbouncer' }

interface Pooler {
  /** Of a new database over PgBouncer. */
  readonly url: string
  /** Of the same database without it. */
  readonly direct: string
  kill(): Promise<void>
  /** Resolves once it takes connections. */
  start(): Promise<void>
}

/** Starts PgBouncer before the server of the whole run. */
const startPgBouncer = async (t: Test, settings: Readonly<Record<string, string | number>>): Promise<Pooler> => {
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  const { hostname, port, username, password, pathname } = new URL(url)
  const own = await freePort()
  const folder = temporaryFolder(t)
  const account = unprivileged()
  const file = join(folder, 'pgbouncer.ini')
  const lines = Object.entries({
    listen_addr: '127.0.0.1',
    listen_port: own,
    unix_socket_dir: '',
    auth_type: 'any',
    ...settings
  }).map(([name, value]) => `${name} = ${value}`)
  const database = `* = host=${hostname} port=${port} user=${username} password=${password}`
  writeFileSync(file, ['[databases]', database, '[pgbouncer]', ...lines, ''].join('\n'))
  if (account) for (const path of [folder, file]) chownSync(path, account.uid, account.gid)
  let child: ChildProcess | undefined
  const kill = async (): Promise<void> => {
    child?.kill('SIGKILL')
    if (child?.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  t.teardown(kill)

  const start = async (): Promise<void> => {
    child = spawn('pgbouncer', ['-q', file], { ...account, cwd: folder, stdio: 'ignore' })
    for (;;) {
      const socket = connect(own, '127.0.0.1')
      const open = await once(socket, 'connect').then(
        () => true,
        () => false
      )
      socket.destroy()
      if (open) return
      if (child.exitCode !== null) throw new Error('pgbouncer has ended')
      await sleep(20)
    }
  }
  await start()
  return { url: `postgres://${username}@127.0.0.1:${own}${pathname}`, direct: url, kill, start }
}

const IGNORING =
  'statement_timeout,lock_timeout,idle_in_transaction_session_timeout,default_transaction_isolation,' +
  'plan_cache_mode,enable_seqscan,enable_hashjoin,enable_mergejoin,enable_material'

/** Twenty callers at once, each with heroes of its own from making to deleting them, and then twenty refreshes at once. */
const isWhole = async (t: Test, DATABASE_URL: string, settings: Readonly<Record<string, string>>): Promise<void> => {
  const { url, logIn, form, stop } = await serveDatabase(t, { DATABASE_URL, HASH_CONCURRENCY: '1', ...settings })
  const { headers, refresh } = await logIn()
  const statuses = await Promise.all(
    Array.from({ length: 20 }, async (_, caller) => {
      const seen: number[] = []
      const asked = async (path: string, question: Parameters<typeof ask>[1]) => {
        const { status, body } = await ask(`${url}${path}`, question)
        seen.push(status)
        return body === '' ? undefined : JSON.parse(body)
      }
      for (let round = 0; round < 10; round += 1) {
        const { id } = await asked('/heroes', { headers, body: { name: `hero ${caller} ${round}` } })
        const found = await asked(`/heroes/${id}`, { headers })
        t.same(found, { id, name: `hero ${caller} ${round}` })
        await asked(`/heroes/${id}`, { headers, method: 'DELETE' })
      }
      return seen
    })
  )
  t.strictSame([...new Set(statuses.flat())].sort(), [200, 204])
  const refreshes = Array.from({ length: 20 }, () =>
    ask(`${url}/auth/token`, form({ grant_type: 'refresh_token', refresh_token: refresh }))
  )
  t.ok((await Promise.all(refreshes)).every(({ status }) => status === 200))
  t.match(await ask(`${url}/health/ready`), { status: 200 })
  t.equal(await stop(), 0)
}

t.test('in transaction mode the start is refused with a line that names DATABASE_PREPARE', withPgBouncer, async t => {
  for (const settings of [{}, { ignore_startup_parameters: IGNORING }, { default_pool_size: 1 }]) {
    const { url: DATABASE_URL } = await startPgBouncer(t, { pool_mode: 'transaction', ...settings })
    for (const DATABASE_POOL of ['10', '1']) {
      for (const command of ['serve', 'client list']) {
        const refused = await heroes(command, { DATABASE_URL, DATABASE_POOL, PORT: '0', LOG_LEVEL: 'silent' })
        t.match(refused, { code: 1, stdout: '', stderr: /^heroes: DATABASE_PREPARE cannot be used: [^\n]+\n$/ })
      }
    }
  }
})

t.test('in transaction mode the service is whole with DATABASE_PREPARE=false', withPgBouncer, async t => {
  const { url } = await startPgBouncer(t, { pool_mode: 'transaction', default_pool_size: 5 })
  await isWhole(t, url, { DATABASE_PREPARE: 'false' })
})

t.test('in session mode the service is whole, with or without prepared statements', withPgBouncer, async t => {
  for (const settings of [{}, { ignore_startup_parameters: IGNORING }]) {
    const { url } = await startPgBouncer(t, { pool_mode: 'session', ...settings })
    await isWhole(t, url, {})
    const driver = connectServer(url, { pool: 2, prepare: true })
    t.same(await driver.query('show statement_timeout', []), [['3s']])
    t.same(await driver.lookUp('show enable_seqscan', []), [['off']])
    await driver.close()
    const sql = postgres(url, { max: 1 })
    t.match(await sql`show statement_timeout`, [{ statement_timeout: '0' }], 'a backend is left as it was')
    await sql.end()
  }
  const { url } = await startPgBouncer(t, { pool_mode: 'session' })
  await isWhole(t, url, { DATABASE_PREPARE: 'false' })
})

t.test('the pooler is killed, and comes back after five seconds', withPgBouncer, async t => {
  const pooler = await startPgBouncer(t, { pool_mode: 'transaction' })
  const service = await serveDatabase(t, { DATABASE_URL: pooler.url, DATABASE_PREPARE: 'false' })
  const { stage } = await createFaults(service, () => pooler.direct)
  const refused = await stage(t, 'pooler killed', async () => {
    await pooler.kill()
    await sleep(5000)
    await pooler.start()
  })
  t.ok(refused > 0)
})
