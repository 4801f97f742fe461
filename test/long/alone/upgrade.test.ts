import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { type DatabaseService, serveDatabase } from '../../support/database-service.js'
import { type Answer, ask, keptConnection } from '../../support/process.js'
import { LOGIN, REQUEST } from '../../support/service.js'
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
  await sql.begin(async run => {
    for (const [index, { name }] of tables.entries()) {
      for (const statement of EXPANSIONS(name, index)) await run.unsafe(statement)
    }
    await run.unsafe('insert into drizzle.__drizzle_migrations (hash, created_at) values ($1, $2)', ['later', 9e12])
  })
  await after(500)
  t.match(await ask(`${service.url}/health/ready`), { status: 200 }, 'a later schema is no reason to be unready')
  t.strictSame(failed, [])

  await sql`alter table hero rename column name_lower to lower_name`
  while (failed.length === 0) await sleep(5)
  t.match(failed[0], { status: 500 }, 'what is not safe is seen')
  await sql`alter table hero rename column lower_name to name_lower`
  await stop()
  t.equal(await service.stop(), 0)
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
