import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import postgres from 'postgres'
import t from 'tap'
import { heroes } from '../support/command.js'
import { installedBinaries, startServer } from '../support/postgres.js'
import { ask, serveProcess, temporaryFolder } from '../support/process.js'
import { ADA } from '../support/world.js'

const root = join(import.meta.dirname, '../..')
const guide = readFileSync(join(root, 'app/OPERATING.md'), 'utf8')
const schema = readFileSync(join(root, 'adapters/postgres/README.md'), 'utf8')

/** The blocks of one language in a text. */
const blocksOf = (text: string, language: string): readonly string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\n([^\`]+)\`\`\``, 'gm'))].map(([, block]) => String(block))

const bin = installedBinaries().find(folder => spawnSync(join(folder, 'pg_dump'), ['--version']).status === 0)
const withPrograms = bin === undefined ? { skip: 'there is no pg_dump' } : {}

t.test('the commands for a container are those of the Dockerfile', async t => {
  const commands = blocksOf(guide, 'sh').find(block => block.includes('docker')) ?? ''
  const head = readFileSync(join(root, '.ci/Dockerfile'), 'utf8')
  for (const command of commands.trim().split('\n')) t.match(head, `# ${command}\n`)
})

t.test('the unit, the roles, the limits and the backup of the guide work as it says', withPrograms, async t => {
  const server = await startServer(undefined, bin)
  t.teardown(() => server.remove())
  const urlOf = (role: string, password: string, database = 'heroes'): string => {
    const url = new URL(server.url)
    Object.assign(url, { username: role, password, pathname: `/${database}` })
    return url.href
  }
  /** Runs each statement by itself, as some may not be in a transaction. */
  const execute = async (url: string, text: string): Promise<void> => {
    const sql = postgres(url, { max: 1, onnotice: () => {} })
    for (const statement of text.split(';').filter(part => part.trim() !== '')) await sql.unsafe(statement)
    await sql.end()
  }
  const [ofDatabase = '', ofRole = ''] = blocksOf(guide, 'sql')
  const inDatabase = blocksOf(schema, 'sql').find(block => block.includes('create role')) ?? ''
  const superuser = new URL(server.url)
  const { username, password } = superuser
  await execute(server.url, ofDatabase)
  await execute(urlOf(username, password), inDatabase)
  await execute(server.url, ofRole)
  const owner = urlOf('heroes_owner', 'one')
  const service = urlOf('heroes_service', 'another')
  t.match(await heroes('migrate', { DATABASE_URL: owner }), { code: 0, stderr: '' })
  const sound = { DATABASE_URL: service, MIGRATE: 'false', DATABASE_PREPARE: 'false' }
  const { code, stdout } = await heroes('doctor', sound)
  t.equal(code, 0, stdout)
  t.match(stdout, /^fine +DATABASE_PREPARE /m)

  const [unit = '', variables = ''] = blocksOf(guide, 'ini')
  const file = join(temporaryFolder(t), 'database-url')
  writeFileSync(file, `${service}\n`)
  const settings = Object.fromEntries([...variables.matchAll(/^(\w+)=(.+)$/gm)].map(([, name, value]) => [name, value]))
  t.match(unit, /^ExecStart=\/usr\/bin\/node dist\/app\/main\.js serve$/m)
  const env = { ...settings, DATABASE_URL_FILE: file, METRICS_PORT: '0', DRAIN_DELAY: '0' }
  const first = await serveProcess(t, { ...env, REGISTRATION: 'open' })
  t.match(await ask(`${first.url}/health/ready`), { status: 200 })
  const password12 = ADA.password.padEnd(12, 'x')
  t.match(await ask(`${first.url}/register`, { body: { ...ADA, password: password12 } }), { status: 200 })
  t.equal(await first.stop(), 0)
  const environment = join(dirname(file), 'env')
  writeFileSync(environment, variables.replace('/etc/heroes/database-url', file))
  const asService = blocksOf(guide, 'sh').find(block => block.includes('sudo -u heroes ')) ?? ''
  const line = asService
    .replace('/srv/heroes', root)
    .replace('sudo -u heroes ', '')
    .replace('/etc/heroes/env', environment)
  const advice = spawnSync('bash', ['-c', line], { encoding: 'utf8', env: { PATH: process.env.PATH } })
  t.equal(advice.status, 0, advice.stderr)
  t.match(advice.stdout, /^fine +schema +every migration is applied$/m)
  const commands = blocksOf(guide, 'sh').find(block => block.startsWith('heroes client add')) ?? ''
  for (const line of commands.trim().split('\n')) {
    const [, command = ''] = /^heroes (.+)$/.exec(line) ?? []
    const other = command.replace('ada', 'grace')
    t.match(await heroes(other, { DATABASE_URL: service, MIGRATE: 'false' }, password12), { code: 0 }, line)
  }
  t.strictSame(
    first
      .output()
      .split('\n')
      .filter(line => line.startsWith('{"level":40')),
    [],
    'the start of the unit warns of nothing'
  )

  await execute(server.url, ofDatabase.replace('heroes', 'restored'))
  // The roles are the server's.
  const inRestored = inDatabase.split(';').filter(statement => !statement.includes('create role'))
  await execute(urlOf(username, password, 'restored'), inRestored.join(';'))
  const restoredOwner = urlOf('heroes_owner', 'one', 'restored')
  const backup = blocksOf(guide, 'sh').find(block => block.includes('pg_dump')) ?? ''
  const ran = spawnSync('bash', ['-e', '-u', '-c', backup], {
    cwd: dirname(file),
    encoding: 'utf8',
    env: {
      PATH: `${bin}:${process.env.PATH}`,
      OWNER_URL: owner,
      NEW_OWNER_URL: restoredOwner
    }
  })
  t.equal(ran.status, 0, ran.stderr)
  t.match(await heroes('migrate', { DATABASE_URL: restoredOwner }), { code: 0, stderr: '' })
  const restored = { DATABASE_URL: urlOf('heroes_service', 'another', 'restored'), MIGRATE: 'false' }
  t.match(await heroes('user list', restored), { code: 0, stdout: /^1 +ada$/m })
  t.match(await heroes('doctor', { ...restored, DATABASE_PREPARE: 'false' }), { code: 0 })
})
