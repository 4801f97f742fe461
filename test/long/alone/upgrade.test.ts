import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { lockTables } from '../../../adapters/postgres/migrations.js'
import { heroes } from '../../support/command.js'
import { type DatabaseService, serveDatabase } from '../../support/database-service.js'
import { createEarlierDatabase } from '../../support/earlier-database.js'
import {
  OLDEST_CALLBACK,
  OLDEST_CLIENT,
  OLDEST_PASSWORD,
  OLDEST_VERIFIER,
  type OldestInstance,
  type OldestLedger,
  openOldestInstance
} from '../../support/oldest-instance.js'
import { OLDEST } from '../../support/oldest-statements.js'
import { type Answer, ask, keptConnection, serveProcess } from '../../support/process.js'
import { basic, bearer, LOGIN, REQUEST } from '../../support/service.js'
import { ADA } from '../../support/world.js'

/** Every kind of change that adapters/postgres/README.md calls safe, to every table. */
const EXPANSIONS = (table: string, index: number): readonly string[] => [
  `alter table "${table}" add column later_text text`,
  `alter table "${table}" add column later_count integer default 0 not null`,
  `alter table "${table}" add column later_time timestamp (3) with time zone default now() not null`,
  `create index later_${index} on "${table}" (later_count)`,
  `create table later_table_${index} (id bigint primary key, text text not null)`
]

/** Sends everything that the service does on so many connections until it is stopped. */
const live = ({ url, form }: DatabaseService, connections: number) => {
  let stopping = false
  const failed: Pick<Answer, 'status' | 'body'>[] = []
  let answered = 0
  const work = async (connection: number): Promise<void> => {
    const agent = keptConnection()
    const send = async (path: string, question: Parameters<typeof ask>[1], wanted: number) => {
      const answer = await ask(`${url}${path}`, { ...question, agent })
      answered += 1
      if (answer.status !== wanted) failed.push({ status: answer.status, body: answer.body })
      return answer.status === wanted && answer.body.startsWith('{') ? JSON.parse(answer.body) : {}
    }
    for (let round = 0; !stopping; round += 1) {
      const name = `${connection} ${round} ${Math.random()}`
      const tokens = await send('/auth/token', form(LOGIN), 200)
      const headers = { authorization: `Bearer ${tokens.access_token}` }
      const { id } = await send('/heroes', { headers, body: { name } }, 200)
      for (let read = 0; read < 10; read += 1) await send(`/heroes/${id}`, { headers }, 200)
      await send('/heroes?limit=10', { headers }, 200)
      await send(`/heroes/${id}`, { headers, method: 'DELETE' }, 204)
      const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token }
      const refreshed = await send('/auth/token', form(refresh), 200)
      await send('/auth/token', form(refresh), 200)
      await send('/auth/introspect', form({ token: refreshed.access_token }), 200)
      await send('/auth/revoke', form({ token: refreshed.refresh_token }), 200)
      await send('/auth/code', { body: new URLSearchParams({ ...REQUEST, ...ADA }) }, 302)
      await send('/register', { body: { username: name, password: 'a password' } }, 200)
    }
    agent.destroy()
  }
  const working = Promise.all(Array.from({ length: connections }, (_, connection) => work(connection)))
  return {
    failed,
    answered: () => answered,
    async stop() {
      stopping = true
      await working
    }
  }
}

t.test('under load the service goes on while a later version adds to every table', async t => {
  const service = await serveDatabase(t, { REGISTER_ATTEMPTS: '0' })
  const { sql } = service
  const { failed, answered, stop } = live(service, 6)
  const after = async (count: number): Promise<void> => {
    for (const from = answered(); answered() < from + count; ) await sleep(5)
  }
  const tables = await sql<{ name: string }[]>`select tablename as name from pg_tables where schemaname = 'public'`
  t.ok(tables.length >= 9)
  await after(200)
  const statements = tables.flatMap(({ name }, index) => EXPANSIONS(name, index))
  // Not with `sql.begin`: it would fail with an attempt to lock the tables, even when a later one succeeds.
  const upgrade = await sql.reserve()
  await upgrade`begin`
  await lockTables((text, values) => upgrade.unsafe(text, values.map(String)).values(), [{ statements }])
  for (const statement of statements) await upgrade.unsafe(statement)
  await upgrade`insert into heroes_migration (hash) values ('later')`
  await upgrade`commit`
  upgrade.release()
  await after(500)
  t.match(await ask(`${service.url}/health/ready`), { status: 200 }, 'a later schema is no reason to be unready')
  t.strictSame(failed, [])

  await sql`alter table hero rename column name_lower to lower_name`
  while (failed.length === 0) await sleep(5)
  t.match(failed[0], { status: 503 }, 'what is not safe is seen')
  await sql`alter table hero rename column lower_name to name_lower`
  await stop()
  t.equal(await service.stop(), 0)
})

/** How many instances of the first version there are, how many rounds they do at least before and after, and how often. */
const INSTANCES = 5
const ROUNDS = 5
const UPGRADES = 3

/** Lets instances of the first version do all that they do, again and again, until they are stopped. */
const liveOldest = (url: string) => {
  const instances = Array.from({ length: INSTANCES }, () => openOldestInstance(url))
  let stopping = false
  let rounds = 0
  const failed: unknown[] = []
  const work = async ({ round }: OldestInstance): Promise<void> => {
    while (!stopping) {
      await round().catch((error: unknown) => failed.push(String(error)))
      rounds += 1
    }
  }
  const working = Promise.all(instances.map(work))
  return {
    instances,
    failed,
    async after(count: number): Promise<void> {
      for (const from = rounds; rounds < from + count; ) await sleep(5)
    },
    async stop() {
      stopping = true
      await working
    }
  }
}

t.test('instances of the first version, under load, notice nothing of the migrations of today', async t => {
  for (let upgrade = 1; upgrade <= UPGRADES; upgrade += 1) {
    const { url, sql } = await createEarlierDatabase(t, 1)
    const { instances, failed, after, stop } = liveOldest(url)
    await after(ROUNDS)
    t.strictSame(failed, [])
    const begun = performance.now()
    t.match(await heroes('migrate', { DATABASE_URL: url, DATABASE_POOL: '2' }), { code: 0 })
    t.comment(`migrated in ${(performance.now() - begun).toFixed()} ms`)
    await after(ROUNDS)
    await stop()
    t.strictSame(failed, [])
    await Promise.all(instances.map(({ close }) => close()))
    const [row] = await sql`select deadlocks::int4 from pg_stat_database where datname = current_database()`
    t.equal(row?.deadlocks, 0)
  }
})

t.test('what instances of the first version write, before and after the migrations, today serves', async t => {
  const { url: DATABASE_URL, sql } = await createEarlierDatabase(t, 1)
  const { instances, failed, after, stop } = liveOldest(DATABASE_URL)
  t.teardown(() => Promise.all(instances.map(({ close }) => close())))
  await after(ROUNDS)
  const { url } = await serveProcess(t, { DATABASE_URL, REFRESH_GRACE: '3600', LOGIN_ATTEMPTS: '0' })
  t.match(await ask(`${url}/health/ready`), { status: 200 })
  await after(ROUNDS)
  await stop()
  t.strictSame(failed, [])
  const ran = new Set(instances.flatMap(instance => [...instance.ran]))
  t.strictSame(
    Object.keys(OLDEST).filter(name => !ran.has(name) && name !== 'rollback'),
    []
  )

  const ledgers = instances.map(({ ledger }) => ledger)
  const all = <T>(of: (ledger: OldestLedger) => Iterable<T>): T[] => ledgers.flatMap(ledger => [...of(ledger)])
  const form = async (path: string, fields: Readonly<Record<string, string>>): Promise<Answer> =>
    ask(`${url}${path}`, { headers: { ...basic(OLDEST_CLIENT) }, body: new URLSearchParams(fields) })
  const read = (path: string, access: string): Promise<Answer> =>
    ask(`${url}${path}`, { headers: { ...bearer(access) } })

  const live = all(ledger => ledger.live)
  const [{ access } = { access: '' }] = live
  const heroesThere = new Map<string, number>(
    JSON.parse((await read('/heroes', access)).body).map(({ id, name }: { id: number; name: string }) => [name, id])
  )
  const acknowledged = all(({ heroes }) => heroes)
  t.ok(acknowledged.length >= 2 * ROUNDS)
  t.strictSame(
    acknowledged.filter(([name, id]) => heroesThere.get(name) !== id),
    [],
    'every hero is there'
  )
  t.strictSame(
    all(({ goneHeroes }) => goneHeroes).filter(name => heroesThere.has(name)),
    [],
    'no hero is there that was removed or renamed'
  )
  const usernames = new Set((await sql`select username from "user"`).map(({ username }) => username))
  t.strictSame(
    all(ledger => ledger.usernames).filter(name => !usernames.has(name)),
    [],
    'every user is there'
  )

  for (const { access } of live) t.equal((await read('/heroes?limit=1', access)).status, 200)
  for (const access of all(({ dead }) => dead)) t.equal((await read('/heroes?limit=1', access)).status, 401)
  for (const code of all(({ codes }) => codes)) {
    const redeemed = { grant_type: 'authorization_code', code, code_verifier: OLDEST_VERIFIER }
    t.equal((await form('/auth/token', { ...redeemed, redirect_uri: OLDEST_CALLBACK })).status, 200)
  }
  for (const code of all(({ spentCodes }) => spentCodes)) {
    const redeemed = { grant_type: 'authorization_code', code, code_verifier: OLDEST_VERIFIER }
    t.equal((await form('/auth/token', { ...redeemed, redirect_uri: OLDEST_CALLBACK })).status, 400)
  }
  for (const { refresh, successor } of all(({ spent }) => spent)) {
    const again = await form('/auth/token', { grant_type: 'refresh_token', refresh_token: refresh })
    t.match(JSON.parse(again.body), { access_token: successor.access, refresh_token: successor.refresh })
  }

  const [oldest] = instances
  for (const username of all(ledger => ledger.usernames)) {
    const { body } = await form('/auth/token', { grant_type: 'password', username, password: OLDEST_PASSWORD })
    const { access_token: access } = JSON.parse(body)
    t.ok(await oldest?.findByAccess(access), 'a token of today is found by the first version')
    await form('/auth/revoke', { token: access })
    t.notOk(await oldest?.findByAccess(access), 'until it is revoked')
  }
})

const MIGRATIONS = join(import.meta.dirname, '../../../drizzle')

/** What a migration may do to a table while an earlier version serves. The first group is the table. */
const SAFE = [
  /^create index "\w+" on "(\w+)"/i,
  /^alter table "(\w+)" add column "\w+" [^;]*default [^;]*not null$/i,
  /^alter table "(\w+)" add column "\w+" (?!.*not null)/i,
  /^alter table "(\w+)" alter column "\w+" drop not null$/i
]

/** The statements of a migration that an earlier version might notice. What is done to a table that it makes is safe. */
const unsafe = (migration: string): readonly string[] => {
  const made = [...migration.matchAll(/create table "(\w+)"/gi)].map(([, name]) => name)
  return migration
    .split('--> statement-breakpoint')
    .map(text => text.trim().replace(/;$/, ''))
    .filter(statement => {
      const [, table] = /^(?:create table|alter table|create (?:unique )?index "\w+" on) "(\w+)"/i.exec(statement) ?? []
      return !made.includes(table) && !SAFE.some(pattern => pattern.test(statement))
    })
}

t.test('every migration after the first holds nothing but what an earlier version does not notice', async t => {
  const files = readdirSync(MIGRATIONS).filter(file => file.endsWith('.sql'))
  const later = files.sort().slice(1)
  t.ok(later.length > 0)
  for (const file of later) t.strictSame(unsafe(readFileSync(join(MIGRATIONS, file), 'utf8')), [], file)
  for (const statement of [
    'ALTER TABLE "hero" DROP COLUMN "name_lower";',
    'ALTER TABLE "hero" RENAME COLUMN "name" TO "title";',
    'ALTER TABLE "hero" ADD COLUMN "city" text NOT NULL;',
    'ALTER TABLE "hero" ALTER COLUMN "name" SET DATA TYPE varchar(9);',
    'ALTER TABLE "hero" ALTER COLUMN "name" SET NOT NULL;',
    'CREATE UNIQUE INDEX "u" ON "hero" USING btree ("name_lower");',
    'DROP TABLE "scope";',
    'UPDATE "hero" SET "name" = \'x\';'
  ]) {
    t.equal(unsafe(`CREATE TABLE "new" ("id" bigint);--> statement-breakpoint\n${statement}`).length, 1, statement)
  }
})
