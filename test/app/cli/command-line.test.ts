import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { lockFolder } from '../../../adapters/postgres/connection/folder-lock.js'
import { heroes, typing } from '../../support/command.js'
import { createDatabase, execute } from '../../support/postgres.js'
import { PROGRAM, temporaryFolder } from '../../support/process.js'

const { url, drop } = await createDatabase()
t.teardown(drop)
const env = { DATABASE_URL: url, DATABASE_POOL: '2' }
const run = (line: string, stdin?: Parameters<typeof heroes>[2]) => heroes(line.split(' '), env, stdin)
const json = async (line: string, stdin?: string): Promise<unknown> =>
  JSON.parse((await run(`${line} --json`, stdin)).stdout)

const SECRET = 'a secret of 24 characters'
const LINE = /^[^\n]+\n$/

t.test('migrate makes an empty database one that every other command finds as it should be', async t => {
  const done = { code: 0, stdout: 'The database is up to date.\n', stderr: '' }
  t.strictSame(await run('migrate'), done)
  t.strictSame(await run('migrate'), done)
  t.strictSame(await heroes(['client', 'list'], { ...env, MIGRATE: 'false' }), { code: 0, stdout: '', stderr: '' })
})

t.test('MIGRATE=false leaves the database to `heroes migrate`, and says so where that is still to be run', async t => {
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  const env = { DATABASE_URL: url, MIGRATE: 'false' }
  const refused = (why: string) => ({
    code: 1,
    stdout: '',
    stderr: `heroes: DATABASE_URL cannot be used: the database ${why}; run \`heroes migrate\`, or leave MIGRATE unset\n`
  })
  for (const command of ['serve', 'client list', 'user list']) {
    t.strictSame(await heroes(command.split(' '), env), refused('lacks its schema'), command)
  }
  t.match(await heroes(['migrate'], env), { code: 0 })
  t.match(await heroes(['client', 'list'], env), { code: 0 })
  // As an earlier version leaves it.
  await execute(
    url,
    'delete from drizzle.__drizzle_migrations where created_at = (select max(created_at) from drizzle.__drizzle_migrations)'
  )
  t.strictSame(await heroes(['client', 'list'], env), refused('has a schema of an earlier version'))
})

t.test('MIGRATE=false on an empty embedded database is refused as well', async t => {
  t.match(await heroes(['client', 'list'], { DATA_DIR: temporaryFolder(t), MIGRATE: 'false' }), {
    code: 1,
    stdout: '',
    stderr: /^heroes: the database lacks its schema; run `heroes migrate`[^\n]*\n$/
  })
})

t.test('a database whose encoding is not UTF8 is refused, and nothing is made in it', async t => {
  const latin = `latin_${randomBytes(8).toString('hex')}`
  await execute(url, `create database ${latin} template template0 encoding 'LATIN1' locale 'C'`)
  t.teardown(() => execute(url, `drop database ${latin} with (force)`))
  const address = new URL(url)
  address.pathname = latin
  const stderr =
    /^heroes: DATABASE_URL cannot be used: the encoding of the database is LATIN1, but must be UTF8[^\n]*\n$/
  for (const MIGRATE of ['true', 'false']) {
    for (const command of ['serve', 'migrate', 'client list']) {
      const ran = await heroes(command.split(' '), { DATABASE_URL: address.href, MIGRATE })
      t.match(ran, { code: 1, stdout: '', stderr }, `${command}, MIGRATE=${MIGRATE}`)
    }
  }
  await execute(address.href, 'create schema drizzle')
})

t.test(
  'a server that does not answer ends the start with one line that names the setting and holds no password',
  async t => {
    const gone = new URL(url)
    gone.password = 'hunter2'
    const wrong = gone.href
    gone.port = '1'
    for (const [DATABASE_URL, why] of [
      [gone.href, /the database cannot be reached: connect ECONNREFUSED 127\.0\.0\.1:1/],
      [wrong, /the database cannot be reached: password authentication failed for user "postgres"/],
      [`${url}_`, /the database cannot be reached: database "\w+_" does not exist/],
      ['postgres://u:hunter2@nowhere.invalid/d', /the database cannot be reached: getaddrinfo E\w+ nowhere\.invalid/]
    ] as const) {
      for (const MIGRATE of ['true', 'false']) {
        const { code, stdout, stderr } = await heroes(['serve'], { DATABASE_URL, MIGRATE })
        t.strictSame({ code, stdout }, { code: 1, stdout: '' })
        t.match(stderr, new RegExp(`^heroes: DATABASE_URL cannot be used: ${why.source}\n$`))
        t.notMatch(stderr, 'hunter2')
      }
    }
  }
)

t.test('client add prints what was registered, and the secret that it made this once', async t => {
  t.strictSame(await json('client add spa --public'), { id: 'spa', allowedScopes: [], requirePkce: true })
  t.strictSame(await json('client add spa.2 --public --no-require-pkce'), {
    id: 'spa.2',
    allowedScopes: [],
    requirePkce: false
  })
  const { stdout, stderr, code } = await heroes(
    'client add app --confidential --redirect-uri https://app.example/cb --scope a --scope b:c --name'
      .split(' ')
      .concat('The App', '--json'),
    env
  )
  t.strictSame({ stderr, code }, { stderr: '', code: 0 })
  t.match(
    stdout,
    /^\{"id":"app","secret":"[A-Za-z0-9]{32}","redirectUri":"https:\/\/app\.example\/cb","allowedScopes":\["a","b:c"\],"name":"The App","requirePkce":false\}\n$/
  )
  t.strictSame(await json('client add strict --confidential --require-pkce --secret-stdin', `${SECRET}\n`), {
    id: 'strict',
    allowedScopes: [],
    requirePkce: true
  })

  const shown = await run('client add cli --confidential')
  t.match(shown, { code: 0, stderr: '', stdout: /^The client cli is registered\.\nIts secret.*: [A-Za-z0-9]{32}\n$/ })
  const read = await run('client add cli.2 --confidential --secret-stdin', `${SECRET}\r\nmore`)
  t.strictSame(read, { code: 0, stderr: '', stdout: 'The client cli.2 is registered.\n' })
})

t.test('client list and show print the clients without their secrets', async t => {
  const app = {
    id: 'app',
    confidential: true,
    redirectUri: 'https://app.example/cb',
    allowedScopes: ['a', 'b:c'],
    name: 'The App',
    requirePkce: false
  }
  t.strictSame(await json('client show app'), app)
  const all = (await json('client list')) as { id: string }[]
  t.strictSame(
    all.map(({ id }) => id),
    ['app', 'cli', 'cli.2', 'spa', 'spa.2', 'strict']
  )
  t.strictSame(all[0], app)
  t.strictSame(await run('client show app'), {
    code: 0,
    stdout: 'app  confidential  https://app.example/cb  a b:c  PKCE optional  The App\n',
    stderr: ''
  })
  t.match(
    (await run('client list')).stdout,
    /\nspa {2}public {2}\(no redirect URI\) {2}\(no scopes\) {2}PKCE required\n/
  )
})

t.test('client set changes what it is told and nothing else', async t => {
  await run('client add changing --confidential --scope a --name N --redirect-uri https://a.example/')
  const before = (await json('client show changing')) as object
  t.strictSame(await json('client set changing --redirect-uri https://b.example/'), {
    ...before,
    redirectUri: 'https://b.example/'
  })
  t.strictSame(await json('client set changing --scope x --scope y --require-pkce --name M'), {
    ...before,
    redirectUri: 'https://b.example/',
    allowedScopes: ['x', 'y'],
    name: 'M',
    requirePkce: true
  })
  t.strictSame(await json('client set changing --no-scope --no-name --no-redirect-uri --no-require-pkce'), {
    id: 'changing',
    confidential: true,
    allowedScopes: [],
    requirePkce: false
  })
  t.match(await run('client set changing --name one'), { code: 0, stdout: /^changing {2}confidential .* one\n$/ })
  t.match(await run('client set changing'), { code: 2, stdout: '', stderr: LINE })
})

t.test('client rotate-secret shows the secret that it made, and never one that it read', async t => {
  const made = (await json('client rotate-secret cli')) as { secret: string }
  t.strictSame(Object.keys(made), ['id', 'secret'])
  t.match(made.secret, /^[A-Za-z0-9]{32}$/)
  t.match(await run('client rotate-secret cli'), { code: 0, stdout: /: [A-Za-z0-9]{32}\n$/ })
  t.strictSame(await json('client rotate-secret cli --keep-old 60 --secret-stdin', SECRET), { id: 'cli' })
  t.strictSame(await run('client rotate-secret cli --secret-stdin', SECRET), {
    code: 0,
    stdout: 'The client cli has its new secret.\n',
    stderr: ''
  })
  for (const seconds of ['-1', '1.5', 'soon', '']) {
    t.match(await heroes(['client', 'rotate-secret', 'cli', `--keep-old=${seconds}`], env), { code: 2, stdout: '' })
  }
})

t.test('client remove removes a client', async t => {
  t.strictSame(await json('client remove cli.2'), { id: 'cli.2' })
  t.strictSame(await run('client remove cli'), { code: 0, stdout: 'The client cli is removed.\n', stderr: '' })
  t.match(await run('client show cli'), { code: 1, stdout: '', stderr: LINE })
})

t.test('users are registered, listed, given passwords, revoked and removed', async t => {
  t.strictSame(await json('user add ada', 'correct horse\n'), { id: 1, username: 'ada' })
  t.strictSame(await run('user add grace', 'x'), { code: 0, stdout: 'The user grace is registered.\n', stderr: '' })
  t.strictSame(await json('user list'), [
    { id: 1, username: 'ada' },
    { id: 2, username: 'grace' }
  ])
  t.strictSame(await run('user list'), { code: 0, stdout: '1  ada\n2  grace\n', stderr: '' })
  for (const command of ['set-password', 'revoke', 'remove']) {
    t.strictSame(await json(`user ${command} grace`, 'a new one'), { username: 'grace' }, command)
    t.match(
      await run(`user ${command} ada`, 'another'),
      { code: 0, stdout: /^The user ada .*\.\n$/, stderr: '' },
      command
    )
  }
  t.strictSame(await json('user list'), [])
})

t.test('what cannot be done is exit code 1 with one line on stderr', async t => {
  await run('user add taken', 'password')
  const cases: [line: string, stdin?: string][] = [
    ['client add app --public'],
    ['client add ä --public'],
    ['client add x --public --redirect-uri http://app.example/'],
    ['client add x --public --redirect-uri https://app.example/#fragment'],
    ['client add x --public --scope "'],
    ['client add x --confidential --secret-stdin', 'of too few characters'],
    ['client show nobody'],
    ['client set nobody --no-name'],
    ['client set app --redirect-uri nowhere'],
    ['client rotate-secret nobody'],
    ['client rotate-secret spa'],
    ['client rotate-secret app --secret-stdin', 'of too few characters'],
    ['client remove nobody'],
    ['user add taken', 'password'],
    ['user add nobody', ''],
    ['user set-password nobody', 'password'],
    ['user set-password taken', '\n'],
    ['user revoke nobody'],
    ['user remove nobody']
  ]
  for (const [line, stdin] of cases) {
    t.match(await run(`${line} --json`, stdin), { code: 1, stdout: '', stderr: /^heroes: [^\n]+\n$/ }, line)
  }
  const away = await heroes(['client', 'list'], { DATABASE_URL: 'postgres://user:hidden@127.0.0.1:1/db' })
  t.match(away, {
    code: 1,
    stdout: '',
    stderr: /^heroes: DATABASE_URL cannot be used: the database cannot be reached: .*ECONNREFUSED[^\n]*\n$/
  })
  t.notMatch(away.stderr, 'hidden')
})

t.test('bad usage is exit code 2, with nothing on stdout', async t => {
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
  for (const line of cases) t.match(await run(line), { code: 2, stdout: '', stderr: /\S/ }, line)
  const alone = await heroes([], env)
  t.match(alone, { code: 2, stdout: '', stderr: /Usage: heroes/ })
})

t.test('--help lists the commands and every setting with its default', async t => {
  const { code, stdout, stderr } = await run('--help')
  t.strictSame({ code, stderr }, { code: 0, stderr: '' })
  for (const command of ['serve', 'migrate', 'client', 'user']) t.match(stdout, new RegExp(`^ +${command}\\b`, 'm'))
  const defaults: Record<string, string> = {
    HOST: '127.0.0.1',
    PORT: '3000',
    DATABASE_URL: '(unset)',
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
    BODY_LIMIT: '10485760',
    TRUST_PROXY: 'false',
    LOG_LEVEL: 'info'
  }
  const listed = [...stdout.matchAll(/^ {2}([A-Z_]+) +(\S+) +\S/gm)].map(([, name, shown]) => [name, shown])
  t.strictSame(Object.fromEntries(listed), defaults)
  t.match(await run('client add --help'), { code: 0, stdout: /--secret-stdin/, stderr: '' })
})

t.test('a setting that cannot be used ends every command with exit code 2 and one line that names it', async t => {
  for (const command of ['serve', 'migrate', 'client list', 'user remove ada']) {
    t.match(
      await heroes(command.split(' '), { ...env, PORT: '65536' }),
      { code: 2, stdout: '', stderr: /^heroes: PORT is '65536', but must be [^\n]+\n$/ },
      command
    )
  }
})

t.test('on memory: there is nothing to administer', async t => {
  for (const command of ['migrate', 'client list', 'user list']) {
    t.match(
      await heroes(command.split(' '), { DATABASE_URL: 'memory:' }),
      { code: 1, stdout: '', stderr: /^heroes: .*nothing to administer\n$/ },
      command
    )
  }
})

t.test('on the embedded database the service must be stopped first', async t => {
  const folder = join(temporaryFolder(t), 'data')
  const unlock = await lockFolder(folder)
  t.teardown(unlock)
  t.match(await heroes(['client', 'list'], { DATA_DIR: folder }), {
    code: 1,
    stdout: '',
    stderr: /^heroes: DATA_DIR cannot be used: the folder .* is in use by another process.*stop the service first\n$/
  })
})

t.test(
  'DATA_DIR that is no folder, or holds no whole database, ends every command with one line that names it',
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
        /the folder .*postgres is no whole database, as it lacks PG_VERSION, .+; restore it .+/
      ]
    ]
    for (const command of ['serve', 'migrate', 'client list']) {
      for (const [DATA_DIR, why] of refused) {
        const stderr = new RegExp(`^heroes: DATA_DIR cannot be used: ${why.source}\n$`)
        t.match(
          await heroes(command.split(' '), { DATA_DIR }),
          { code: 1, stdout: '', stderr },
          `${command} in ${DATA_DIR}`
        )
      }
    }
  }
)

t.test('at a terminal a password is typed twice, and stdout has nothing of it', async t => {
  const added = await run('user add typist --json', typing('correct horse', 'correct horse'))
  t.match(added, { code: 0, stdout: /^\{"id":\d+,"username":"typist"\}\n$/, stderr: 'Password: \nPassword again: \n' })
  const differing = await run('user set-password typist', typing('correct horse', 'battery staple'))
  t.strictSame(differing.code, 2)
  t.match(differing, { stdout: '', stderr: /\nheroes: the two entries differ\n$/ })
  t.notMatch(differing.stderr, /horse|staple/)
  const left = await run('client rotate-secret app --secret-stdin', typing('half of what was asked for'))
  t.match(left, { code: 2, stdout: '', stderr: /^Secret: \nSecret again: \nheroes: nothing was entered\n$/ })
})

t.test('bytes that are no UTF-8 are refused rather than altered', async t => {
  t.match(await run('user add latin', Buffer.from([0x70, 0xe9, 0x0a])), { code: 2, stdout: '', stderr: LINE })
})

const { stdout: version } = spawnSync('script', ['--version'], { encoding: 'utf8' })
const script = /util-linux/.test(version) ? {} : { skip: 'there is no script(1) of util-linux that makes a terminal' }

t.test('a real terminal shows nothing of what is typed', script, async t => {
  const child = spawn('script', ['-qec', `"${process.execPath}" "${PROGRAM}" user add pty`, '/dev/null'], {
    env: { ...process.env, ...env }
  })
  let seen = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    seen += text
  })
  const typed = async (prompt: string): Promise<void> => {
    while (!seen.endsWith(prompt)) await once(child.stdout, 'data')
    child.stdin.write('not to be seen\r')
  }
  const ended = once(child, 'close')
  await typed('Password: ')
  await typed('Password again: ')
  const [code] = await ended
  t.equal(code, 0)
  t.equal(seen.replaceAll('\r', ''), 'Password: \nPassword again: \nThe user pty is registered.\n')
})
