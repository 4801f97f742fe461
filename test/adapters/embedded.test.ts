import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { openEmbedded } from '../../adapters/postgres/database.js'
import { openFolder } from '../../adapters/postgres/embedded.js'

const EVERY = { nameContains: undefined, after: undefined, limit: undefined }

/** Another process that opens the folder and stores heroes, one after the other, until it is killed. */
const startWriter = (folder: string) => {
  const program = `
    const { openEmbedded } = await import(${JSON.stringify(import.meta.resolve('../../adapters/postgres/database.ts'))})
    const { stores, migrate } = await openEmbedded(${JSON.stringify(folder)})
    await migrate()
    for (;;) console.log((await stores.heroes.insert(String(Math.random()))).id)`
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', program], {
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

// Making a database takes seconds: the tests share a folder, which the first of them makes.
const folder = join(t.testdir({ new: { folder: { 'postgres.new': { PG_VERSION: '18' } } } }), 'new', 'folder')

t.test('a database that was left half made is made anew', async t => {
  const { migrate, now, close } = await openEmbedded(folder)
  await migrate()
  t.ok(Math.abs((await now()).getTime() - Date.now()) < 5000)
  await close()
})

t.test('a leading U+FEFF is read wherever it stands, with notices before it and rows without it around it', async t => {
  const { write, close } = await openFolder(folder)
  t.teardown(close)
  await write(
    `create function marked(text text) returns text language plpgsql as
     $$ begin raise notice 'a notice comes before the row'; return text; end $$`,
    []
  )
  const texts = ['x', '\ufeff', '', '\ufeff\ufeffx', 'x\ufeff', '\ufeff\u6f22', '\u{1f9b8}']
  for (const text of texts) t.strictSame(await write('select marked($1), null, $1', [text]), [[text, null, text]])
  const literal = JSON.stringify(texts).replace('[', '{').replace(']', '}')
  const rows = await write('select n, text, null from unnest($1::text[]) with ordinality as given (text, n)', [literal])
  t.strictSame(
    rows,
    texts.map((text, index) => [index + 1, text, null])
  )
  await write('drop function marked(text)', [])
})

t.test('a folder serves one process at a time, and is free the moment its holder dies', async t => {
  for (let round = 0; round < 2; round++) {
    const writer = startWriter(folder)
    await writer.until(20)
    await t.rejects(openEmbedded(folder), {
      name: 'FolderInUseError',
      message: `the folder ${folder} is in use by another process: the embedded database serves one at a time`
    })
    await writer.until(100)
    await writer.kill()
    const { stores, close } = await openEmbedded(folder)
    const stored = new Set((await stores.heroes.list(EVERY)).map(({ id }) => id))
    t.ok(
      writer.acknowledged.every(id => stored.has(id)),
      'with all that was acknowledged'
    )
    await close()
  }
})

t.test('of two who open a folder at once one has it', async t => {
  const results = await Promise.allSettled([openEmbedded(folder), openEmbedded(folder)])
  t.strictSame(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  for (const result of results) if (result.status === 'fulfilled') await result.value.close()
})

t.test('a folder that cannot be opened is given free again', async t => {
  const broken = t.testdir({ postgres: { PG_VERSION: '1' } })
  await t.rejects(openEmbedded(broken))
  const error: unknown = await openEmbedded(broken).catch((error: unknown) => error)
  t.type(error, Error)
  t.notMatch(error, { name: 'FolderInUseError' })
})
