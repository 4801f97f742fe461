import t from 'tap'
import { compose, prepareForWorkers, prepareSchema } from '../../app/compose.js'
import { readSettings } from '../../app/settings/settings.js'
import { heroes } from '../support/command.js'
import { migratedDatabase } from '../support/databases.js'
import { madeFolder } from '../support/embedded.js'
import { startFakeServer } from '../support/fake-server.js'
import { startProxy } from '../support/tcp-proxy.js'

t.test(
  'a sweep removes grants a minute after their end on a server, and a day after where no other clock is',
  async t => {
    const url = await migratedDatabase(t)
    const cases: [env: Record<string, string>, seconds: number][] = [
      [{ DATABASE_URL: url }, 60],
      [{ DATABASE_URL: 'memory:' }, 86_400],
      [{ DATA_DIR: await madeFolder(t) }, 86_400]
    ]
    for (const [env, seconds] of cases) {
      const { database, createUseCases } = await compose(readSettings(env))
      t.teardown(database.close)
      await database.migrate()
      const { grants } = database.stores
      const removals = t.capture(grants, 'removeExpired', grants.removeExpired)
      await createUseCases({ emit: () => {} }).sweep()
      const [removal] = removals()
      const delay = (Date.now() - Number(removal?.args[0])) / 1000
      t.ok(delay > seconds - 5 && delay < seconds + 50, `${delay} s with ${Object.keys(env).join()}`)
    }
  }
)

t.test('a command waits until every host has had its time, and ends with exit code 1 when none answers', async t => {
  const url = await migratedDatabase(t)
  const there = new URL(url)
  const silent = await Promise.all(Array.from({ length: 4 }, () => startFakeServer(t)))
  for (const server of silent) server.silent = true
  const places = silent.map(({ address: { host, port } }) => `${host}:${port}`)
  const withHosts = (hosts: readonly string[]) => `${url.replace(there.host, hosts.join())}?connect_timeout=1`
  const [found, none] = await Promise.all([
    heroes('client list', { DATABASE_URL: withHosts([...places, there.host]) }),
    heroes('client list', { DATABASE_URL: withHosts(places.slice(0, 2)) })
  ])
  t.match(found, { code: 0, stderr: '' })
  t.match(none, {
    code: 1,
    stdout: '',
    stderr: /^heroes: DATABASE_URL cannot be used: [^\n]+ no connection within 1 s\n$/
  })
})

t.test('a connection that is lost while the database is prepared counts as a database that is away', async t => {
  const url = new URL(await migratedDatabase(t))
  const proxy = await startProxy(t, url.hostname, Number(url.port))
  url.host = `127.0.0.1:${proxy.port}`
  const settings = readSettings({ DATABASE_URL: url.href, WORKERS: '2', DATABASE_POOL: '2' })
  const { database } = settings
  if (database.kind !== 'server') throw new Error()
  const never = new Promise(() => {})
  const ofOneProcess = async () => {
    const composition = await compose(settings)
    const { close, stores } = composition.database
    t.teardown(close)
    const preparing = prepareSchema(composition, settings)
    await preparing.catch(() => t.rejects(stores.clients.list(), { code: 'unavailable' }, 'until it is prepared'))
    return preparing
  }
  for (const prepare of [() => prepareForWorkers(settings, database, never), ofOneProcess]) {
    for (let message = 1; ; message += 1) {
      proxy.breakAt(message)
      const outcome: unknown = await prepare().catch((error: unknown) => error)
      const isAway = outcome instanceof Error
      if (isAway) t.match(outcome, { fault: 'cannot be used yet', passes: true }, `message ${message}`)
      else t.same(outcome ?? [], [], 'nothing is lacking')
      if (proxy.hasBroken()) continue
      t.notOk(isAway)
      t.ok(message > 8, `${message} messages`)
      break
    }
  }
})
