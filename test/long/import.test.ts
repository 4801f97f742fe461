import { pbkdf2Sync, randomBytes } from 'node:crypto'
import { appendFileSync, existsSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import { serveDatabase } from '../support/database-service.js'
import { createDatabase } from '../support/postgres.js'
import { ask, startProcess, temporaryFolder } from '../support/process.js'
import { residentMemory } from '../support/resident.js'

const HEROES = 40_000
const USERS = 700
const SAMPLE = 36

/** A new database, and the environment of commands on it. */
const openDatabase = async (t: Test) => {
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  t.teardown(() => sql.end())
  return { sql, env: { DATABASE_URL: url } }
}

const written = (t: Test, name: string, lines: readonly string[]): string => {
  const path = join(temporaryFolder(t), name)
  writeFileSync(path, lines.map(line => `${line}\n`).join(''))
  return path
}

t.test('an import of 40,000 heroes that is killed is finished by a second run, and each is stored once', async t => {
  const heroLines = Array.from({ length: HEROES }, (_, i) => JSON.stringify({ name: `Hero ${i} "ὈΔΥΣΣΕΎΣ"` }))
  for (const [name, lines] of [
    ['heroes.jsonl', heroLines],
    ['heroes.csv', ['name', ...heroLines.map(line => `"${JSON.parse(line).name.replaceAll('"', '""')}"`)]]
  ] as const) {
    const { sql, env } = await openDatabase(t)
    const path = written(t, name, lines)
    t.equal(await startProcess(t, ['migrate'], env).ended, 0)
    const stored = async (): Promise<number> => (await sql`select count(*)::int4 as count from hero`)[0]?.count

    const killed = startProcess(t, ['import', path], env)
    while ((await stored()) < HEROES / 2) await sleep(5)
    killed.child.kill('SIGKILL')
    t.equal(await killed.ended, 'SIGKILL')
    // A batch that was under way may still end in the server.
    await sleep(500)
    const before = await stored()
    t.ok(before < HEROES && before % 1000 === 0, `${before} were stored: whole batches`)

    const begin = performance.now()
    const second = startProcess(t, ['import', path, '--json'], env)
    t.equal(await second.ended, 0)
    t.comment(`${name}: the second run, with ${before} present, took ${seconds(begin)} s`)
    t.strictSame(JSON.parse(second.output()), { imported: HEROES - before, present: before, refused: 0 })
    const [row] = await sql`
      select count(*)::int4 as count, count(distinct name)::int4 as names, max(id) filter (where name like 'Hero 0 %')::int4 as first
      from hero`
    t.strictSame({ ...row }, { count: HEROES, names: HEROES, first: 1 })

    const fresh = await openDatabase(t)
    const whole = performance.now()
    t.equal(await startProcess(t, ['import', path], fresh.env).ended, 0)
    const took = seconds(whole)
    t.comment(
      `${name}: ${HEROES} heroes in ${took} s, with the start and the migrations: ${Math.round(HEROES / took)} a second`
    )
    const out = startProcess(t, ['export'], fresh.env)
    t.equal(await out.ended, 0)
    t.equal(out.output(), heroLines.map(line => `${line}\n`).join(''), 'what is exported is what was imported')
  }
})

t.test(
  'a line of a gigabyte is refused and not kept in memory',
  { skip: !existsSync('/proc/self/status') },
  async t => {
    const { env } = await openDatabase(t)
    const path = written(t, 'long.jsonl', ['{"name":"Before"}'])
    truncateSync(path, 1_000_000_000)
    appendFileSync(path, '\n{"name":"After"}\n')
    const process = startProcess(t, ['import', path, '--json'], env)
    let peak = 0
    const watch = setInterval(() => {
      const now = residentMemory(process).peak / 1_000_000
      // NaN of a process that has just ended.
      if (now > peak) peak = now
    }, 20)
    t.equal(await process.ended.finally(() => clearInterval(watch)), 1)
    t.match(process.output(), 'heroes: line 2: it is longer than 65536 bytes\n')
    t.match(process.output(), '{"imported":2,"present":0,"refused":1}\n')
    t.comment(`at most ${Math.round(peak)} MB`)
    t.ok(peak > 0 && peak < 500, `${peak} MB`)
  }
)

t.test(
  '700 users of the predecessor log in with their old passwords, and their hashes are plain argon2id then',
  async t => {
    const { url, env, sql, form } = await serveDatabase(t, { HASH_CONCURRENCY: '2' })
    const users = Array.from({ length: USERS }, (_, i) => {
      const salt = randomBytes(32).toString('base64')
      const password = `password of ${i} é`
      const hashedpassword = pbkdf2Sync(password, salt, 1000, 32, 'sha256').toString('base64')
      return { username: `user ${i}`, password, hashedpassword, salt }
    })
    const path = written(
      t,
      'users.jsonl',
      users.map(({ username, hashedpassword, salt }) => JSON.stringify({ username, hashedpassword, salt }))
    )
    const begin = performance.now()
    const killed = startProcess(t, ['user', 'import', path], env)
    await killed.until(/(?:"event":"user\.imported"[\s\S]*){5}/)
    killed.child.kill('SIGKILL')
    await killed.ended
    const second = startProcess(t, ['user', 'import', path, '--json'], { ...env, LOG_LEVEL: 'warn' })
    t.equal(await second.ended, 0)
    t.comment(`${USERS} users in ${seconds(begin)} s, killed once`)
    const { imported, present, refused } = JSON.parse(second.output())
    t.ok(present >= 500 && present % 100 === 0)
    t.strictSame({ all: imported + present, refused }, { all: USERS, refused: 0 })

    const stored = await sql<{ username: string; hashedpassword: string; salt: string }[]>`
    select username, hashedpassword, salt from "user" where username like 'user %'`
    t.equal(stored.length, USERS)
    const old = new Set(users.flatMap(({ hashedpassword, salt }) => [hashedpassword, salt]))
    const WRAPPED = /^\$pbkdf2-sha256-argon2id\$[\w-]+\$argon2id\$v=19\$m=19456,t=2,p=1\$/
    t.ok(
      stored.every(
        ({ hashedpassword, salt }) => WRAPPED.test(hashedpassword) && !old.has(hashedpassword) && !old.has(salt)
      ),
      'a dump holds argon2id alone'
    )

    const sample = users.filter((_, index) => index % Math.floor(USERS / SAMPLE) === 0)
    for (const { username, password } of sample) {
      const logIn = (password: string) => ask(`${url}/auth/token`, form({ grant_type: 'password', username, password }))
      t.equal((await logIn(`${password}.`)).status, 400)
      t.equal((await logIn(password)).status, 200, username)
    }
    const plain = await sql<{ username: string }[]>`
    select username from "user" where hashedpassword ~ '^[$]argon2id[$]v=19[$]m=19456,t=2,p=1[$]' and username like 'user %'
    order by id`
    t.strictSame(
      plain.map(({ username }) => username),
      sample.map(({ username }) => username)
    )
    for (const { username, password } of sample) {
      t.equal((await ask(`${url}/auth/token`, form({ grant_type: 'password', username, password }))).status, 200)
    }
  }
)

const seconds = (begin: number): number => Math.round((performance.now() - begin) / 10) / 100
