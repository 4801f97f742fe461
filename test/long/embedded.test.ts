import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { openEmbedded } from '../../adapters/postgres/database.js'
import { madeFolder } from '../support/embedded.js'
import { PROGRAM } from '../support/process.js'

const windows = process.platform === 'win32'
const EVERY = { nameContains: undefined, after: undefined, limit: undefined }

/** Starts a process that opens the folder and stores heroes, one after the other, until it is killed. */
const startWriter = (folder: string) => {
  const database = new URL('../adapters/postgres/database.js', pathToFileURL(PROGRAM))
  const program = `
    const { openEmbedded } = await import(${JSON.stringify(database)})
    const { stores, migrate } = await openEmbedded(${JSON.stringify(folder)})
    await migrate()
    for (;;) console.log((await stores.heroes.insert({ name: String(Math.random()) })).id)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const acknowledged: number[] = []
  const lines = createInterface({ input: child.stdout })
  lines.on('line', line => acknowledged.push(Number(line)))
  return {
    acknowledged,
    async until(count: number) {
      while (acknowledged.length < count) await once(lines, 'line')
    },
    async kill() {
      child.kill('SIGKILL')
      await once(child, 'close')
    }
  }
}

t.test('a folder serves one process at a time, and is free as soon as that process dies', async t => {
  const folder = await madeFolder(t)
  for (let round = 0; round < 2; round++) {
    const writer = startWriter(folder)
    await writer.until(20)
    await t.rejects(openEmbedded(folder), {
      name: 'FolderInUseError',
      message: `the folder ${folder} is in use by another process: the embedded database serves one at a time; stop the service, or wait for the command, that uses it`
    })
    await writer.until(100)
    await writer.kill()
    const { stores, close } = await openEmbedded(folder)
    const stored = new Set((await stores.heroes.list(EVERY)).map(({ id }) => id))
    t.ok(
      writer.acknowledged.every(id => stored.has(id)),
      'every acknowledged hero is stored'
    )
    await close()
  }
})

/**
 * Runs the built program with a limit for the size of its files, in blocks: writing beyond it fails as on a full disk.
 */
const limited = (blocks: number, data: string): SpawnSyncReturns<string> =>
  spawnSync('sh', ['-c', `ulimit -f ${blocks}; exec "$0" "$@"`, process.execPath, PROGRAM, 'migrate'], {
    env: { DATA_DIR: data },
    timeout: 60_000,
    encoding: 'utf8'
  })

const posix = process.platform === 'win32' ? { skip: 'Windows has no such limits' } : {}

t.test('a database without room to open is refused, and opens once there is room', posix, async t => {
  const folder = await madeFolder(t)
  // The kill leaves something to recover: PostgreSQL sets a timer for a recovery, which would keep the process alive
  // for ever.
  const writer = startWriter(folder)
  await writer.until(20)
  await writer.kill()
  const refused = limited(50, folder)
  const stderr =
    /^heroes: DATA_DIR cannot be used: the database in .* cannot be opened: could not .*; correct that.*\n$/
  t.match(refused, { status: 1, stdout: '', stderr })
  const { stores, close } = await openEmbedded(folder)
  t.ok((await stores.heroes.list(EVERY)).length >= 20)
  await close()
})

t.test('a database that was left half made is made anew', async t => {
  const folder = join(t.testdir({ new: { folder: { 'postgres.new': { PG_VERSION: '18' } } } }), 'new', 'folder')
  const { migrate, check, stores, close } = await openEmbedded(folder)
  await migrate()
  await check()
  await stores.heroes.insert({ name: 'Starling' })
  await close()
  t.equal(
    windows || statSync(join(folder, 'postgres')).mode & 0o077,
    windows || 0,
    "and is its owner's alone from the start"
  )
})
