import t from 'tap'
import { readSettings, SettingError, type Settings, settingsHelp } from '../app/settings.js'
import { defaultPolicy } from '../core/index.js'

t.test('without any setting the defaults hold', async t => {
  t.strictSame(readSettings({}), {
    host: '127.0.0.1',
    port: 3000,
    database: { kind: 'embedded', folder: './data' },
    migrate: true,
    publicUrl: undefined,
    protectHeroes: true,
    readScope: undefined,
    writeScope: undefined,
    policy: {
      accessTokenSeconds: 3600,
      refreshTokenSeconds: 2_592_000,
      grantSeconds: 31_536_000,
      codeSeconds: 60,
      refreshGraceSeconds: 30,
      passwordMinLength: 1,
      loginAttempts: 10,
      loginWindowSeconds: 900
    },
    hashConcurrency: undefined,
    hashQueue: 64,
    bodyLimit: 10_485_760,
    trustProxy: false,
    logLevel: 'info'
  })
})

t.test('each setting is read', async t => {
  const read = (env: Record<string, string>, wanted: Partial<Settings>): void => {
    t.match(readSettings(env), wanted, JSON.stringify(env))
  }
  read({ HOST: '::' }, { host: '::' })
  read({ PORT: '0' }, { port: 0 })
  read({ PORT: '65535' }, { port: 65_535 })
  read({ DATA_DIR: '/var/lib/heroes' }, { database: { kind: 'embedded', folder: '/var/lib/heroes' } })
  read({ DATABASE_URL: 'memory:' }, { database: { kind: 'memory' } })
  for (const url of ['postgres://u:p@h:5432/d', 'postgresql:///d?host=/tmp']) {
    read({ DATABASE_URL: url }, { database: { kind: 'server', url, pool: 10, prepare: true } })
  }
  const server = { DATABASE_URL: 'postgres://h/d', DATABASE_POOL: '3', DATABASE_PREPARE: 'false' }
  read(server, { database: { kind: 'server', url: 'postgres://h/d', pool: 3, prepare: false } })
  read({ MIGRATE: 'false' }, { migrate: false })
  for (const publicUrl of ['https://example.com', 'http://localhost:3000', 'https://example.com/heroes']) {
    read({ PUBLIC_URL: publicUrl }, { publicUrl })
  }
  read({ PROTECT_HEROES: 'false' }, { protectHeroes: false })
  read(
    { HEROES_READ_SCOPE: 'heroes.read', HEROES_WRITE_SCOPE: 'heroes' },
    { readScope: 'heroes.read', writeScope: 'heroes' }
  )
  const policy = (changes: Partial<Settings['policy']>) => ({ policy: { ...defaultPolicy, ...changes } })
  read({ ACCESS_TOKEN_TTL: '1' }, policy({ accessTokenSeconds: 1 }))
  read({ REFRESH_TOKEN_TTL: '2' }, policy({ refreshTokenSeconds: 2 }))
  read({ GRANT_TTL: '3' }, policy({ grantSeconds: 3 }))
  read({ CODE_TTL: '4' }, policy({ codeSeconds: 4 }))
  read({ REFRESH_GRACE: '0' }, policy({ refreshGraceSeconds: 0 }))
  read({ PASSWORD_MIN_LENGTH: '12' }, policy({ passwordMinLength: 12 }))
  read({ LOGIN_ATTEMPTS: '0', LOGIN_WINDOW: '5' }, policy({ loginAttempts: 0, loginWindowSeconds: 5 }))
  read({ HASH_CONCURRENCY: '3', HASH_QUEUE: '0' }, { hashConcurrency: 3, hashQueue: 0 })
  read({ BODY_LIMIT: '1' }, { bodyLimit: 1 })
  read({ TRUST_PROXY: 'true' }, { trustProxy: true })
  for (const trustProxy of ['10.0.0.1', 'loopback, 10.0.0.0/8,fd00::/8', 'uniquelocal', '::1']) {
    read({ TRUST_PROXY: trustProxy }, { trustProxy })
  }
  read({ LOG_LEVEL: 'silent' }, { logLevel: 'silent' })
})

t.test('an empty setting counts as unset', async t => {
  const names =
    settingsHelp()
      .match(/^ {2}[A-Z_]+/gm)
      ?.map(name => name.trim()) ?? []
  t.strictSame(readSettings(Object.fromEntries([...names, 'CORS_ORIGINS'].map(name => [name, '']))), readSettings({}))
})

t.test('a bad value is refused with the name, what it was and what it may be', async t => {
  const INTEGERS = ['', ' ', 'x', '-1', '1.5', '1e3', '0x1', '+1', '1 ', '9'.repeat(20), '٣']
  const BOOLEANS = ['yes', '1', '0', 'TRUE', 'True', ' true']
  const refused: [name: string, values: readonly string[], expected: string][] = [
    ['PORT', [...INTEGERS, '65536'], 'an integer from 0 to 65535'],
    [
      'DATABASE_URL',
      ['x', 'mysql://h/d', 'memory', 'postgres:', 'postgres://[', 'http://h'],
      'memory: or a URL that begins with postgres:// or postgresql://'
    ],
    ['DATABASE_POOL', [...INTEGERS, '0', '1001'], 'an integer from 1 to 1000'],
    ['DATABASE_PREPARE', BOOLEANS, 'true or false'],
    ['MIGRATE', BOOLEANS, 'true or false'],
    [
      'PUBLIC_URL',
      [
        'x',
        'ftp://h',
        'https://h/',
        'https://h/x/',
        'https://h?x',
        'https://h#',
        'https://h/?',
        'HTTPS://h',
        'https://H',
        'https://h:443',
        'https://u@h',
        '//h',
        'https://h/a b'
      ],
      'an http or https URL without user info, trailing slash, query and fragment'
    ],
    ['PROTECT_HEROES', BOOLEANS, 'true or false'],
    [
      'HEROES_READ_SCOPE',
      ['a b', 'a"', 'a\\', 'é', ' '],
      'one scope: printable ASCII without space, quote and backslash'
    ],
    ['HEROES_WRITE_SCOPE', ['a b', '\n'], 'one scope: printable ASCII without space, quote and backslash'],
    ['ACCESS_TOKEN_TTL', [...INTEGERS, '0'], 'an integer from 1 to 10000000000'],
    ['REFRESH_TOKEN_TTL', [...INTEGERS, '0'], 'an integer from 1 to 10000000000'],
    ['GRANT_TTL', [...INTEGERS, '0', '10000000001'], 'an integer from 1 to 10000000000'],
    ['CODE_TTL', [...INTEGERS, '0'], 'an integer from 1 to 10000000000'],
    ['REFRESH_GRACE', [...INTEGERS, '86401'], 'an integer from 0 to 86400'],
    ['PASSWORD_MIN_LENGTH', [...INTEGERS, '0', '1025'], 'an integer from 1 to 1024'],
    ['HASH_CONCURRENCY', [...INTEGERS, '0', '4'], 'an integer from 1 to 3'],
    ['HASH_QUEUE', INTEGERS, 'an integer from 0 to 1000000'],
    ['LOGIN_ATTEMPTS', INTEGERS, 'an integer from 0 to 1000000'],
    ['LOGIN_WINDOW', [...INTEGERS, '0'], 'an integer from 1 to 31536000'],
    ['BODY_LIMIT', [...INTEGERS, '0'], 'an integer from 1 to 1073741824'],
    [
      'TRUST_PROXY',
      ['1', 'yes', 'x', '10.0.0.0/33', '::/129', '10.0.0.1/8/8', '10.0.0.1/x', 'loopback/8', '10.0.0.1,', '10.0.0.0/0'],
      'true, false, or addresses and networks separated by commas'
    ],
    ['LOG_LEVEL', ['verbose', 'INFO', ' '], 'one of trace, debug, info, warn, error, fatal, silent']
  ]
  for (const [name, values, expected] of refused) {
    for (const value of values.filter(value => value !== '')) {
      const error = new SettingError(`${name} is '${value.replace('//u@', '//***@')}', but must be ${expected}`)
      t.throws(() => readSettings({ [name]: value }), error, `${name}=${value}`)
    }
  }
  const tried = new Set(refused.map(([name]) => name))
  const names =
    settingsHelp()
      .match(/^ {2}[A-Z_]+/gm)
      ?.map(name => name.trim()) ?? []
  t.strictSame(
    names.filter(name => !tried.has(name)),
    ['HOST', 'DATA_DIR'],
    'any text will do for these'
  )
})

t.test('the password of a URL that is refused is not told', async t => {
  for (const DATABASE_URL of ['mysql://u:hunter2@h/d', 'postgres://u:hunter2@[/d']) {
    try {
      readSettings({ DATABASE_URL })
      t.fail('it was accepted')
    } catch (error) {
      t.match(error, { name: 'SettingError', message: /:\/\/\*\*\*@/ })
      t.notMatch(String(error), 'hunter2')
    }
  }
})

t.test('a setting whose feature is not built is refused, and not listed', async t => {
  for (const name of ['CORS_ORIGINS', 'METRICS_PORT']) {
    t.throws(() => readSettings({ [name]: '1' }), {
      name: 'SettingError',
      message: `${name} is set, but there is no such feature; it must be unset`
    })
    t.notMatch(settingsHelp(), name)
  }
})

t.test('the help lists every setting with its default', async t => {
  const lines = settingsHelp().split('\n')
  t.equal(lines.length, 24)
  for (const line of lines) t.match(line, /^ {2}[A-Z_]+ +\S+ +\S.+$/)
  t.match(settingsHelp(), /PORT +3000 /)
  t.match(settingsHelp(), /PUBLIC_URL +\(unset\) /)
})
