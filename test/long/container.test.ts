import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { buildImage } from '../support/dockerfile.js'
import { freePort } from '../support/ports.js'
import { ask, temporaryFolder } from '../support/process.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = temporaryFolder(t)
chmodSync(folder, 0o755)

// The variables that a surrounding `npm test` sets would change what npm does here.
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:npm_|NODE_OPTIONS$)/i.test(name)))

/** Nobody's ids, when this test may become nobody. */
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

t.test('what the Dockerfile says makes a service that runs without being root, and tells whether it lives', async t => {
  const image = buildImage(join(root, '.ci/Dockerfile'), root, folder, env, {
    // The checkout has what this installs. What is installed for production is not replaced.
    'npm ci --ignore-scripts': `ln -s ${join(root, 'node_modules')} node_modules`,
    // `npm run check` has checked the types.
    'npm run build': 'npm run build -- --noCheck'
  })
  t.strictSame(readdirSync(image.workdir).sort(), [
    'LICENSE',
    'README.md',
    'core',
    'data',
    'dist',
    'drizzle',
    'node_modules',
    'package-lock.json',
    'package.json'
  ])
  t.notOk(existsSync(join(image.workdir, 'node_modules/typescript')), 'what only tests need is left out')
  t.equal(image.user, 'node')
  const [data = ''] = image.volumes
  t.strictSame([...image.owned], [[join(data, '/'), 'node:node']])
  if (nobody.uid !== undefined) chownSync(data, nobody.uid, nobody.gid)

  const port = await freePort()
  const container = { cwd: image.workdir, ...nobody }
  // By `env`, because tap gives variables of its own to whatever a test starts, and its folder is not nobody's.
  const settings = Object.entries({ PATH: process.env.PATH, ...image.env, PORT: port })
  const within = (command: readonly string[]) => ['-i', ...settings.map(setting => setting.join('=')), ...command]
  const isHealthy = (): boolean => {
    return spawnSync('env', within(image.healthcheck), container).status === 0
  }
  t.equal(isHealthy(), false)
  const service = spawn('env', within(image.command), { ...container, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => service.kill('SIGKILL'))
  const ended = once(service, 'exit')
  let output = ''
  service.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  while (!output.includes('"msg":"listening"') && service.exitCode === null) await sleep(20)
  t.equal(isHealthy(), true, output)
  t.equal((await ask(`http://127.0.0.1:${port}/health/ready`)).status, 200)
  t.ok(existsSync(join(data, 'postgres')), 'the database is in the volume')
  service.kill('SIGTERM')
  t.strictSame(await ended, [0, null])
  t.equal(isHealthy(), false)
})
