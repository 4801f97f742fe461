import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Run } from '../../../../adapters/postgres/connection/driver.js'
import { openEmbedded, restoreEmbedded } from '../../../../adapters/postgres/database.js'
import { openFolder } from '../../../../adapters/postgres/embedded/embedded.js'
import { startEngine } from '../../../../adapters/postgres/embedded/engine.js'
import { lockFolder } from '../../../../adapters/postgres/embedded/folder.js'
import { madeFolder } from '../../../support/embedded.js'
import { PROGRAM, temporaryFolder } from '../../../support/process.js'

const EVERY = { nameContains: undefined, after: undefined, limit: undefined }

// The tests share a folder.
const folder = await madeFolder(t)
const cluster = join(folder, 'postgres')
const windows = process.platform === 'win32'

{
  const { migrate, stores, close } = await openEmbedded(folder)
  await migrate()
  await stores.heroes.insert({ name: 'Starling' })
  await close()
}

t.test('a leading U+FEFF is read in every row and column, also after notices and among rows without one', async t => {
  const { query, close } = await openFolder(folder)
  t.teardown(close)
  await query(
    `create function marked(text text) returns text language plpgsql as
     $$ begin raise notice 'a notice comes before the row'; return text; end $$`,
    []
  )
  const texts = ['x', '\ufeff', '', '\ufeff\ufeffx', 'x\ufeff', '\ufeff\u6f22', '\u{1f9b8}']
  for (const text of texts) t.strictSame(await query('select marked($1), null, $1', [text]), [[text, null, text]])
  const literal = JSON.stringify(texts).replace('[', '{').replace(']', '}')
  const rows = await query('select n, text, null from unnest($1::text[]) with ordinality as given (text, n)', [literal])
  t.strictSame(
    rows,
    texts.map((text, index) => [index + 1, text, null])
  )
  await query('drop function marked(text)', [])
})

t.test('an instant that no Date has is read as the first or the last one that is taken', async t => {
  const { query, close } = await openFolder(folder)
  t.teardown(close)
  const [row = []] = await query("select '-infinity'::timestamptz, 'infinity'::timestamptz, null, $1::timestamptz", [
    new Date(7)
  ])
  t.same(row, [new Date('0001-01-01T00:00:00.000Z'), new Date('9999-12-31T23:59:59.999Z'), null, new Date(7)])
})

t.test('the log is cut off at a checkpoint once it has grown by more than a segment', async t => {
  const chores: (() => Promise<unknown>)[] = []
  const setInterval = (chore: () => Promise<unknown>) => {
    chores.push(chore)
    return { unref: () => undefined }
  }
  const intercepted = t.intercept(globalThis, 'setInterval', { value: setInterval })
  const { query, close } = await openFolder(folder)
  intercepted.restore()
  const runChores = () => Promise.all(chores.map(chore => chore()))
  const checkpoint = async () => (await query('select redo_lsn::text from pg_control_checkpoint()', []))[0]?.[0]
  const first = await checkpoint()
  await query('create table filled as select 1 as number', [])
  await runChores()
  t.equal(await checkpoint(), first)
  await query(`insert into filled select number from generate_series(1, 400000) as number`, [])
  await runChores()
  const second = await checkpoint()
  t.not(second, first)
  await query('drop table filled', [])
  await runChores()
  t.equal(await checkpoint(), second)
  await close()
  await runChores()
})

t.test('when two calls open a folder at once, exactly one succeeds', async t => {
  const results = await Promise.allSettled([openEmbedded(folder), openEmbedded(folder)])
  t.strictSame(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  for (const result of results) if (result.status === 'fulfilled') await result.value.close()
})

/**
 * All that lies in a folder, with sizes and times that show whether it was written to. PostgreSQL's own postmaster.pid
 * is left out.
 */
const contents = (place: string): string[] =>
  readdirSync(place, { recursive: true, encoding: 'utf8' })
    .filter(name => !name.endsWith('postmaster.pid'))
    .map(name => {
      const stats = statSync(join(place, name))
      return stats.isDirectory() ? name : `${name} ${stats.size} ${stats.mtimeMs}`
    })
    .toSorted()

const part = (name: string): string => join(cluster, name)

/**
 * Opening the folder is refused with this message and writes nothing. The second time shows that the first has freed
 * the folder.
 */
const isRefused = async (t: Test, message: RegExp): Promise<void> => {
  const before = contents(folder)
  for (const time of ['once', 'again']) {
    await t.rejects(openEmbedded(folder), { name: 'FolderError', message }, time)
    t.strictSame(contents(folder), before, 'nothing was made or changed')
  }
}

t.test('a folder that lacks a part is refused with its name, and opens with all its data once it is back', async t => {
  const aside = join(t.testdir(), 'aside')
  for (const name of ['PG_VERSION', 'global/pg_control', 'base', 'pg_wal', 'pg_notify', 'postgresql.conf']) {
    renameSync(part(name), aside)
    await isRefused(
      t,
      new RegExp(`^the folder ${cluster} is no whole database, as it lacks ${name}(, .*)?; move it away`)
    )
    renameSync(aside, part(name))
  }
  const { stores, close } = await openEmbedded(folder)
  t.match(await stores.heroes.list(EVERY), [{ name: 'Starling' }])
  await close()
})

t.test("a folder that PostgreSQL does not open is refused with PostgreSQL's own reason", async t => {
  const damages: [name: string, content: string, reason: string][] = [
    ['global/pg_control', 'x'.repeat(100), 'could not read file "global/pg_control": read 100 of 296'],
    [
      'PG_VERSION',
      '17\n',
      'database files are incompatible with server The data directory was initialized by .* 17, .*'
    ],
    ['postgresql.conf', '\u0000garbage', '.*configuration file "/pglite/data/postgresql.conf" contains errors']
  ]
  for (const [name, content, reason] of damages) {
    const whole = readFileSync(part(name))
    writeFileSync(part(name), content)
    await isRefused(
      t,
      new RegExp(`^the database in ${cluster} cannot be opened: ${reason}; correct that, or move it away`)
    )
    writeFileSync(part(name), whole)
  }
})

/**
 * Crashes the engine: PostgreSQL ends itself when it cannot write its log. It finds the folder of the log gone at its
 * first or second file.
 */
const crash = async (query: Run): Promise<never> => {
  await query("select pg_logical_emit_message(false, 'heroes', 'x'), pg_switch_wal()", [])
  return crash(query)
}

t.test('a crashed engine answers `unavailable`, and goes on with all stored data once it can start again', async t => {
  const { query, transaction, close } = await openFolder(folder)
  await query('create table kept (n int)', [])
  await query('insert into kept values (1)', [])
  const aside = join(t.testdir(), 'aside')
  renameSync(part('pg_wal'), aside)
  const unavailable = { name: 'DomainError', code: 'unavailable', retryAfterSeconds: 1 }
  await t.rejects(crash(query), unavailable)
  await t.rejects(query('insert into kept values (2)', []), unavailable)
  await t.rejects(
    transaction({ name: 'insert' }, run => run('insert into kept values (3)', [])),
    unavailable,
    'no second start at once'
  )
  renameSync(aside, part('pg_wal'))
  const read = async (): Promise<unknown[][]> =>
    query('select n from kept', []).catch(async () => {
      await setImmediate()
      return read()
    })
  t.strictSame(await read(), [[1]])
  await query('drop table kept', [])
  await close()
})

t.test('a folder whose engine has crashed is free once the database is closed', async t => {
  const { query, close } = await openFolder(folder)
  const aside = join(t.testdir(), 'aside')
  renameSync(part('pg_wal'), aside)
  await t.rejects(crash(query), { code: 'unavailable' })
  await t.rejects(query('select 1', []), { code: 'unavailable' })
  await close()
  renameSync(aside, part('pg_wal'))
  await (await openFolder(folder)).close()
})

t.test('an empty folder and a file in the place of the database are refused', async t => {
  const data = t.testdir({ empty: { postgres: {} }, file: { postgres: 'x' }, lock: { lock: {} } })
  const refused = async (name: string, message: RegExp): Promise<void> => {
    await t.rejects(openEmbedded(join(data, name)), { name: 'FolderError', message })
    t.strictSame(readdirSync(join(data, name)).toSorted(), ['lock', ...(name === 'lock' ? [] : ['postgres'])])
  }
  await refused('empty', /^the folder .*postgres is empty; move it away, and restore a backup or start/)
  await refused('file', /^.*postgres is no folder; move it away, and restore a backup/)
  await refused('lock', /^the folder .*lock cannot be used: E/)
})

t.test('a backup that is no tar is refused, and nothing is made of it', async t => {
  const empty = join(temporaryFolder(t), 'empty')
  for (const content of ['', 'x'.repeat(2000)]) {
    await t.rejects(restoreEmbedded(empty, new Blob([content])), {
      name: 'FolderError',
      message: 'the backup is no tar'
    })
  }
  t.notOk(existsSync(empty))
})

t.test('nothing in the folder is opened through a symbolic link, and what the link names stays as it is', async t => {
  for (const name of ['lock', 'socket', 'postgres', 'postgres.new']) {
    const data = t.testdir({ elsewhere: 'x', folder: {} })
    const elsewhere = join(data, 'elsewhere')
    chmodSync(elsewhere, 0o644)
    const path = join(data, 'folder', name)
    for (const target of [elsewhere, 'nowhere']) {
      symlinkSync(target, path)
      const message = `${path} is a symbolic link, and none is followed; remove it`
      await t.rejects(openEmbedded(join(data, 'folder')), { name: 'FolderError', message })
      t.strictSame(readdirSync(join(data, 'folder')), [name])
      rmSync(path)
    }
    t.equal(statSync(elsewhere).mode & 0o777, 0o644)
  }
})

const posix = windows ? { skip: 'Windows has neither modes nor limits' } : {}

t.test(
  'a folder, or anything of the service in it, that belongs to neither the caller nor root is refused',
  posix,
  async t => {
    const uid = Number(process.geteuid?.())
    // Only root can give a file away. For others, somebody else is the caller.
    for (const name of uid === 0 ? ['', 'lock', 'socket', 'postgres'] : ['']) {
      const data = t.testdir({ folder: { lock: '', socket: '', postgres: {} } })
      const path = join(data, 'folder', name)
      if (uid === 0) chownSync(path, 65_534, 65_534)
      const owner = statSync(path).uid
      await t.rejects(lockFolder(join(data, 'folder'), uid === 0 ? 0 : owner + 1), {
        name: 'FolderError',
        message: `${join(path)} belongs to another user, of the id ${owner}; run this as that user`.replace(
          '/ belongs',
          ' belongs'
        )
      })
    }
  }
)

t.test('after every open only the owner can read and write the database, whatever the modes were', posix, async t => {
  const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8)
  chmodSync(folder, 0o755)
  chmodSync(cluster, 0o755)
  chmodSync(join(folder, 'lock'), 0o666)
  writeFileSync(join(folder, 'notes'), 'kept')
  const { close } = await openEmbedded(folder)
  t.strictSame([folder, cluster, join(folder, 'lock')].map(mode), ['755', '700', '600'])
  t.equal(readFileSync(join(folder, 'notes'), 'utf8'), 'kept', "what is not the database's is left alone")
  await close()
})

const linux = process.platform === 'linux' ? {} : { skip: 'only Linux has /proc' }

t.test('a folder that the file system does not make is refused', linux, async t => {
  for (const path of ['/proc/data', '/proc/data/of/heroes']) {
    const refusal = spawnSync(process.execPath, [PROGRAM, 'migrate'], { env: { DATA_DIR: path }, timeout: 60_000 })
    t.equal(refusal.status, 1)
    t.match(
      refusal.stderr.toString(),
      new RegExp(`^heroes: DATA_DIR cannot be used: the folder ${path} cannot be used: ENOENT[^\\n]*\\n$`)
    )
  }
})

t.test('if no database can be made, the error tells why, and nothing of it is left', posix, async t => {
  // The path of the folder is short enough, but the paths of the files in it are too long.
  const longest = process.platform === 'darwin' ? 1024 : 4096
  let data = temporaryFolder(t)
  while (data.length < longest - 200) data = join(data, 'x'.repeat(100))
  data = join(data, 'x'.repeat(longest - 21 - data.length))
  const message = /^a database cannot be made in .*postgres: File ?name too long$/
  await t.rejects(openEmbedded(data), { name: 'FolderError', message })
  t.strictSame(readdirSync(data), ['lock'])
})

t.test("a start that fails before PostgreSQL has printed anything tells Node's reason", async t => {
  await t.rejects(startEngine(join(temporaryFolder(t), 'missing', 'folder')), { name: 'Error', message: /^ENOENT: / })
})
