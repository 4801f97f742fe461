import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import t from 'tap'
import { openServer } from '../../../adapters/postgres/database.js'
import { lockFolder } from '../../../adapters/postgres/embedded/folder.js'
import { listenForCommands } from '../../../app/control/service.js'
import { createUseCases, DomainError } from '../../../core/index.js'
import { administer, heroes, ONE_LINE, openCommandLine, typing } from '../../support/command.js'
import { madeFolder } from '../../support/embedded.js'
import { createDatabase } from '../../support/postgres.js'
import { temporaryFolder } from '../../support/process.js'
import { signal } from '../../support/waiting.js'
import { createWorld } from '../../support/world.js'

const NOTHING = { scope: 0, hero: 0, user: 0, client: 0, grant: 0, code: 0, token: 0, known_login: 0 }

t.test('a command that only reads says that there is no database, and makes none', async t => {
  const DATA_DIR = join(temporaryFolder(t), 'data')
  const stderr = `heroes: there is no database in DATA_DIR, ${DATA_DIR}; the first start of the service makes one\n`
  const lines = [
    'client list',
    'client show x',
    'scope list',
    'user list',
    'export',
    `backup ${DATA_DIR}3`,
    `copy ${DATA_DIR}2`
  ]
  for (const line of lines) t.strictSame(await heroes(line, { DATA_DIR }), { code: 1, stdout: '', stderr }, line)
  t.notOk(existsSync(DATA_DIR))
  t.notOk(existsSync(`${DATA_DIR}2`))
})

t.test('backup, restore and copy refuse what has no database that lasts', async t => {
  for (const line of ['backup x', 'restore x', 'copy x']) {
    const { code, stderr } = await heroes(line, { DATABASE_URL: 'memory:' })
    t.strictSame([code, stderr], [1, 'heroes: DATABASE_URL is memory:, where there is nothing to administer\n'], line)
  }
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  for (const line of ['backup x', 'restore x']) {
    t.match(
      await heroes(line, { DATABASE_URL: url }),
      { code: 1, stderr: /^heroes: DATABASE_URL names a server, / },
      line
    )
  }
})

t.test('a backup is one file for its owner alone, and restore makes the same database of it', async t => {
  const DATA_DIR = await madeFolder(t)
  await administer('user add ada', { DATA_DIR }, 'correct horse')
  const folder = temporaryFolder(t)
  const file = join(folder, 'backup')
  writeFileSync(file, 'an earlier backup')
  const saved = await heroes(`backup ${file} --json`, { DATA_DIR })
  t.strictSame(saved, { code: 0, stdout: `${JSON.stringify({ file, bytes: statSync(file).size })}\n`, stderr: '' })
  t.equal(process.platform === 'win32' || statSync(file).mode & 0o777, process.platform === 'win32' || 0o600)
  t.strictSame(readdirSync(folder), ['backup'])
  const refused = [folder]
  if (process.platform !== 'win32') {
    const device = join(folder, 'device')
    symlinkSync('/dev/null', device)
    refused.push(device)
  }
  for (const place of refused) {
    const stderr = `heroes: ${place} is no regular file: a backup replaces none\n`
    t.strictSame(await heroes(`backup ${place}`, { DATA_DIR }), { code: 1, stdout: '', stderr })
    t.notOk(statSync(place).isFile())
  }

  const restored = { DATA_DIR: join(folder, 'new', 'data') }
  t.match(await heroes(`restore ${file}`, restored), {
    code: 0,
    stdout: /^The database of .*backup is in .*data\.\n.*`npx heroes user revoke --all` ends all logins\.\n$/
  })
  t.match(await heroes('user list', restored), { code: 0, stdout: 'ID  USERNAME\n1   ada\n' })
  t.match(await heroes(`restore ${file}`, restored), {
    code: 1,
    stderr: /^heroes: DATA_DIR cannot be used: [^\n]+ has a database already: move it away/
  })
  t.match(await heroes(`restore ${file}`, { DATA_DIR }), { code: 1, stderr: ONE_LINE })

  t.comment('what is no backup')
  const whole = readFileSync(file)
  const tar = gunzipSync(whole)
  // The beginning of a tar is a tar: with the first file alone.
  const cut = gzipSync(Buffer.concat([tar.subarray(0, 1024), Buffer.alloc(1024)]))
  for (const [content, why] of [
    [undefined, /cannot be restored: ENOENT/],
    [whole.subarray(0, whole.length / 2), /cannot be restored: unexpected end of file/],
    [Buffer.from('text'), /cannot be restored: incorrect header check/],
    [gzipSync('text'), /cannot be restored: it holds no database/],
    [cut, /cannot be restored: it holds no database/]
  ] as const) {
    const other = join(folder, 'other')
    const target = { DATA_DIR: join(folder, 'empty') }
    if (content !== undefined) writeFileSync(other, content)
    const { code, stderr } = await heroes(`restore ${other}`, target)
    t.equal(code, 1)
    t.match(stderr, why)
    t.match(stderr, ONE_LINE)
    t.notOk(existsSync(join(target.DATA_DIR, 'postgres')), 'nothing is made of it')
    t.notOk(existsSync(join(target.DATA_DIR, 'postgres.new')))
  }
})

t.test('a service gives a backup and refuses a copy, and a backup that fails leaves an earlier file', async t => {
  const DATA_DIR = temporaryFolder(t)
  mkdirSync(join(DATA_DIR, 'postgres'))
  t.teardown(await lockFolder(DATA_DIR))
  let crashes = false
  const atOnce = async function* () {
    yield Buffer.from('a tar')
    if (crashes) throw new Error('the engine has crashed')
  }
  let tar = atOnce
  const reached = { createUseCases: () => createUseCases(createWorld().ports), backup: async () => tar() }
  t.teardown(await listenForCommands(DATA_DIR, reached, { emit: () => {} }))
  const file = join(temporaryFolder(t), 'backup')
  t.match(await heroes(`backup ${file}`, { DATA_DIR }), {
    code: 0,
    stdout: /^The database is saved in .*, \d+ bytes\.\n$/
  })
  const saved = readFileSync(file)
  t.equal(String(gunzipSync(saved)), 'a tar')
  t.match(await heroes(`backup ${join(file, 'x')}`, { DATA_DIR }), {
    code: 1,
    stderr: /^heroes: the backup is not whole, and [^\n]* is as it was: ENOTDIR[^\n]*\n$/
  })
  t.match(await heroes(`copy ${DATA_DIR}`, { DATA_DIR }), {
    code: 1,
    stderr: /is in use by another process.*stop the service, or wait for the command, that uses it\n$/
  })
  const [begun, last] = [signal(), signal()]
  tar = async function* () {
    yield Buffer.from('a slow ')
    begun.give()
    await last.given
    yield Buffer.from('tar')
  }
  const slow = heroes(`backup ${file}`, { DATA_DIR })
  await begun.given
  tar = atOnce
  t.match(await heroes(`backup ${file}`, { DATA_DIR }), { code: 0 }, 'beside one that is under way')
  t.strictSame(readFileSync(file), saved)
  last.give()
  t.match(await slow, { code: 0 })
  t.equal(String(gunzipSync(readFileSync(file))), 'a slow tar')
  t.match(await heroes(`backup ${file}`, { DATA_DIR }), { code: 0 })
  crashes = true
  t.match(await heroes(`backup ${file}`, { DATA_DIR }), { code: 1, stderr: ONE_LINE })
  t.strictSame(readFileSync(file), saved)
  t.strictSame(readdirSync(dirname(file)), ['backup'], 'nothing of it is left')
})

t.test('copy moves a database into the one that its argument or stdin names, and says what it copied', async t => {
  const { env, run } = await openCommandLine(t)
  await run('user add ada', 'correct horse')
  const first = await createDatabase()
  const second = await createDatabase()
  t.teardown(first.drop)
  t.teardown(second.drop)
  const counts = `${JSON.stringify({ ...NOTHING, user: 1 })}\n`
  t.strictSame(await heroes(['copy', first.url, '--json'], env), { code: 0, stdout: counts, stderr: '' })
  t.match(await heroes('user list', { DATABASE_URL: first.url }), { stdout: 'ID  USERNAME\n1   ada\n' })
  const copied = await heroes('copy -', { DATABASE_URL: first.url }, `  ${second.url}  \n`)
  t.match(copied, { code: 0, stdout: /^COPIED +ROWS\nscope +0\nhero +0\nuser +1\n/, stderr: '' })
  t.match(await heroes('copy - --again', { DATABASE_URL: first.url }, `${second.url}\n`), {
    code: 1,
    stderr: /^heroes: the target cannot be used: it is not empty[^\n]*\n$/
  })
  const folder = await madeFolder(t)
  t.match(await heroes('copy -', env, typing(folder, folder)), { code: 0 })
  t.match(await heroes('user list', { DATA_DIR: folder }), { stdout: 'ID  USERNAME\n1   ada\n' })
})

t.test('a database with a copy that is not whole is refused by every command, and by serve', async t => {
  const { env, url, run } = await openCommandLine(t)
  await run('scope set a A')
  const source = await openServer(url, { pool: 1 })
  t.teardown(source.close)
  const target = await createDatabase()
  t.teardown(target.drop)
  const onBatch = () => {
    throw new Error('stopped')
  }
  await t.rejects(source.copyTo(target, { again: false, onBatch }), /stopped/)
  const refused = {
    code: 1,
    stdout: '',
    stderr:
      /^heroes: DATABASE_URL cannot be used: a copy into the database is not whole; `npx heroes copy TARGET --again`[^\n]*\n$/
  }
  for (const line of ['serve', 'user list', 'migrate', 'user revoke --all']) {
    t.match(await heroes(line, { DATABASE_URL: target.url }), refused, line)
  }
  t.match(await heroes(['copy', url], { DATABASE_URL: target.url }), refused, 'it is no source')
  t.match(await heroes(['copy', target.url], env), { code: 1, stderr: /not whole; --again empties it/ })
  t.match(await heroes(['copy', target.url, '--again'], env), { code: 0 })
  t.match(await heroes('user list', { DATABASE_URL: target.url }), { code: 0 })
})

t.test('a target that is none is bad usage, and nothing of it is printed', async t => {
  const { env } = await openCommandLine(t)
  const kinds = 'must be a postgres:// URL or a folder\n'
  for (const [target, why] of [
    ['', kinds],
    [' ', kinds],
    ['memory:', kinds],
    ['postgre://u:hunter2@h/d', kinds],
    ['postgres://u:hunter2@h/d?sslmod=x', /^heroes: TARGET has the parameter 'sslmod', [^\n]+\n$/]
  ] as const) {
    const { code, stdout, stderr } = await heroes(['copy', target], env)
    t.strictSame([code, stdout], [2, ''], target)
    t.match(stderr, typeof why === 'string' ? `heroes: TARGET ${why}` : why)
    t.notMatch(stderr, 'hunter2')
  }
})

t.test('revoke --all ends the logins of every user, one who is removed meanwhile included', async t => {
  const { run, json } = await openCommandLine(t)
  for (let i = 0; i < 21; i++) await run(`user add user-${i}`, 'password')
  t.strictSame(await json('user revoke --all'), { revoked: 21 })
  const { code, stdout, stderr } = await run('user revoke --all')
  t.strictSame([code, stdout], [0, '21 users have no code and no token any more.\n'])
  t.equal(stderr.match(/"event":"user\.revoked"/g)?.length, 21)
  for (const line of ['user revoke', 'user revoke user-1 --all']) {
    t.match(await run(line), { code: 2, stderr: 'heroes: give either a name or --all\n' }, line)
  }

  const folder = temporaryFolder(t)
  t.teardown(await lockFolder(folder))
  const { ports } = createWorld()
  const useCases = createUseCases(ports)
  await useCases.registerUser({ username: 'ada', password: 'x' })
  const refusals = [new DomainError('not_found', 'gone'), new DomainError('unavailable', 'away')]
  const revokeUser = () => Promise.reject(refusals.shift())
  const reached = { createUseCases: () => ({ ...useCases, revokeUser }), backup: undefined }
  t.teardown(await listenForCommands(folder, reached, { emit: () => {} }))
  t.match(await heroes('user revoke --all --json', { DATA_DIR: folder }), { code: 0, stdout: '{"revoked":0}\n' })
  t.match(await heroes('user revoke --all', { DATA_DIR: folder }), { code: 1, stderr: 'heroes: away\n' })
})
