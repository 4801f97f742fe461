import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { useHost } from '../support/host-session.js'
import { createDatabase } from '../support/postgres.js'
import { startProcess, temporaryFolder } from '../support/process.js'

// A folder outside of the checkout: inside, Node would find the node_modules of the checkout.
const folder = temporaryFolder(t)
const root = fileURLToPath(new URL('../..', import.meta.url))
const installed = join(folder, 'installed')
const modules = join(installed, 'node_modules')

// The variables that a surrounding `npm test` sets would change what npm does here.
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:npm_|NODE_OPTIONS$)/i.test(name)))
const run = (cwd: string, command: string, args: readonly string[]): SpawnSyncReturns<string> =>
  spawnSync(command, args, { cwd, env, encoding: 'utf8', shell: process.platform === 'win32' })
const npm = (cwd: string, ...args: readonly string[]): string => {
  const { status, stdout, stderr } = run(cwd, 'npm', args)
  if (status !== 0) throw new Error(stderr)
  return stdout
}
const { exports }: { exports: Record<string, unknown> } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

t.test('the package that npm pack makes installs in an empty folder', async t => {
  const [packed] = JSON.parse(npm(root, 'pack', '--ignore-scripts', '--json', '--pack-destination', folder))
  const files: string[] = packed.files.map(({ path }: { path: string }) => path)
  t.strictSame(
    files.filter(path => !/^(?:dist\/(?:core|adapters|app|test\/contract)|drizzle)\//.test(path)).sort(),
    [
      'LICENSE',
      'README.md',
      ...['.d.ts', '.js', '.js.map'].map(ending => `dist/test/testing${ending}`),
      'package.json'
    ],
    'the package holds what was built and nothing else'
  )

  // The dependencies are copied in the versions that are tested, so that npm asks no registry.
  mkdirSync(modules, { recursive: true })
  writeFileSync(join(installed, 'package.json'), '{ "private": true }')
  const [, ...listed] = npm(root, 'ls', '--omit=dev', '--all', '--parseable').trim().split('\n')
  const dependencies = listed.filter(path => path !== join(root, 'node_modules/heroes-core'))
  for (const path of [...dependencies, join(root, 'node_modules/.bin')]) {
    const target = join(installed, relative(root, path))
    mkdirSync(dirname(target), { recursive: true })
    cpSync(path, target, { recursive: true, verbatimSymlinks: true })
  }
  npm(installed, 'install', '--offline', '--no-audit', '--no-fund', '--ignore-scripts', join(folder, packed.filename))
  t.match(run(installed, join(modules, '.bin', 'heroes'), ['--help']), {
    status: 0,
    stdout: /^Usage: heroes/,
    stderr: ''
  })
})

/** Loads each module in a process of its own. Returns the names of those that cannot be loaded. */
const failing = async (cwd: string, names: readonly string[]): Promise<string[]> => {
  const failures = await Promise.all(
    names.map(async name => {
      const program = `await import(${JSON.stringify(name)}${name.endsWith('.json') ? ", { with: { type: 'json' } }" : ''})`
      const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { cwd, env, stdio: 'ignore' })
      const [code] = await once(child, 'close')
      return code === 0 ? [] : [name]
    })
  )
  return failures.flat()
}

t.test('each entry of the package loads by itself', async t => {
  const names = Object.keys(exports).map(path => path.replace('.', 'heroes'))
  t.ok(names.length >= 6)
  t.strictSame(await failing(installed, names), [])
  t.strictSame(await failing(installed, ['heroes', 'heroes/dist/core/index.js']), [
    'heroes',
    'heroes/dist/core/index.js'
  ])
})

/** The folder with the sample hosts, and with what they are compiled to. */
const compiled = join(folder, 'compiled')
const hosts = join(compiled, 'hosts')

/** Starts a compiled sample host in memory, or on a database. Returns its address. */
const startHost = async (t: Test, place: string, name: string, databaseUrl?: string): Promise<string> => {
  const settings = databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }
  const host = startProcess(t, [name], settings, join(place, 'start.js'))
  const [, port] = await host.until(/listening on (\d+)/)
  return `http://127.0.0.1:${port}`
}

t.test('the sample hosts compile against the package, and serve', async t => {
  // The packages beside this one: those that it was installed with, and those that the samples have of their own.
  const there = (name: string): string => [join(modules, name), join(root, 'node_modules', name)].find(existsSync) ?? ''
  const linked = 'heroes fastify express hono @hono/node-server @types/node @types/express'.split(' ')
  for (const name of linked) {
    mkdirSync(dirname(join(compiled, 'node_modules', name)), { recursive: true })
    symlinkSync(there(name), join(compiled, 'node_modules', name), 'junction')
  }
  writeFileSync(join(compiled, 'package.json'), '{ "private": true, "type": "module" }')
  const samples = readdirSync(join(root, 'test/examples')).filter(
    name => name.endsWith('.ts') && name !== 'single-page.ts'
  )
  for (const name of samples) cpSync(join(root, 'test/examples', name), join(compiled, 'examples', name))
  // That a bundler finds the same types is a check of @arethetypeswrong/cli below.
  const options = {
    target: 'ES2023',
    // The types of Hono need the DOM's.
    lib: ['ES2023', 'DOM'],
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    module: 'NodeNext',
    rootDir: 'examples',
    outDir: hosts
  }
  writeFileSync(join(compiled, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, include: ['examples'] }))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  t.match(run(compiled, process.execPath, [tsc, '-p', compiled]), { status: 0, stdout: '' })
  await useHost(t, await startHost(t, hosts, 'node-http'), 'ada')
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  for (const name of ['node-http', 'express', 'hono', 'worker']) {
    await t.test(name, async t => useHost(t, await startHost(t, hosts, name, url), name))
  }
})

t.test(
  'heroes-core is the core, memory and the hashes in four packages and 5 MB at most, without a warning',
  async t => {
    const [packed] = JSON.parse(npm(root, 'pack', '--workspace=heroes-core', '--json', '--pack-destination', folder))
    const bare = join(folder, 'bare')
    cpSync(join(modules, '@node-rs'), join(bare, 'node_modules/@node-rs'), { recursive: true })
    writeFileSync(join(bare, 'package.json'), '{ "private": true, "type": "module" }')
    const from = `heroes@file:${join(folder, packed.filename)}`
    const { status, stderr } = run(bare, 'npm', ['install', '--offline', '--no-audit', '--no-fund', from])
    t.strictSame([status, stderr.match(/EBADENGINE|deprecated/)], [0, null], stderr)
    const names = npm(bare, 'ls', '--all', '--parseable').trim().split('\n').slice(1)
    t.ok(names.length <= 4, names.join('\n'))
    const bytes = readdirSync(bare, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
    t.ok(bytes < 5_000_000, `${bytes} bytes`)
    t.comment(`heroes-core: ${names.length} packages, ${bytes} bytes`)

    const entries = ['heroes/core', 'heroes/adapters/memory', 'heroes/adapters/crypto', 'heroes/testing']
    t.strictSame(await failing(bare, [...entries, 'heroes/app', 'heroes/adapters/postgres']), [
      'heroes/app',
      'heroes/adapters/postgres'
    ])
    cpSync(hosts, bare, { recursive: true })
    await useHost(t, await startHost(t, bare, 'node-http'), 'ada')

    for (const file of [packed.filename, 'heroes-1.0.0.tgz'].map(name => join(folder, name))) {
      const tool = (name: string, ...args: readonly string[]): SpawnSyncReturns<string> =>
        run(root, process.execPath, [join(root, 'node_modules', name), ...args])
      t.match(tool('publint/src/cli.js', 'run', file, '--strict'), { status: 0, stdout: /All good!/ })
      t.match(tool('@arethetypeswrong/cli/dist/index.js', file, '--profile', 'esm-only'), { status: 0 })
    }
  }
)

t.test('the suites for stores run with the test runner of Node', async t => {
  const program = join(folder, 'bare', 'stores.mjs')
  writeFileSync(
    program,
    `import { test } from 'node:test'
import { createMemoryStores } from 'heroes/adapters/memory'
import { storeContract } from 'heroes/testing'
storeContract(test, async () => createMemoryStores())`
  )
  t.match(run(folder, process.execPath, ['--test', program]), { status: 0, stdout: /^# pass 1\d\d$/m })
})

t.test('every exported name has a sentence, and no link of the reference leads nowhere', async t => {
  const typedoc = join(root, 'node_modules/typedoc/bin/typedoc')
  t.match(run(root, process.execPath, [typedoc, '--emit', 'none']), { status: 0, stdout: '', stderr: '' })
})

t.test('a command starts without the database engine that it does not use', async t => {
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  const without = async (name: string, settings: Readonly<Record<string, string>>): Promise<number | string> => {
    const place = join(modules, name)
    renameSync(place, join(folder, 'aside'))
    const { ended } = startProcess(t, ['migrate'], settings, join(modules, 'heroes/dist/app/main.js'))
    const code = await ended
    renameSync(join(folder, 'aside'), place)
    return code
  }
  t.equal(await without('@electric-sql', { DATABASE_URL: url }), 0)
  t.equal(await without('postgres', { DATABASE_URL: url }), 1)
  t.equal(await without('postgres', { DATA_DIR: join(folder, 'data') }), 0)
})
