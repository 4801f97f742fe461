import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import postgres from 'postgres'
import t from 'tap'
import { lockFolder } from '../../../adapters/postgres/embedded/folder.js'
import type { Inspected } from '../../../app/compose.js'
import { adviseOnSettings } from '../../../app/doctor/advice.js'
import { describeOutage, judgeDatabase, judgeHosts } from '../../../app/doctor/database.js'
import { readSettings } from '../../../app/settings/settings.js'
import { heroes } from '../../support/command.js'
import { madeFolder } from '../../support/embedded.js'
import { createDatabase, execute } from '../../support/postgres.js'
import { PROGRAM, temporaryFolder } from '../../support/process.js'

const { url, drop } = await createDatabase()
t.teardown(drop)
const env = { DATABASE_URL: url, DATABASE_POOL: '2' }

interface Finding {
  readonly check: string
  readonly verdict: string
  readonly message: string
  readonly advice?: string
}

const doctor = async (settings: Record<string, string>) => {
  const { code, stdout, stderr } = await heroes(['doctor', '--json'], settings)
  const findings: Finding[] = JSON.parse(stdout)
  return { code, stdout, stderr, findings, on: (check: string) => findings.find(finding => finding.check === check) }
}

t.test('what it says of a database that is not migrated, and it leaves that as it is', async t => {
  const { code, stderr, on } = await doctor(env)
  t.strictSame({ code, stderr }, { code: 0, stderr: '' })
  t.match(on('schema'), { verdict: 'fine', message: /\d+ migrations? .* pending/ })
  const refused = await doctor({ ...env, MIGRATE: 'false' })
  t.match(refused, { code: 1, stderr: /^heroes: 1 of \d+ checks is wrong\n$/ })
  t.match(refused.on('schema'), { verdict: 'wrong', advice: /npx heroes migrate/ })
  const sql = postgres(url, { max: 1 })
  t.teardown(() => sql.end())
  t.strictSame([...(await sql`select from pg_tables where schemaname in ('public', 'drizzle')`)], [])
  t.strictSame([...(await sql`select from pg_namespace where nspname = 'drizzle'`)], [])
})

t.test('of a database that is as it should be nothing is wrong, and each check has one line', async t => {
  await heroes(['migrate'], env)
  const { code, stderr, findings, on } = await doctor(env)
  t.strictSame({ code, stderr }, { code: 0, stderr: '' })
  for (const check of ['settings', 'server', 'encoding', 'writes', 'TLS', 'clock', 'schema', 'privileges']) {
    t.match(on(check), { verdict: 'fine' }, check)
  }
  for (const check of ['fsync', 'full_page_writes', 'synchronous_commit', 'shared_buffers', 'DATABASE_POOL']) {
    t.match(on(check), { verdict: /fine|risky/ }, check)
  }
  t.match(on('DATABASE_PREPARE'), { verdict: 'fine' })
  const checks = findings.map(({ check }) => check)
  t.strictSame(checks, [...new Set(checks)])
  for (const { verdict, message, advice } of findings) {
    t.match(verdict, /^(?:fine|risky|wrong)$/)
    t.match(message, /^\S[^\n]+$/)
    if (verdict !== 'fine') t.match(advice, /^\S[^\n]+$/)
  }

  const shown = await heroes(['doctor'], env)
  t.match(shown, { code: 0, stderr: '' })
  const lines = shown.stdout.trimEnd().split('\n')
  t.strictSame(
    lines.map(line => line.split(/ {2,}/, 2)),
    findings.map(({ check, verdict }) => [verdict, check])
  )
  t.match(shown.stdout, /^risky {2}PASSWORD_MIN_LENGTH {2}passwords of 1 character are allowed; set it to 12 or more$/m)
})

t.test('a refused setting is a finding beside the others, and exit code 1', async t => {
  const { code, stdout, stderr, on } = await doctor({
    ...env,
    PORT: '65536',
    WORKERS: '0',
    LOGIN_ATTEMPTS: '0'
  })
  t.equal(code, 1)
  t.match(stderr, /^heroes: 2 of \d+ checks are wrong\n$/)
  t.match(on('PORT'), { verdict: 'wrong', message: "is '65536', but must be an integer from 0 to 65535" })
  t.match(on('WORKERS'), { verdict: 'wrong', message: "is '0', but must be auto or an integer from 1 to 256" })
  t.match(on('LOGIN_ATTEMPTS'), { verdict: 'risky' })
  t.match(on('server'), { verdict: 'fine' })
  t.notMatch(stdout, '"settings"')

  const secret = await doctor({ DATABASE_URL: 'postgres://u:hunter2#@h/d', DATA_DIR: '/nowhere' })
  t.equal(secret.code, 1)
  t.match(secret.on('DATABASE_URL'), { verdict: 'wrong', message: /^is no URL: / })
  t.equal(secret.on('server'), undefined, 'no database is tried')
  t.notMatch(secret.stdout + secret.stderr, /hunter2/)
})

t.test('a database that cannot be used is wrong, with a reason that holds nothing of DATABASE_URL', async t => {
  const role = `role_${randomBytes(4).toString('hex')}`
  const changed = (change: (address: URL) => void): string => {
    const address = new URL(url)
    change(address)
    return address.href
  }
  const cases: [DATABASE_URL: string, message: RegExp, check?: string][] = [
    ['postgres://someone:hunter2@127.0.0.1:1/some_db', /nothing listens/],
    ['postgres://someone:hunter2@nowhere.invalid/some_db', /name .* is not known/],
    [changed(address => (address.password = 'hunter2')), /refuses/],
    [changed(address => (address.username = role)), /refuses/],
    [changed(address => (address.pathname = '/some_db')), /no such database/],
    [changed(address => (address.search = 'sslmode=require')), /offers none/, 'TLS']
  ]
  for (const [DATABASE_URL, message, check = 'server'] of cases) {
    const { code, stdout, stderr, on } = await doctor({ DATABASE_URL })
    t.equal(code, 1)
    t.match(on(check), { verdict: 'wrong', message, advice: /\S/ })
    t.notMatch(stdout + stderr, new RegExp(`hunter2|someone|some_db|nowhere|${role}`))
    t.equal(on('schema'), undefined)
  }
})

t.test('a pooler that refuses what the service sets at the start of a connection is told by the setting', async t => {
  const pooler = createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', () => {
      const fields = 'SFATAL\0C08P01\0Munsupported startup parameter: statement_timeout\0\0'
      const length = Buffer.alloc(4)
      length.writeInt32BE(fields.length + 4)
      socket.end(Buffer.concat([Buffer.from('E'), length, Buffer.from(fields)]))
    })
  }).listen(0, '127.0.0.1')
  t.teardown(() => pooler.close())
  await once(pooler, 'listening')
  const { port } = Object(pooler.address())
  const { code, on } = await doctor({ DATABASE_URL: `postgres://u@127.0.0.1:${port}/d?sslmode=disable` })
  t.equal(code, 1)
  t.match(on('DATABASE_PREPARE'), { verdict: 'wrong', advice: /^set it to false/ })
})

t.test('a role that may not do what the service does is told what it lacks', async t => {
  const role = `role_${randomBytes(4).toString('hex')}`
  await execute(url, `create role ${role} login password 'secret'`)
  t.teardown(() => execute(url, `drop owned by ${role}; drop role ${role}`))
  const address = new URL(url)
  address.username = role
  address.password = 'secret'
  const limited = { DATABASE_URL: address.href, DATABASE_POOL: '2' }

  const before = await doctor(limited)
  t.match(before.on('privileges'), {
    verdict: 'wrong',
    message:
      /select, insert, update and delete on attempt, client, code, grant, hero, known_login, scope, token, user; select on heroes_migration/
  })
  t.match(before.on('schema'), { verdict: 'wrong', message: /cannot be read/ })

  await execute(url, `grant select, insert, update on all tables in schema public to ${role}`)
  const some = await doctor(limited)
  t.match(some, { code: 1 })
  t.match(some.on('privileges'), { verdict: 'wrong', message: /may not delete on attempt, client,/ })
  t.match(some.on('schema'), { verdict: 'fine' })

  await execute(url, `grant delete on all tables in schema public to ${role}`)
  t.match((await doctor(limited)).on('privileges'), { verdict: 'fine' })

  const { url: empty, drop } = await createDatabase()
  t.teardown(drop)
  const there = new URL(empty)
  there.username = role
  there.password = 'secret'
  const first = await doctor({ DATABASE_URL: there.href, DATABASE_POOL: '1' })
  t.match(first.on('schema'), { verdict: 'wrong', message: /pending, and the role may not apply/ })
  t.match(first.on('privileges'), undefined, 'there is nothing that they could be for')
})

t.test('a database that takes no writes, or has another encoding, is wrong', async t => {
  const latin = `latin_${randomBytes(8).toString('hex')}`
  await execute(url, `create database ${latin} template template0 encoding 'LATIN1' locale 'C'`)
  t.teardown(() => execute(url, `drop database ${latin} with (force)`))
  await execute(url, `alter database ${latin} set default_transaction_read_only = on`)
  const address = new URL(url)
  address.pathname = latin
  const { code, stderr, on } = await doctor({ ...env, DATABASE_URL: address.href })
  t.equal(code, 1)
  t.match(stderr, /^heroes: 2 of \d+ checks are wrong\n$/)
  t.match(on('encoding'), { verdict: 'wrong', message: /LATIN1/ })
  t.match(on('writes'), { verdict: 'wrong' })
})

t.test('where no host takes writes and one must, the finding says so and what to do', async t => {
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  const { pathname, port } = new URL(url)
  await execute(url, `alter database ${pathname.slice(1)} set default_transaction_read_only = on`)
  const twice = url.replace(`:${port}/`, `:${port},127.0.0.1:${port}/`)
  for (const DATABASE_URL of [`${url}?target_session_attrs=read-write`, twice]) {
    const { code, on } = await doctor({ ...env, DATABASE_URL })
    t.equal(code, 1)
    t.strictSame(on('writes'), {
      check: 'writes',
      verdict: 'wrong',
      message: 'no host takes them: what answers is a standby or read-only',
      advice: 'name the primary in DATABASE_URL, promote the standby, or turn default_transaction_read_only off'
    })
    t.equal(on('server'), undefined)
  }
})

t.test('on memory: the settings alone are checked', async t => {
  const { code, on } = await doctor({ DATABASE_URL: 'memory:' })
  t.equal(code, 0)
  t.match(on('DATABASE_URL'), { verdict: 'risky' })
  t.equal(on('server'), undefined)
})

t.test('the embedded database is opened where there is one, and none is made', async t => {
  const nowhere = join(temporaryFolder(t), 'data')
  const absent = await doctor({ DATA_DIR: nowhere })
  t.equal(absent.code, 0)
  t.match(absent.on('DATA_DIR'), { verdict: 'fine', message: /no database yet/ })
  const kept = await doctor({ DATA_DIR: nowhere, MIGRATE: 'false' })
  t.equal(kept.code, 1)
  t.match(kept.on('DATA_DIR'), { verdict: 'wrong', message: /no database yet/, advice: /npx heroes migrate/ })
  t.notOk(existsSync(nowhere))

  const folder = await madeFolder(t)
  await heroes(['user', 'add', 'ada'], { DATA_DIR: folder }, 'correct horse')
  const there = await doctor({ DATA_DIR: folder })
  t.equal(there.code, 0)
  t.match(there.on('DATA_DIR'), { verdict: 'fine' })
  t.match(there.on('schema'), { verdict: 'fine' })
  t.equal(there.on('fsync'), undefined, 'what an operator cannot set is not judged')
  t.match(await heroes(['user', 'list'], { DATA_DIR: folder }), { stdout: 'ID  USERNAME\n1   ada\n' })

  const unlock = await lockFolder(folder)
  const locked = await doctor({ DATA_DIR: folder, LOGIN_ATTEMPTS: '0' })
  unlock()
  t.equal(locked.code, 0)
  t.match(locked.on('DATA_DIR'), {
    verdict: 'fine',
    message: /another process, .*: not looked into/,
    advice: undefined
  })
  t.match(locked.on('LOGIN_ATTEMPTS'), { verdict: 'risky' })
  t.equal(locked.on('schema'), undefined)
})

t.test('DATA_DIR that cannot be used is wrong, and is left as it is', async t => {
  const folder = temporaryFolder(t)
  const file = join(folder, 'file')
  writeFileSync(file, '')
  mkdirSync(join(folder, 'restored', 'postgres', 'base'), { recursive: true })
  symlinkSync('nowhere', join(folder, 'link'))
  for (const [DATA_DIR, message] of [
    [file, /the folder .*file cannot be used: .+/],
    [join(file, 'data'), /the folder .*data cannot be used: .+/],
    [join(folder, 'link'), /the folder .*link cannot be used: .+/],
    [join(folder, 'link', 'data'), /the folder .*data cannot be used: .+/],
    [join(folder, 'restored'), /no whole database, as it lacks PG_VERSION/]
  ] as const) {
    const { code, on } = await doctor({ DATA_DIR })
    t.equal(code, 1)
    t.match(on('DATA_DIR'), { verdict: 'wrong', message, advice: /\S/ })
  }
  t.strictSame(readdirSync(join(folder, 'restored', 'postgres')), ['base'])
})

t.test('each host of several is looked at: one that is dead, and two that take writes', async t => {
  const { host } = new URL(url)
  const dead = await doctor({ ...env, DATABASE_URL: url.replace(host, `127.0.0.1:1,${host}`) })
  t.match(dead.on('hosts'), { verdict: 'risky', message: /^host 1 of 2: nothing listens there$/, advice: /\S/ })
  t.match(dead.on('server'), { verdict: 'fine' })
  const twice = await doctor({ ...env, DATABASE_URL: url.replace(host, `${host},${host}`) })
  t.match(twice.on('hosts'), { verdict: 'fine' }, 'two names of one server are no two primaries')
  t.equal((await doctor(env)).on('hosts'), undefined)

  const value = (startedAt: string, takesWrites = true) => ({ ...SOUND, startedAt, takesWrites })
  const found = (...values: (typeof SOUND)[]) =>
    judgeHosts(values.map(value => ({ status: 'fulfilled' as const, value })))
  t.match(found(value('1'), value('2')), [
    { check: 'hosts', verdict: 'wrong', message: /^host 1 and host 2 take writes/ }
  ])
  t.match(found(value('1'), value('2', false)), [{ check: 'hosts', verdict: 'fine' }], 'a primary and a standby')
})

t.test('an index that is gone is named, and so are limits that nobody sets', async t => {
  const { url: DATABASE_URL, drop } = await createDatabase()
  t.teardown(drop)
  await heroes(['migrate'], { DATABASE_URL })
  const unprepared = { DATABASE_URL, DATABASE_PREPARE: 'false', DATABASE_POOL: '1' }
  const before = await doctor(unprepared)
  t.match(before.on('indexes'), { verdict: 'fine' })
  t.match(before.on('autovacuum'), { verdict: 'fine' })
  t.match(before.on('DATABASE_PREPARE'), { verdict: 'risky', message: /statement_timeout/, advice: /alter role/ })
  const limits = `options=${encodeURIComponent('-c statement_timeout=3000 -c lock_timeout=500')}`
  const limited = await doctor({ ...unprepared, DATABASE_URL: `${DATABASE_URL}?${limits}` })
  t.match(limited.on('DATABASE_PREPARE'), { verdict: 'fine' })
  await execute(DATABASE_URL, 'drop index token_grant_id; alter table hero drop constraint hero_name_unique')
  t.match((await doctor(unprepared)).on('indexes'), {
    verdict: 'wrong',
    message: /^there is no hero_name_unique, token_grant_id$/
  })
})

t.test('a low limit on open files is named, and no server is blamed for it', async t => {
  const start = `ulimit -n 300; exec "${process.execPath}" "${PROGRAM}" doctor --json`
  const { stdout } = spawnSync('sh', ['-c', start], { env: { ...process.env, ...env }, encoding: 'utf8' })
  const findings: Finding[] = JSON.parse(stdout)
  t.match(
    findings.find(({ check }) => check === 'open files'),
    { verdict: 'risky', advice: /LimitNOFILE/ }
  )
  t.match(
    findings.find(({ check }) => check === 'server'),
    { verdict: 'fine' }
  )
})

t.test('what Kubernetes sets in place of METRICS_PORT, and a misspelt setting, are told as what they are', async t => {
  const { code, on } = await doctor({ ...env, METRICS_PORT: 'tcp://10.0.0.1:80', ACCES_TOKEN_TTL: '60' })
  t.equal(code, 1)
  t.match(on('METRICS_PORT'), { verdict: 'wrong', message: /which Kubernetes sets for a Service of that name/ })
  t.match(on('ACCES_TOKEN_TTL'), { verdict: 'risky', advice: 'write ACCESS_TOKEN_TTL' })
})

t.test('of sound set-ups nothing is wrong, and risky is nothing but what such a set-up is known for', async t => {
  const folder = await madeFolder(t)
  const production = {
    HOST: '10.0.0.5',
    PUBLIC_URL: 'https://heroes.example',
    TRUST_PROXY: '10.0.0.1',
    PASSWORD_MIN_LENGTH: '12',
    METRICS_PORT: '9090',
    DATABASE_URL: `${SERVER}?sslmode=verify-full`
  }
  const judged = (settings: Record<string, string>, changes: Partial<typeof SOUND>) => {
    const read = readSettings({ ...production, ...settings })
    return [...adviseOnSettings(read, new Set(), 4), ...judge(changes, { ...production, ...settings })]
  }
  const notFine = (findings: readonly { check: string; verdict: string }[]) =>
    findings.filter(({ verdict }) => verdict !== 'fine').map(({ check }) => check)
  const embedded = await doctor({ DATA_DIR: folder, PASSWORD_MIN_LENGTH: '12' })
  t.strictSame(
    notFine(embedded.findings).filter(check => check !== 'open files'),
    ['DATABASE_URL'],
    'the embedded database'
  )
  t.strictSame(notFine(judged({ MIGRATE: 'false' }, {})), [], 'a server with roles')
  t.strictSame(notFine(judged({ DATABASE_PREPARE: 'false' }, {})), [], 'instances behind a pooler')
})

const SOUND: Exclude<Inspected, string> = {
  version: '18.1',
  encoding: 'UTF8',
  fsync: true,
  fullPageWrites: true,
  synchronousCommit: true,
  autovacuum: true,
  startedAt: '2026-11-29 00:00:00+00',
  limits: { statement: 3000, lock: 500 },
  sharedBufferBytes: 4 * 1024 ** 3,
  connections: { most: 97, others: 7 },
  encrypted: true,
  takesWrites: true,
  schema: {
    applied: true,
    pending: 0,
    later: false,
    absent: [],
    halfCopied: false,
    absentIndexes: [],
    searchPath: 'public'
  },
  mayMigrate: true,
  nameIndex: undefined,
  missing: [],
  offsetSeconds: 0.1
}

const SERVER = 'postgres://u:hunter2@db.example/d'

/** What is said of a server that is sound but for these facts. */
const judge = (changes: Partial<typeof SOUND>, settings: Record<string, string> = {}) => {
  const { database, migrate, workers } = readSettings({ DATABASE_URL: `${SERVER}?sslmode=verify-full`, ...settings })
  if (database.kind === 'memory') throw new Error('there is nothing to judge')
  return judgeDatabase({ ...SOUND, ...changes }, database, migrate, workers)
}

t.test('of a server that is set up as the checklist has it everything is fine', async t => {
  t.strictSame(
    judge({}).filter(({ verdict }) => verdict !== 'fine'),
    []
  )
})

t.test('each fact of a server that may cost data, secrets or the service is told by itself', async t => {
  type Case = [check: string, verdict: string, changes: Partial<typeof SOUND>, settings?: Record<string, string>]
  const schema = {
    applied: true,
    pending: 0,
    later: false,
    absent: [],
    halfCopied: false,
    absentIndexes: [],
    searchPath: 'public'
  }
  const authorities = join(temporaryFolder(t), 'authorities.pem')
  writeFileSync(authorities, String(rootCertificates[0]))
  const cases: Case[] = [
    ['encoding', 'wrong', { encoding: 'SQL_ASCII' }],
    ['writes', 'wrong', { takesWrites: false }],
    ['schema', 'wrong', { schema: undefined }],
    ['schema', 'wrong', { schema: { ...schema, absent: ['hero'] } }],
    ['schema', 'wrong', { schema: { ...schema, halfCopied: true } }],
    ['schema', 'risky', { schema: { ...schema, later: true } }],
    ['schema', 'wrong', { schema: { ...schema, pending: 1 } }, { MIGRATE: 'false' }],
    ['schema', 'wrong', { schema: { ...schema, pending: 2 }, mayMigrate: false }],
    ['schema', 'wrong', { schema: { ...schema, applied: false, pending: 6 }, mayMigrate: false }],
    ['privileges', 'wrong', { missing: [{ privilege: 'delete', table: 'hero' }] }],
    ['pg_trgm', 'risky', { nameIndex: { reason: 'there is none', remedy: 'make one' } }],
    ['fsync', 'wrong', { fsync: false }],
    ['full_page_writes', 'risky', { fullPageWrites: false }],
    ['synchronous_commit', 'risky', { synchronousCommit: false }],
    ['autovacuum', 'wrong', { autovacuum: false }],
    ['indexes', 'wrong', { schema: { ...schema, absentIndexes: ['token_grant_id'] } }],
    ['DATABASE_PREPARE', 'risky', { limits: { statement: 0, lock: 500 } }, { DATABASE_PREPARE: 'false' }],
    ['DATABASE_PREPARE', 'risky', { limits: { statement: 3000, lock: 0 } }, { DATABASE_PREPARE: 'false' }],
    ['shared_buffers', 'risky', { sharedBufferBytes: 128 * 1024 ** 2 }],
    ['DATABASE_POOL', 'wrong', {}, { DATABASE_POOL: '98' }],
    ['DATABASE_POOL', 'risky', {}, { DATABASE_POOL: '91' }],
    ['DATABASE_POOL', 'wrong', {}, { DATABASE_POOL: '49', WORKERS: '2' }],
    ['DATABASE_POOL', 'risky', {}, { DATABASE_POOL: '46', WORKERS: '2' }],
    ['DATABASE_POOL', 'risky', {}, { DATABASE_POOL: '98', DATABASE_PREPARE: 'false' }],
    ['DATABASE_POOL', 'risky', { connections: { most: 10, others: 20 } }],
    ['DATABASE_PREPARE', 'risky', { limits: { statement: 0, lock: 500 } }],
    ['TLS', 'risky', { encrypted: false }],
    ['TLS', 'risky', {}, { DATABASE_URL: `${SERVER}?sslmode=require` }],
    ['TLS', 'risky', {}, { DATABASE_URL: `${SERVER}?sslmode=verify-ca` }],
    ['TLS', 'risky', {}, { DATABASE_URL: `${SERVER}?sslrootcert=${authorities}` }],
    ['TLS', 'risky', {}, { DATABASE_URL: `${SERVER}?sslmode=allow&sslrootcert=${authorities}` }],
    ['clock', 'wrong', { offsetSeconds: 5.1 }],
    ['clock', 'wrong', { offsetSeconds: -5.1 }]
  ]
  for (const [check, verdict, changes, settings] of cases) {
    const findings = judge(changes, settings).filter(({ verdict }) => verdict !== 'fine')
    t.match(findings, [{ check, verdict, message: /^\S[^\n]+[^.\s]$/, advice: /^\S[^\n]+[^.\s]$/ }], check)
    t.equal(findings.length, 1, check)
    t.notMatch(JSON.stringify(findings), /hunter2|db\.example/)
  }
  const fine: Case[] = [
    ['schema', 'fine', { schema: { ...schema, pending: 1 } }],
    ['DATABASE_POOL', 'fine', {}, { DATABASE_POOL: '90' }],
    ['DATABASE_POOL', 'fine', {}, { DATABASE_POOL: '1' }],
    ['DATABASE_POOL', 'fine', {}, { DATABASE_POOL: '45', WORKERS: '2' }],
    ['DATABASE_PREPARE', 'fine', {}, { DATABASE_PREPARE: 'false' }],
    ['TLS', 'fine', { encrypted: false }, { DATABASE_URL: 'postgres://localhost,127.0.0.1/d' }],
    ['TLS', 'fine', { encrypted: false }, { DATABASE_URL: 'postgres:///d?host=/run/postgresql' }],
    ['TLS', 'fine', {}, { DATABASE_URL: `${SERVER}?sslrootcert=system` }],
    ['TLS', 'fine', {}, { DATABASE_URL: `${SERVER}?sslmode=require&sslrootcert=${authorities}` }],
    ['TLS', 'fine', {}, { DATABASE_URL: `${SERVER}?sslmode=verify-ca&sslrootcert=${authorities}` }],
    ['clock', 'fine', { offsetSeconds: -5 }]
  ]
  for (const [check, verdict, changes, settings] of fine) {
    t.match(
      judge(changes, settings).find(finding => finding.check === check),
      { verdict },
      check
    )
  }
})

t.test('why a server cannot be used is told by the code of its error, with the setting that mends it', async t => {
  const cases: [code: string | undefined, check: string, message: RegExp][] = [
    ['CONNECT_TIMEOUT', 'server', /does not answer/],
    ['28000', 'server', /refuses the role/],
    ['53300', 'server', /no connection left/],
    ['57P03', 'server', /starting/],
    ['25006', 'writes', /standby or read-only/],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'TLS', /certificate is not trusted/],
    ['INVALID_PURPOSE', 'TLS', /certificate is not trusted/],
    ['08P01', 'DATABASE_PREPARE', /refuses prepared statements, `options`, the role/],
    ['26000', 'DATABASE_PREPARE', /carries no prepared statements/],
    ['ECONNRESET', 'server', /ends the connection/],
    ['EMFILE', 'open files', /may not open another file/],
    ['XX000', 'server', /\(XX000\)/],
    [undefined, 'server', /in time/]
  ]
  for (const [code, check, message] of cases) {
    const cause = Object.assign(new Error('for role "someone"'), { code })
    for (const error of [new Error('unavailable', { cause }), cause]) {
      const finding = describeOutage(error)
      t.match(finding, { check, verdict: 'wrong', message, advice: /\S/ }, String(code))
      t.notMatch(JSON.stringify(finding), 'someone')
    }
  }
})

t.test('of a database whose DATABASE_URL_FILE cannot be read nothing more is said', async t => {
  const { code, on } = await doctor({ DATABASE_URL_FILE: join(temporaryFolder(t), 'absent') })
  t.equal(code, 1)
  t.match(on('DATABASE_URL_FILE'), { verdict: 'wrong' })
  t.equal(on('DATABASE_URL'), undefined)
})

t.test('a name and a reason that hold control characters are printed with them escaped', async t => {
  const { stdout } = await heroes(['doctor'], { DATABASE_URL: 'memory:', PORT: '\u001b[2J\n9' })
  t.match(stdout, /^wrong {2}PORT {17}is '\\u\{1b\}\[2J\\u\{a\}9', but must be /)
})
