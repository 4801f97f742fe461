import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, cpSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { createDatabase } from '../support/postgres.js'
import { ask, startProcess, temporaryFolder } from '../support/process.js'
import { bearer } from '../support/service.js'
import { ADA } from '../support/world.js'

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
    files.filter(path => !/^(?:dist\/(?:core|adapters|app)|drizzle)\//.test(path)).sort(),
    ['LICENSE', 'README.md', 'package.json'],
    'the package holds what was built and nothing else'
  )

  // The dependencies are copied in the versions that are tested, so that npm asks no registry.
  mkdirSync(modules, { recursive: true })
  writeFileSync(join(installed, 'package.json'), '{ "private": true }')
  const [, ...dependencies] = npm(root, 'ls', '--omit=dev', '--all', '--parseable').trim().split('\n')
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

t.test('the core, memory and crypto need no package but argon2, and serve in a host of their own', async t => {
  const bare = join(folder, 'bare')
  for (const name of ['heroes', '@node-rs']) {
    cpSync(join(modules, name), join(bare, 'node_modules', name), { recursive: true })
  }
  const names = ['heroes/core', 'heroes/adapters/memory', 'heroes/adapters/crypto']
  t.strictSame(await failing(bare, [...names, 'heroes/app', 'heroes/adapters/postgres']), [
    'heroes/app',
    'heroes/adapters/postgres'
  ])

  const program = join(bare, 'node-http.mjs')
  copyFileSync(join(root, 'test/hosts/node-http.mjs'), program)
  const host = startProcess(t, [], {}, program)
  const [, port] = await host.until(/listening on (\d+)/)
  const url = `http://127.0.0.1:${port}`
  t.match(await ask(`${url}/register`, { body: ADA }), { status: 200, body: '{"id":1}' })
  t.match(await ask(`${url}/register`, { body: ADA }), { status: 409 })
  const { accessToken } = JSON.parse((await ask(`${url}/token`, { body: ADA })).body)
  const headers = { ...bearer(accessToken) }
  t.match(await ask(`${url}/heroes`, { headers, body: { name: 'Starling' } }), { body: '{"id":1,"name":"Starling"}' })
  t.match(await ask(`${url}/heroes`, { headers }), { status: 200, body: '[{"id":1,"name":"Starling"}]' })
  t.match(await ask(`${url}/heroes`), { status: 401 })

  for (const path of ['/', '/nothing', '/heroes/1', '/heroes?x=1', '/toString']) {
    t.match(await ask(`${url}${path}`, { headers }), { status: 404, body: /nothing at this path/ }, path)
  }
  t.match(await ask(`${url}/register`, { headers }), { status: 404 })
  const post = async (path: string, body: string): Promise<number> => {
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body })
    await answer.text()
    return answer.status
  }
  for (const body of ['', '{', 'null', '[]', '{"name":5}', '{"name":""}', `{"name":"${'x'.repeat(10_000)}"}`]) {
    t.equal(await post('/heroes', body), 400, body.slice(0, 20))
  }
  t.equal(await post('/register', '{"username":"bob","password":{}}'), 400)

  // Ten wrong passwords are the limit, whatever address and grant type the body names.
  const attempts: number[] = []
  for (let attempt = 1; attempt <= 12; attempt++) {
    const body = { ...ADA, password: 'wrong', address: `x${attempt}`, grantType: 'refresh_token', scope: 'x' }
    attempts.push(await post('/token', JSON.stringify(body)))
  }
  t.strictSame(attempts, [...Array(10).fill(400), 429, 429])
  t.equal(await post('/token', JSON.stringify({ ...ADA, address: 'x1' })), 429, 'the right password is refused too')
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
