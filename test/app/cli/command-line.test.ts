import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import t from 'tap'
import { lockFolder } from '../../../adapters/postgres/embedded/folder.js'
import { heroes, openCommandLine, type Ran, told } from '../../support/command.js'
import { madeFolder } from '../../support/embedded.js'
import { createDatabase, execute } from '../../support/postgres.js'
import { PROGRAM, temporaryFolder } from '../../support/process.js'

const { url, env, run } = await openCommandLine(t)

t.test('migrate prepares an empty database for every other command, and may run again', async t => {
  const done = { code: 0, stdout: 'The database is up to date.\n', stderr: '' }
  t.strictSame(await run('migrate'), done)
  t.strictSame(await run('migrate'), done)
  t.strictSame(await heroes('client list', { ...env, MIGRATE: 'false' }), {
    code: 0,
    stdout: 'No clients are registered.\n',
    stderr: ''
  })
  t.strictSame(await run('migrate --json'), { ...done, stdout: '{"upToDate":true}\n' })
})

t.test('with MIGRATE=false a database that `heroes migrate` has not prepared is refused', async t => {
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  const env = { DATABASE_URL: url, MIGRATE: 'false' }
  const refused = (why: string) => ({
    code: 1,
    stdout: '',
    stderr: `heroes: DATABASE_URL cannot be used: the database ${why}; run \`npx heroes migrate\`, or leave MIGRATE unset (the search path is "$user", public)\n`
  })
  for (const command of ['serve', 'client list', 'user list']) {
    t.strictSame(await heroes(command, env), refused('lacks its schema'), command)
  }
  t.match(await heroes('migrate', env), { code: 0 })
  t.match(await heroes('client list', env), { code: 0 })
  // This leaves the database as an earlier version does.
  await execute(url, 'delete from heroes_migration where ctid = (select max(ctid) from heroes_migration)')
  t.strictSame(await heroes('client list', env), refused('has a schema of an earlier version'))
})

t.test('with MIGRATE=false an empty embedded database is refused as well', async t => {
  t.match(await heroes('client list', { DATA_DIR: await madeFolder(t), MIGRATE: 'false' }), {
    code: 1,
    stdout: '',
    stderr: /^heroes: the database lacks its schema; run `npx heroes migrate`[^\n]*\n$/
  })
})

t.test('a database whose encoding is not UTF8 is refused, and nothing is created in it', async t => {
  const latin = `latin_${randomBytes(8).toString('hex')}`
  await execute(url, `create database ${latin} template template0 encoding 'LATIN1' locale 'C'`)
  t.teardown(() => execute(url, `drop database ${latin} with (force)`))
  const address = new URL(url)
  address.pathname = latin
  const stderr =
    /^heroes: DATABASE_URL cannot be used: the encoding of the database is LATIN1, but must be UTF8[^\n]*\n$/
  for (const MIGRATE of ['true', 'false']) {
    for (const command of ['serve', 'migrate', 'client list']) {
      const ran = await heroes(command, { DATABASE_URL: address.href, MIGRATE })
      t.match(ran, { code: 1, stdout: '', stderr }, `${command}, MIGRATE=${MIGRATE}`)
    }
  }
  await execute(address.href, 'create table heroes_migration ()')
})

t.test(
  'a database that refuses the service ends the start, and one that is away a command, with one line that names the setting and holds no password',
  async t => {
    const gone = new URL(url)
    gone.password = 'hunter2'
    const wrong = gone.href
    gone.port = '1'
    for (const [DATABASE_URL, why, command = 'migrate'] of [
      [gone.href, /the database cannot be reached: connect ECONNREFUSED 127\.0\.0\.1:1/],
      [wrong, /the database cannot be reached: password authentication failed for user "postgres"/, 'serve'],
      [`${url}_`, /the database cannot be reached: database "\w+_" does not exist/, 'serve'],
      ['postgres://u:hunter2@nowhere.invalid/d', /the database cannot be reached: getaddrinfo E\w+ nowhere\.invalid/]
    ] as const) {
      for (const MIGRATE of ['true', 'false']) {
        const { code, stdout, stderr } = await heroes(command, { DATABASE_URL, MIGRATE })
        t.strictSame({ code, stdout }, { code: 1, stdout: '' })
        t.match(stderr, new RegExp(`^heroes: DATABASE_URL cannot be used: ${why.source}\n$`))
        t.notMatch(stderr, 'hunter2')
      }
    }
  }
)

t.test('a command whose database cannot be reached says why, without the password', async t => {
  const away = await heroes('client list', { DATABASE_URL: 'postgres://user:hidden@127.0.0.1:1/db' })
  t.match(away, {
    code: 1,
    stdout: '',
    stderr: /^heroes: DATABASE_URL cannot be used: the database cannot be reached: .*ECONNREFUSED[^\n]*\n$/
  })
  t.notMatch(away.stderr, 'hidden')
})

t.test('bad usage is exit code 2 with one line that says what is wrong, and nothing on stdout', async t => {
  const cases = [
    'clint',
    'client',
    'user',
    'client forget app',
    'client add',
    'client add x',
    'client add x --public --confidential',
    'client add x --public --secret-stdin',
    'client add x y --public',
    'client add x --public --color blue',
    'client add x --confidential --redirect-uri',
    'user add',
    'serve now'
  ]
  for (const line of cases)
    t.match(await run(line), { code: 2, stdout: '', stderr: /^heroes: (?!error)[^\n]+\n$/ }, line)
  const refusals: [argv: readonly string[], reason: string][] = [
    [['client'], 'a command is missing; `npx heroes client --help` lists them'],
    [['help', 'clint'], 'there is no command `npx heroes clint`; `npx heroes --help` lists them'],
    [['client', 'help', 'ad'], 'there is no command `npx heroes client ad`; `npx heroes client --help` lists them'],
    [['help', 'client', 'ad'], 'there is no command `npx heroes client ad`; `npx heroes client --help` lists them'],
    [['clint'], "unknown command 'clint' (Did you mean client?)"],
    [['client', 'add'], "missing required argument 'id'"]
  ]
  for (const [argv, reason] of refusals) {
    t.strictSame(await heroes(argv, env), { code: 2, stdout: '', stderr: `heroes: ${reason}\n` })
  }
})

t.test('a command goes on where the reader of its stderr has left', async t => {
  const left = new PassThrough({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
  })
  const { code, stdout } = await heroes('client add unheard --confidential --json', env, '', left)
  t.equal(code, 0)
  t.match(JSON.parse(stdout), { id: 'unheard', secret: /^[A-Za-z0-9]{32}$/ })
  t.match(left.errored, { code: 'EPIPE' }, 'something was written')
})

t.test('a command whose output cannot be written ends with one line that says why', async t => {
  const commands = [
    'export',
    'export --json',
    'client list',
    'user list --json',
    'migrate',
    'openapi',
    '--help',
    'help'
  ]
  for (const command of [...commands, '--version', '']) {
    for (const [code, why] of [
      ['EPIPE', 'the reader of the output has left'],
      ['ENOSPC', 'write ENOSPC']
    ]) {
      const stdout = new PassThrough().on('error', () => {})
      stdout.destroy(Object.assign(new Error(`write ${code}`), { code }))
      const argv = command === '' ? [] : command.split(' ')
      const ran = await heroes(argv, env, '', new PassThrough(), stdout)
      t.match(ran, { code: 1, stderr: `heroes: ${why}\n` }, command)
    }
  }
})

t.test('what a server refuses of DATABASE_URL is told with its name', async t => {
  for (const [options, why] of [
    ['-c bogus=1', 'unrecognized configuration parameter "bogus"'],
    ['-c work_mem=x', 'a value that PostgreSQL refuses (22023)'],
    ['-c search_path=a b', 'invalid command-line argument for server process: b']
  ] as const) {
    const refused = await heroes('client list', { DATABASE_URL: `${url}?${new URLSearchParams({ options })}` })
    t.strictSame(refused, { code: 1, stdout: '', stderr: `heroes: DATABASE_URL cannot be used: ${why}\n` })
  }
})

t.test('heroes alone says what to do first', async t => {
  const { code, stdout, stderr } = await heroes([], env)
  t.strictSame({ code, stderr }, { code: 2, stderr: 'heroes: a command is missing; `npx heroes --help` lists them\n' })
  for (const first of ['serve', 'client rotate-secret local', 'doctor', '--help']) {
    t.match(stdout, new RegExp(`^  npx heroes ${first} `, 'm'))
  }
})

t.test('--help lists the commands and every setting with its default', async t => {
  const { code, stdout, stderr } = await run('--help')
  t.strictSame({ code, stderr }, { code: 0, stderr: '' })
  for (const command of ['serve', 'migrate', 'client', 'user', 'doctor'])
    t.match(stdout, new RegExp(`^ +${command}\\b`, 'm'))
  const defaults: Record<string, string> = {
    HOST: '127.0.0.1',
    PORT: '3000',
    DATABASE_URL: '(unset)',
    DATABASE_URL_FILE: '(unset)',
    DATA_DIR: './data',
    DATABASE_POOL: '10',
    DATABASE_PREPARE: 'true',
    MIGRATE: 'true',
    PUBLIC_URL: '(unset)',
    PROTECT_HEROES: 'true',
    HEROES_READ_SCOPE: '(unset)',
    HEROES_WRITE_SCOPE: '(unset)',
    ACCESS_TOKEN_TTL: '3600',
    REFRESH_TOKEN_TTL: '2592000',
    GRANT_TTL: '31536000',
    CODE_TTL: '60',
    REFRESH_GRACE: '30',
    PASSWORD_MIN_LENGTH: '1',
    HASH_CONCURRENCY: 'cores',
    HASH_QUEUE: '64',
    LOGIN_ATTEMPTS: '10',
    LOGIN_WINDOW: '900',
    REGISTRATION: 'open',
    REGISTER_ATTEMPTS: '1000',
    BODY_LIMIT: '10485760',
    BODY_MEMORY: '268435456',
    CORS_ORIGINS: '(unset)',
    TRUST_PROXY: 'false',
    METRICS_PORT: '(unset)',
    METRICS_HOST: '(unset)',
    KEEP_ALIVE_TIMEOUT: '72',
    WORKERS: '1',
    DRAIN_DELAY: '0',
    SERVICE_NAME: 'Heroes',
    SIGNUP_URL: '(unset)',
    RESET_URL: '(unset)',
    LOG_LEVEL: 'info'
  }
  const listed = [...stdout.matchAll(/^ {2}([A-Z_]+) +(\S+) +\S/gm)].map(([, name, shown]) => [name, shown])
  t.strictSame(Object.fromEntries(listed), defaults)
  t.match(await run('client add --help'), { code: 0, stdout: /--secret-stdin/, stderr: '' })
  t.match(await run('help client'), { code: 0, stdout: /rotate-secret/, stderr: '' })
  t.match(await run('help serve'), { code: 0, stdout: /^Usage: heroes serve /, stderr: '' })
  for (const line of ['help client add', 'client help add'])
    t.strictSame(await run(line), await run('client add --help'))
})

t.test('the help of every command ends with an example of that command', async t => {
  const commandsIn = ({ stdout }: Ran): string[] => {
    const [, listed = ''] = stdout.split('\nCommands:\n')
    return [...listed.matchAll(/^ {2}([a-z-]+) .*$/gm)].map(([, name = '']) => name).filter(name => name !== 'help')
  }
  let examples = 0
  const look = async (words: readonly string[]): Promise<void> => {
    const help = await heroes([...words, '--help'], env)
    const inside = commandsIn(help)
    for (const name of inside) await look([...words, name])
    if (inside.length > 0) return
    const line = ['npx', 'heroes', ...words].join(' ')
    t.match(help.stdout, new RegExp(`\n\nExample:\n  (?:[A-Z_]+=\\S+ )?${line}(?: [^\n]+)?\n$`), line)
    examples += 1
  }
  await look([])
  t.ok(examples >= 20, `${examples} commands`)
})

t.test('--version prints the version of the package', async t => {
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8'))
  t.strictSame(await heroes('--version', {}), { code: 0, stdout: `${version}\n`, stderr: '' })
  t.match((await run('--help')).stdout, /^ +--version +\S/m)
})

t.test('a Node that is too old is told so in one line, which says what package.json asks for', async t => {
  const { engines } = JSON.parse(readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8'))
  const on = (node: string) => {
    const versions = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${node}' } })`
    return spawnSync(process.execPath, ['--import', `data:text/javascript,${versions}`, PROGRAM, '--version'], {
      encoding: 'utf8'
    })
  }
  for (const node of ['18.20.8', '20.18.3', '20.9.0']) {
    const stderr = `heroes: Node ${node} is too old: install Node ${engines.node.replace('>=', '')} or newer\n`
    t.has(on(node), { status: 1, stdout: '', stderr })
  }
  for (const node of ['20.19.0', '22.0.0', '100.1.0']) t.has(on(node), { status: 0, stderr: '' })
  // An import that an old Node does not know would fail before the line is written.
  const imports = readFileSync(PROGRAM, 'utf8').match(/^import .*/gm)
  t.strictSame(imports, ["import { askAtSignals, createStop } from './serve/stop.js';"])
})

t.test('a setting that cannot be used ends every command with exit code 2 and one line that names it', async t => {
  for (const command of ['serve', 'migrate', 'client list', 'user remove ada']) {
    t.match(
      await heroes(command, { ...env, PORT: '65536' }),
      { code: 2, stdout: '', stderr: /^heroes: PORT is '65536', but must be [^\n]+\n$/ },
      command
    )
  }
})

t.test('with DATABASE_URL=memory: a command is refused, as there is nothing to administer', async t => {
  for (const command of ['migrate', 'client list', 'user list']) {
    t.match(
      await heroes(command, { DATABASE_URL: 'memory:' }),
      { code: 1, stdout: '', stderr: /^heroes: .*nothing to administer\n$/ },
      command
    )
  }
})

t.test('an embedded database that a service has open is refused', async t => {
  const folder = join(temporaryFolder(t), 'data')
  mkdirSync(join(folder, 'postgres'), { recursive: true })
  const unlock = await lockFolder(folder)
  t.teardown(unlock)
  t.match(await heroes('client list', { DATA_DIR: folder }), {
    code: 1,
    stdout: '',
    stderr:
      /^heroes: DATA_DIR cannot be used: the folder .* is in use by another process.*stop the service, or wait for the command, that uses it\n$/
  })
})

t.test(
  'a DATA_DIR that is no folder or holds an incomplete database ends every command with one line that names it',
  async t => {
    const folder = temporaryFolder(t)
    const file = join(folder, 'file')
    writeFileSync(file, '')
    mkdirSync(join(folder, 'restored', 'postgres', 'base'), { recursive: true })
    const refused: [DATA_DIR: string, why: RegExp][] = [
      [file, /the folder .*file cannot be used: .+/],
      [join(file, 'data'), /the folder .*data cannot be used: .+/],
      [
        join(folder, 'restored'),
        /the folder .*postgres is no whole database, as it lacks PG_VERSION, .+; move it away.+/
      ]
    ]
    for (const command of ['serve', 'migrate', 'client list']) {
      for (const [DATA_DIR, why] of refused) {
        const stderr = new RegExp(`^heroes: DATA_DIR cannot be used: ${why.source}\n$`)
        t.match(await heroes(command, { DATA_DIR }), { code: 1, stdout: '', stderr }, `${command} in ${DATA_DIR}`)
      }
    }
  }
)

t.test('what a command has done is told on stderr, unless LOG_LEVEL hides it', async t => {
  await heroes('client add named --public', env)
  const line = ['client', 'set', 'named', '--name', 'The App', '--json']
  for (const LOG_LEVEL of ['trace', 'debug', 'info']) {
    const { stdout, stderr } = await heroes(line, { ...env, LOG_LEVEL })
    t.match(stderr, told('client.changed', { client: 'named' }), LOG_LEVEL)
    t.match(JSON.parse(stdout), { id: 'named' }, 'stdout has the result alone')
  }
  for (const LOG_LEVEL of ['warn', 'error', 'fatal', 'silent']) {
    t.match(await heroes(line, { ...env, LOG_LEVEL }), { code: 0, stdout: /^[^\n]+\n$/, stderr: '' }, LOG_LEVEL)
  }
})
