import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import t from 'tap'
import { serveDatabase } from '../support/database-service.js'
import { createFaults } from '../support/fault.js'
import { execute, setDatabase, startServer, unprivileged } from '../support/postgres.js'
import { temporaryFolder } from '../support/process.js'
import { startProxy } from '../support/tcp-proxy.js'

/** In milliseconds: how long a fault lasts. */
const WHILE = 5000

const server = await startServer()
t.teardown(() => server.remove())
const { username, password, hostname, port } = new URL(server.url)
const proxy = await startProxy(t, hostname, Number(port))
await execute(server.url, 'create database faults')
const direct = `postgres://${username}:${password}@${hostname}:${port}/faults`
/** While this file is there, the service finds no name. */
const nameless = join(temporaryFolder(t), 'nameless')
const withoutNames = `
  import dns from 'node:dns'
  import { existsSync } from 'node:fs'
  const { lookup } = dns
  dns.lookup = (name, options, done) => existsSync(${JSON.stringify(nameless)})
    ? setImmediate(done, Object.assign(new Error('getaddrinfo EAI_AGAIN'), { code: 'EAI_AGAIN' }))
    : lookup(name, options, done)`
const service = await serveDatabase(t, {
  DATABASE_URL: `postgres://${username}:${password}@localhost:${proxy.port}/faults`,
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(withoutNames)}`
})
const { stage } = await createFaults(service, () => direct)

const sql = postgres(direct, { max: 1, onnotice: () => {} })
t.teardown(() => sql.end())
const OF_SERVICE = "application_name = 'heroes' and datname = 'faults'"
const endConnections = (): Promise<unknown> =>
  execute(direct, `select pg_terminate_backend(pid) from pg_stat_activity where ${OF_SERVICE}`)

/** A fault that lasts for {@link WHILE}. */
const lasting = (begin: () => unknown, end: () => unknown) => async (): Promise<void> => {
  await begin()
  await sleep(WHILE)
  await end()
}

t.test('the server is shut down', async t => {
  const refused = await stage(t, 'stop', lasting(server.stop, server.start))
  t.ok(refused > 0)
})

t.test('the server is killed, five times', async t => {
  for (let round = 1; round <= 5; round++) {
    const refused = await stage(t, `kill ${round}`, async () => {
      await server.kill()
      await sleep(200)
      await server.start()
    })
    t.ok(refused > 0)
  }
})

t.test('one process of the server is killed, and the server starts all of them anew', async t => {
  const refused = await stage(t, 'backend kill', async () => {
    const rows = await sql.unsafe(`select pid from pg_stat_activity where ${OF_SERVICE} limit 1`)
    process.kill(Number(rows[0]?.pid), 'SIGKILL')
    await sleep(WHILE / 2)
  })
  t.ok(refused > 0)
})

t.test('every connection is ended again and again', async t => {
  const refused = await stage(t, 'terminate loop', async () => {
    for (let i = 0; i < 50; i++) {
      await endConnections()
      await sleep(50)
    }
  })
  t.ok(refused > 0)
})

t.test('the server is frozen', async t => {
  const refused = await stage(t, 'freeze', lasting(server.pause, server.resume))
  t.ok(refused > 0)
})

t.test('the network swallows everything', async t => {
  const refused = await stage(t, 'black hole', lasting(proxy.swallow, proxy.restore))
  t.ok(refused > 0)
})

t.test('every answer of the server comes half a second late', async t => {
  await stage(
    t,
    'slow answers',
    lasting(() => proxy.delay(500), proxy.restore)
  )
})

t.test('the database is read-only', async t => {
  const setReadOnly = (value: string) => () => setDatabase(direct, `set default_transaction_read_only = ${value}`)
  const refused = await stage(t, 'read-only', lasting(setReadOnly('on'), setReadOnly('off')))
  t.ok(refused > 0)
})

t.test('others take every connection that the server allows', async t => {
  const refused = await stage(t, 'too many connections', async () => {
    await endConnections()
    const others = Array.from({ length: 220 }, () => postgres(server.url, { max: 1, idle_timeout: 60 }))
    await Promise.allSettled(others.map(other => other`select 1`))
    await sleep(WHILE)
    await Promise.all(others.map(other => other.end({ timeout: 0 })))
  })
  t.ok(refused > 0)
})

t.test('a table is locked', async t => {
  const refused = await stage(t, 'locked table', () =>
    sql.begin(async run => {
      await run`lock table hero in access exclusive mode`
      await sleep(WHILE)
    })
  )
  t.ok(refused > 0)
})

t.test('the name of the server cannot be resolved', async t => {
  const refused = await stage(t, 'DNS gone', async () => {
    writeFileSync(nameless, '')
    await endConnections()
    await sleep(WHILE)
    rmSync(nameless)
  })
  t.ok(refused > 0)
})

/** A disk of its own: 16 MB of memory. Only root can mount one. */
const disk = temporaryFolder(t)
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=16m,mode=0777', 'tmpfs', disk]).status === 0
t.teardown(() => {
  if (mounted) spawnSync('umount', ['--lazy', disk])
})

t.test('the disk is full', mounted ? {} : { skip: 'no disk can be mounted here' }, async t => {
  const place = join(disk, 'place')
  mkdirSync(place)
  chmodSync(disk, 0o777)
  chmodSync(place, 0o700)
  const account = unprivileged()
  if (account) chownSync(place, account.uid, account.gid)
  await sql.unsafe(`create tablespace small location '${place}'`)
  await sql`alter table hero set tablespace small`
  const filler = join(disk, 'filler')
  const refused = await stage(t, 'full disk', async () => {
    spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=4k'])
    // What is left of the last page of the table has room for some heroes more.
    await sleep(WHILE)
    rmSync(filler)
  })
  t.ok(refused > 0)
  await sql`alter table hero set tablespace pg_default`
  await sql`drop tablespace small`
})
