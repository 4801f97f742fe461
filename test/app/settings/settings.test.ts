import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import {
  checkSettings,
  readSettings,
  SettingError,
  type Settings,
  settingsHelp
} from '../../../app/settings/settings.js'
import { createAuthority } from '../../support/certificates.js'
import { settingNames, temporaryFolder } from '../../support/process.js'

/** What is read from a DATABASE_URL of one host that says nothing of it. */
const UNSAID = {
  tls: { mode: 'prefer' as const, authorities: undefined },
  target: 'any' as const,
  connectTimeoutSeconds: 2
}

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
    registrationOpen: true,
    policy: {
      accessTokenSeconds: 3600,
      refreshTokenSeconds: 2_592_000,
      grantSeconds: 31_536_000,
      codeSeconds: 60,
      refreshGraceSeconds: 30,
      passwordMinLength: 1,
      loginAttempts: 10,
      loginWindowSeconds: 900,
      registerAttempts: 1000
    },
    hashConcurrency: undefined,
    hashQueue: 64,
    bodyLimit: 10_485_760,
    bodyMemory: 268_435_456,
    trustProxy: false,
    corsOrigins: [],
    metricsPort: undefined,
    metricsHost: '127.0.0.1',
    keepAliveSeconds: 72,
    workers: 1,
    serviceName: 'Heroes',
    signupUrl: undefined,
    resetUrl: undefined,
    drainDelaySeconds: 0,
    logLevel: 'info',
    misspelt: []
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
  const url = 'postgres://u:p@h:5432/d'
  const database = {
    ...UNSAID,
    kind: 'server' as const,
    url,
    hosts: [{ host: 'h', port: 5432 }],
    pool: 10,
    prepare: true
  }
  read({ DATABASE_URL: url }, { database })
  read(
    { DATABASE_URL: url, DATABASE_POOL: '3', DATABASE_PREPARE: 'false' },
    { database: { ...database, pool: 3, prepare: false } }
  )
  read({ DRAIN_DELAY: '3600' }, { drainDelaySeconds: 3600 })
  read({ KEEP_ALIVE_TIMEOUT: '620' }, { keepAliveSeconds: 620 })
  read({ HOST: '::', METRICS_PORT: '1' }, { metricsHost: '::', metricsPort: 1 })
  read({ HOST: '::', METRICS_PORT: '1', METRICS_HOST: '127.0.0.1' }, { metricsHost: '127.0.0.1' })
  read({ MIGRATE: 'false' }, { migrate: false })
  for (const publicUrl of ['https://example.com', 'http://localhost:3000', 'https://example.com/heroes']) {
    read({ PUBLIC_URL: publicUrl }, { publicUrl })
  }
  read({ PROTECT_HEROES: 'false' }, { protectHeroes: false })
  read(
    { HEROES_READ_SCOPE: 'heroes.read', HEROES_WRITE_SCOPE: 'heroes' },
    { readScope: 'heroes.read', writeScope: 'heroes' }
  )
  const policy = (changes: Partial<Settings['policy']>) => ({ policy: { ...readSettings({}).policy, ...changes } })
  read({ ACCESS_TOKEN_TTL: '1' }, policy({ accessTokenSeconds: 1 }))
  read({ REFRESH_TOKEN_TTL: '2' }, policy({ refreshTokenSeconds: 2 }))
  read({ GRANT_TTL: '3' }, policy({ grantSeconds: 3 }))
  read({ CODE_TTL: '4' }, policy({ codeSeconds: 4 }))
  read({ REFRESH_GRACE: '0' }, policy({ refreshGraceSeconds: 0 }))
  read({ PASSWORD_MIN_LENGTH: '12' }, policy({ passwordMinLength: 12 }))
  read({ LOGIN_ATTEMPTS: '0', LOGIN_WINDOW: '5' }, policy({ loginAttempts: 0, loginWindowSeconds: 5 }))
  read({ REGISTRATION: 'open' }, { registrationOpen: true })
  read({ REGISTRATION: 'closed' }, { registrationOpen: false })
  read({ REGISTER_ATTEMPTS: '0' }, policy({ registerAttempts: 0 }))
  read({ HASH_CONCURRENCY: '3', HASH_QUEUE: '0' }, { hashConcurrency: 3, hashQueue: 0 })
  read({ BODY_LIMIT: '1' }, { bodyLimit: 1 })
  read({ BODY_LIMIT: '5', BODY_MEMORY: '5' }, { bodyLimit: 5, bodyMemory: 5 })
  read({ TRUST_PROXY: 'true' }, { trustProxy: true })
  for (const trustProxy of ['10.0.0.1', 'loopback, 10.0.0.0/8,fd00::/8', 'uniquelocal', '::1']) {
    read({ TRUST_PROXY: trustProxy }, { trustProxy })
  }
  read({ CORS_ORIGINS: 'https://app.example' }, { corsOrigins: ['https://app.example'] })
  for (const serviceName of ['H', 'Héroes & Söhne 🦸🏽‍♀️', '北京', '🦸'.repeat(64)])
    read({ SERVICE_NAME: serviceName }, { serviceName })
  read({ SIGNUP_URL: 'HTTPS://Shop.example/join?a=1#b' }, { signupUrl: 'https://shop.example/join?a=1#b' })
  read({ RESET_URL: 'http://localhost:3000' }, { resetUrl: 'http://localhost:3000/' })
  read({ LOG_LEVEL: 'silent' }, { logLevel: 'silent' })
})

t.test('an empty setting counts as unset', async t => {
  t.strictSame(readSettings(Object.fromEntries(settingNames().map(name => [name, '']))), readSettings({}))
})

t.test('a bad value is refused with the name of the setting, the value and the values that are allowed', async t => {
  const INTEGERS = ['', ' ', 'x', '-1', '1.5', '1e3', '0x1', '+1', '1 ', '9'.repeat(20), '٣']
  const URLS = [
    'x',
    '/join',
    '//shop.example',
    'javascript:alert(1)',
    'data:text/html,x',
    'ftp://shop.example',
    'mailto:a@shop.example',
    'https:shop.example',
    'https://',
    'https://u@shop.example',
    'https://:p@shop.example',
    ' https://shop.example',
    `https://shop.example/${'x'.repeat(2000)}`
  ]
  const BOOLEANS = ['yes', '1', '0', 'TRUE', 'True', ' true']
  const refused: [name: string, values: readonly string[], expected: string][] = [
    ['PORT', [...INTEGERS, '65536'], 'an integer from 0 to 65535'],
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
      'an http or https URL, scheme and host in lower case, without user info, default port, trailing slash, query and fragment'
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
    ['REGISTRATION', ['Open', 'true', ' '], 'one of open, closed'],
    ['REGISTER_ATTEMPTS', INTEGERS, 'an integer from 0 to 1000000'],
    ['BODY_LIMIT', [...INTEGERS, '0'], 'an integer from 1 to 536870888'],
    ['BODY_MEMORY', [...INTEGERS, '0'], 'an integer from 1 to 1099511627776'],
    [
      'TRUST_PROXY',
      ['1', 'yes', 'x', '10.0.0.0/33', '::/129', '10.0.0.1/8/8', '10.0.0.1/x', 'loopback/8', '10.0.0.1,', '10.0.0.0/0'],
      'true, false, or addresses and networks separated by commas'
    ],
    [
      'CORS_ORIGINS',
      [
        '*',
        'null',
        'app.example',
        'https://',
        'https://*.example',
        'https://app.example/',
        'https://app.example/x',
        'https://app.example?x',
        'https://app.example#x',
        'https://u@app.example',
        'https://app.example:65536',
        'https://app.example:x',
        'https://app example',
        'https://app.\texample',
        'https:\\\\app.example',
        '//app.example',
        'capacitor:localhost',
        'file:///',
        'https://app.example,',
        'https://app.example,,https://b.example',
        'https://app.example,null'
      ],
      'origins separated by commas, such as https://app.example or capacitor://localhost: a scheme and a host, with a port or without, and no path'
    ],
    ['METRICS_PORT', [...INTEGERS, '65536'], 'an integer from 0 to 65535'],
    [
      'SERVICE_NAME',
      [' ', '\u00a0', 'x'.repeat(65), 'a\nb', 'a\tb', 'a\u001bb', 'a\u0085b', 'a\u007f', 'a\u2028b', 'a\u2029b'],
      '1 to 64 characters without control characters, not all of them spaces'
    ],
    ['SIGNUP_URL', URLS, 'an http or https URL without user info, of at most 2000 characters'],
    ['RESET_URL', URLS, 'an http or https URL without user info, of at most 2000 characters'],
    ['DRAIN_DELAY', [...INTEGERS, '3601'], 'an integer from 0 to 3600'],
    ['KEEP_ALIVE_TIMEOUT', [...INTEGERS, '0', '86401'], 'an integer from 1 to 86400'],
    ['LOG_LEVEL', ['verbose', 'INFO', ' '], 'one of trace, debug, info, warn, error, fatal, silent']
  ]
  for (const [name, values, expected] of refused) {
    for (const value of values.filter(value => value !== '')) {
      const error = new SettingError(`${name} is '${value}', but must be ${expected}`)
      t.throws(() => readSettings({ [name]: value }), error, `${name}=${encodeURIComponent(value)}`)
    }
  }
  const tried = new Set(refused.map(([name]) => name))
  t.strictSame(
    settingNames().filter(name => !tried.has(name)),
    ['HOST', 'DATABASE_URL', 'DATABASE_URL_FILE', 'DATA_DIR', 'METRICS_HOST', 'WORKERS'],
    'these accept any text or have a test of their own'
  )
})

t.test('CORS_ORIGINS are read as browsers write origins, each once', async t => {
  const read = (CORS_ORIGINS: string) => readSettings({ CORS_ORIGINS }).corsOrigins
  t.strictSame(read('HTTPS://App.Example:443, http://localhost:5173,http://[::1]:80,https://app.example'), [
    'https://app.example',
    'http://localhost:5173',
    'http://[::1]'
  ])
  t.strictSame(read('Capacitor://LOCALHOST,chrome-extension://abc,tauri://localhost:1'), [
    'capacitor://localhost',
    'chrome-extension://abc',
    'tauri://localhost:1'
  ])
  t.strictSame(read('https://bücher.example:8443'), ['https://xn--bcher-kva.example:8443'])
})

t.test('BODY_MEMORY has room for a body of BODY_LIMIT', async t => {
  const message = "BODY_MEMORY is '10485759', but must be at least BODY_LIMIT, which is 10485760"
  t.throws(() => readSettings({ BODY_MEMORY: '10485759' }), new SettingError(message))
  t.equal(readSettings({ BODY_LIMIT: '300000000' }).bodyMemory, 300_000_000)
})

t.test('DATABASE_URL names one server or several, in the notation of libpq', async t => {
  const read = (DATABASE_URL: string, hosts: readonly string[], url: string): void => {
    const { database } = readSettings({ DATABASE_URL })
    const expected = hosts.map(place => {
      const [, host, port] = /^(.*):(\d+)$/.exec(place) ?? []
      return { host, port: Number(port) }
    })
    const target = expected.length > 1 ? 'read-write' : 'any'
    t.strictSame(
      database,
      { ...UNSAID, kind: 'server', url, hosts: expected, target, pool: 10, prepare: true },
      DATABASE_URL
    )
  }
  read('postgres://', ['localhost:5432'], 'postgres://localhost:5432')
  read('postgresql:///d', ['localhost:5432'], 'postgresql://localhost:5432/d')
  read('postgres://u@/d', ['localhost:5432'], 'postgres://u@localhost:5432/d')
  read('postgres://u:p@h:/d', ['h:5432'], 'postgres://u:p@h:5432/d')
  read('postgres://u:a@b@h/d', ['h:5432'], 'postgres://u:a@b@h:5432/d')
  read('postgres://u:%25%40%2F@h/%C3%A9', ['h:5432'], 'postgres://u:%25%40%2F@h:5432/%C3%A9')
  read('postgres://u:p@[::1]:6432/d', ['::1:6432'], 'postgres://u:p@[::1]:6432/d')
  read('postgres://h1:1,h2,[fe80::1]:3/d', ['h1:1', 'h2:5432', 'fe80::1:3'], 'postgres://h1:1/d')
  read('postgres:///d?host=/var/run', ['/var/run:5432'], 'postgres://localhost:5432/d')
  read('postgres://%2Fvar%2Frun/d', ['/var/run:5432'], 'postgres://localhost:5432/d')
  read('postgres://x/d?host=h1,::1&port=6432', ['h1:6432', '::1:6432'], 'postgres://h1:6432/d')
  read('postgres:///d?host=a,b&port=1,2', ['a:1', 'b:2'], 'postgres://a:1/d')
})

t.test("a parameter of DATABASE_URL has libpq's meaning, is ignored or is refused by name", async t => {
  const read = (query: string) => {
    const { database } = readSettings({ DATABASE_URL: `postgres://h:1/d?${query}` })
    if (database.kind !== 'server') throw new TypeError('no server')
    return database
  }
  t.equal(read('options=-c+a%3Db&sslmode=require').url, 'postgres://h:1/d?options=-c+a%3Db')
  const ignored =
    'application_name client_encoding fallback_application_name gssdelegation gsslib keepalives keepalives_count keepalives_idle keepalives_interval krbsrvname sslcompression sslsni tcp_user_timeout'
  const withoutEffect = [
    ...ignored.split(' ').map(name => `${name}=1`),
    'connect_timeout=3&keepalives=1',
    'target_session_attrs=any',
    'gssencmode=prefer',
    'gssencmode=disable',
    'channel_binding=prefer',
    'channel_binding=disable',
    'load_balance_hosts=disable',
    ''
  ]
  for (const dropped of withoutEffect) {
    t.equal(read(dropped).url, 'postgres://h:1/d', dropped)
  }
  for (const mode of ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const) {
    t.strictSame(read(`sslmode=${mode}`).tls, { mode, authorities: undefined })
  }
  for (const system of ['sslrootcert=system', 'sslmode=verify-full&sslrootcert=system']) {
    t.strictSame(read(system).tls, { mode: 'verify-full', authorities: undefined }, system)
  }
  const folder = temporaryFolder(t)
  const { certificate } = createAuthority('the authority')
  const write = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content)
    return encodeURIComponent(join(folder, name))
  }
  const two = `a comment\n${certificate}${certificate}`
  t.strictSame(read(`sslmode=verify-ca&sslrootcert=${write('two', two)}`).tls, { mode: 'verify-ca', authorities: two })
  for (const target of ['any', 'read-write', 'primary'] as const) {
    t.equal(read(`target_session_attrs=${target}`).target, target)
  }
  t.equal(read('connect_timeout=7').connectTimeoutSeconds, 7)
  t.equal(read('connect_timeout=0').connectTimeoutSeconds, 2)
  const refused: [query: string, message: string | RegExp][] = [
    ['pool=3', /^DATABASE_URL has the parameter 'pool', which is not understood; those that are: sslmode, /],
    ['schema=heroes', /'schema', which is not understood; write instead: options=-c search_path=NAME$/],
    ['pgbouncer=true', /'pgbouncer', which is not understood; write instead: DATABASE_PREPARE=false$/],
    [
      'channel_binding=require',
      "DATABASE_URL has a value of the parameter 'channel_binding' that is not understood; write instead: prefer, and sslmode=verify-full to keep out whoever stands in between"
    ],
    ['__proto__=1', /^DATABASE_URL has the parameter '__proto__', which is not understood; /],
    ['Hunter2', /^DATABASE_URL has the parameter, which is not understood; /],
    ['gssencmode=require', "DATABASE_URL has a value of the parameter 'gssencmode' that is not understood"],
    ['sslmode=yes', "DATABASE_URL has a value of the parameter 'sslmode' that is not understood"],
    [
      'target_session_attrs=writable',
      "DATABASE_URL has a value of the parameter 'target_session_attrs' that is not understood"
    ],
    ['connect_timeout=1s', "DATABASE_URL has a value of the parameter 'connect_timeout' that is not understood"],
    ['sslmode=require&sslrootcert=system', "DATABASE_URL has 'sslrootcert=system', which needs 'sslmode=verify-full'"],
    [
      `sslrootcert=${encodeURIComponent(join(folder, 'none'))}`,
      "DATABASE_URL has the parameter 'sslrootcert', whose file cannot be read (ENOENT)"
    ],
    [
      'sslrootcert=%00hunter2',
      "DATABASE_URL has the parameter 'sslrootcert', whose file cannot be read (ERR_INVALID_ARG_VALUE)"
    ],
    [
      `sslrootcert=${write('empty', 'hunter2')}`,
      "DATABASE_URL has the parameter 'sslrootcert', whose file has no certificate as PEM"
    ],
    [
      `sslrootcert=${write('bad', certificate.replace('MII', 'AAA'))}`,
      "DATABASE_URL has the parameter 'sslrootcert', whose file has a certificate that cannot be read"
    ]
  ]
  for (const target of ['standby', 'read-only', 'prefer-standby']) {
    refused.push([
      `target_session_attrs=${target}`,
      "DATABASE_URL has a value of the parameter 'target_session_attrs' that is not understood; write instead: any, read-write or primary, as the service writes"
    ])
  }
  for (const [query, message] of refused) t.throws(() => read(query), { name: 'SettingError', message }, query)
})

t.test('the refusal of a DATABASE_URL repeats nothing of it', async t => {
  const SCHEME = 'must be memory: or a URL that begins with postgres:// or postgresql://'
  const UNQUOTED = "is no URL: in a user name or password '/', '?', '#' and '@' are written %2F, %3F, %23 and %40"
  const ESCAPE = "has a '%' that begins no character: in a user name or password '%' is written %25"
  const PORT = 'has a port that is no number from 1 to 65535'
  const HOST = 'has a host that is neither a name nor an address'
  const refused: [value: string, reason: string][] = [
    ['hunter2', SCHEME],
    ['memory', SCHEME],
    ['postgres:hunter2', SCHEME],
    ['mysql://u:hunter2@h/d', SCHEME],
    ['http://u:hunter2@h', SCHEME],
    ['postgres://u:hunter2#@h/d', UNQUOTED],
    ['postgres://u:1/hunter2@h/d', UNQUOTED],
    ['postgres://u:1?hunter2@h/d', UNQUOTED],
    ['postgres://u:hunter2%@h/d', ESCAPE],
    ['postgres://u:hunter2%zz@h/d', ESCAPE],
    ['postgres://u:hunter2%ff@h/d', ESCAPE],
    ['postgres://u:hunter2@h/%', ESCAPE],
    ['postgres://u:hunter2@%/d', ESCAPE],
    ['postgres://u:hunter2@h/d?options=%', ESCAPE],
    ['postgres://u:hunter2/d', PORT],
    ['postgres://u:pa?hunter=1', PORT],
    ['postgres://u:hunter2@h:0/d', PORT],
    ['postgres://u:hunter2@h:65536/d', PORT],
    ['postgres://u:hunter2@[/d', 'has no address of IPv6 between its brackets'],
    ['postgres://u:hunter2@[h]/d', 'has no address of IPv6 between its brackets'],
    ['postgres://u:hunter2@h h/d', HOST],
    ['postgres://u:hunter2@h1,/d', HOST],
    ['postgres://u:hunt@er2@h1,h2/d', "is no URL: in a user name or password '@' is written %40"],
    ['postgres://u:hunt@er,2@h/d', "is no URL: in a user name or password '@' is written %40"],
    ['postgres://u:hunt@er$&2@h/d', "is no URL: in a user name or password '@' is written %40"],
    ['postgres://u:hunter2@h/d?host=a,b&port=1,2,3', 'has not as many ports as hosts']
  ]
  for (const [DATABASE_URL, reason] of refused) {
    t.throws(() => readSettings({ DATABASE_URL }), new SettingError(`DATABASE_URL ${reason}`), DATABASE_URL)
    t.notMatch(reason, 'hunter2')
  }
})

t.test('sslcert and sslkey are files that belong together, and are shown to the server', async t => {
  const folder = temporaryFolder(t)
  const write = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content)
    return encodeURIComponent(join(folder, name))
  }
  const read = (query: string) => readSettings({ DATABASE_URL: `postgres://h/d?sslmode=require&${query}` }).database
  const { certificate, key } = createAuthority('Heroes').issue('heroes')
  const [sslcert, sslkey] = [`sslcert=${write('cert', certificate)}`, `sslkey=${write('key', key)}`]
  const both = `sslcert=${write('both', certificate + key)}&sslkey=${write('both', certificate + key)}`
  t.match(read(`${sslcert}&${sslkey}`), { tls: { own: { certificate, key } } })
  t.match(read(both), { tls: { own: { key: certificate + key } } })
  const other = createAuthority('Heroes').issue('heroes').key
  const half = "has only one of 'sslcert' and 'sslkey': name both"
  for (const [query, reason] of [
    [sslcert, half],
    [sslkey, half],
    [`${sslcert}&sslkey=none`, "has the parameter 'sslkey', whose file cannot be read (ENOENT)"],
    [`sslcert=none&${sslkey}`, "has the parameter 'sslcert', whose file cannot be read (ENOENT)"],
    [`sslcert=${write('bad', 'x')}&${sslkey}`, "has the parameter 'sslcert', whose file has no certificate as PEM"],
    [
      `${sslcert}&sslkey=${write('cert', certificate)}`,
      "has the parameter 'sslkey', whose file has no key as PEM, or one with a passphrase"
    ],
    [
      `${sslcert}&sslkey=${write('other', other)}`,
      "has the parameter 'sslkey', whose file has another key than that of the certificate in 'sslcert'"
    ]
  ] as const) {
    t.throws(() => read(query), new SettingError(`DATABASE_URL ${reason}`), query)
  }
})

t.test('white space around DATABASE_URL does not count, nor in DATABASE_URL_FILE, which holds it', async t => {
  const file = join(temporaryFolder(t), 'url')
  const DATABASE_URL = 'postgres://u:p@h:1/d'
  const { database } = readSettings({ DATABASE_URL })
  const written = (content: string) => {
    writeFileSync(file, content)
    return readSettings({ DATABASE_URL_FILE: file }).database
  }
  t.strictSame(readSettings({ DATABASE_URL: ` ${DATABASE_URL}\t\r\n` }).database, database)
  t.strictSame(written(DATABASE_URL), database)
  t.strictSame(written(`\n ${DATABASE_URL}\n`), database)
  t.strictSame(written('memory:\n'), { kind: 'memory' })
  for (const [content, reason] of [
    ['', 'must be memory: or a URL that begins with postgres:// or postgresql://'],
    ['postgres://u:hunter2@h/d?pool=3', "has the parameter 'pool', which is not understood"]
  ] as const) {
    t.throws(() => written(content), { message: `DATABASE_URL_FILE is '${file}', whose content ${reason}` })
  }
  const absent = `${file}-absent`
  t.throws(
    () => readSettings({ DATABASE_URL_FILE: absent }),
    new SettingError(`DATABASE_URL_FILE is '${absent}', whose content cannot be read (ENOENT)`)
  )
  t.throws(
    () => readSettings({ DATABASE_URL, DATABASE_URL_FILE: file }),
    { message: /^DATABASE_URL_FILE / },
    'both at once are refused'
  )
  writeFileSync(file, DATABASE_URL)
  const message = `DATABASE_URL_FILE is '${file}', but must be unset beside DATABASE_URL: set one of the two`
  t.throws(() => readSettings({ DATABASE_URL, DATABASE_URL_FILE: file }), new SettingError(message))
})

t.test('a variable whose name is nearly that of a setting is taken for misspelt, and no other one', async t => {
  const cases: [name: string, meant: string][] = [
    ['HEROES_WRITE_SCOP', 'HEROES_WRITE_SCOPE'],
    ['ACCES_TOKEN_TTL', 'ACCESS_TOKEN_TTL'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['DATABASE_URLS', 'DATABASE_URL'],
    ['DATABASE_POL', 'DATABASE_POOL'],
    ['HEROES_WRITE_SC', 'HEROES_WRITE_SCOPE'],
    ['TURST_PROXY', 'TRUST_PROXY'],
    ['CORS_ORIGIN', 'CORS_ORIGINS'],
    ['BODYMEM_ORY', 'BODY_MEMORY'],
    ['METRIC_PORTS', 'METRICS_PORT']
  ]
  for (const [name, meant] of cases) t.strictSame(readSettings({ [name]: 'x' }).misspelt, [{ name, meant }], name)
  const others = [
    'DATABASE_URL',
    'DATABASE_USER',
    'DATABASE',
    'DATA_DI',
    'HEROES_WRITE_',
    'METRICSPORT',
    'CODE_TTL',
    'database_url',
    'NODE_ENV',
    'PGHOST',
    'METRICS_PORT_80_TCP',
    'METRICS_SERVICE_HOST'
  ]
  for (const name of others) t.strictSame(checkSettings({ [name]: '1' }).settings.misspelt, [], name)
})

t.test('what Kubernetes sets for a Service of the name metrics is told as such', async t => {
  t.throws(
    () => readSettings({ METRICS_PORT: 'tcp://10.0.0.1:80' }),
    new SettingError(
      "METRICS_PORT is 'tcp://10.0.0.1:80', which Kubernetes sets for a Service of that name: set enableServiceLinks to false, or name the Service otherwise"
    )
  )
})

t.test(
  'METRICS_PORT is another port than PORT, unless the system picks them or METRICS_HOST is another host',
  async t => {
    t.equal(readSettings({}).metricsPort, undefined)
    t.equal(readSettings({ METRICS_PORT: '9090' }).metricsPort, 9090)
    t.equal(readSettings({ METRICS_PORT: '0', PORT: '0' }).metricsPort, 0)
    const message = "METRICS_PORT is '3000', but must be another port than PORT"
    t.throws(() => readSettings({ METRICS_PORT: '3000' }), { name: 'SettingError', message })
    t.throws(() => readSettings({ METRICS_PORT: '3000', METRICS_HOST: '127.0.0.1' }), { message })
    t.equal(readSettings({ METRICS_PORT: '3000', METRICS_HOST: '127.0.0.2' }).metricsPort, 3000)
  }
)

t.test('WORKERS is a number, or auto for as many as cores, and more than 1 needs a PostgreSQL server', async t => {
  const server = { DATABASE_URL: 'postgres://localhost/heroes' }
  t.equal(readSettings({ WORKERS: '1' }).workers, 1)
  t.equal(readSettings({ ...server, WORKERS: '4' }).workers, 4)
  t.equal(readSettings({ ...server, WORKERS: 'auto' }).workers, availableParallelism())
  for (const WORKERS of ['0', '257', '2.5', 'Auto', '-1', ' 2']) {
    const message = `WORKERS is '${WORKERS}', but must be auto or an integer from 1 to 256`
    t.throws(() => readSettings({ ...server, WORKERS }), { name: 'SettingError', message })
  }
  const rest = ', which is for one process: name a PostgreSQL server in DATABASE_URL for more'
  for (const [env, database] of [
    [{}, 'the embedded database'],
    [{ DATABASE_URL: 'memory:' }, 'memory:']
  ] as const) {
    const message = `WORKERS is '2', but must be 1 on ${database}${rest}`
    t.throws(() => readSettings({ ...env, WORKERS: '2' }), { name: 'SettingError', message })
    t.strictSame([...checkSettings({ ...env, WORKERS: '2' }).refused], [['WORKERS', message.replace('WORKERS ', '')]])
  }
  const refused = checkSettings({ DATABASE_URL: 'mysql://', WORKERS: '2' })
  t.strictSame([...refused.refused.keys()], ['DATABASE_URL'], 'a database that is not known refuses no workers')
  t.equal(refused.settings.workers, 1)
  const ofFile = checkSettings({ DATABASE_URL_FILE: import.meta.dirname, WORKERS: '2' })
  t.strictSame([...ofFile.refused.keys()], ['DATABASE_URL_FILE'])
  const others = checkSettings({ BODY_MEMORY: '100000', PORT: '3000', METRICS_PORT: '3000' })
  t.strictSame([...others.refused.keys()], ['BODY_MEMORY', 'METRICS_PORT'])
  t.strictSame([others.settings.bodyMemory, others.settings.metricsPort], [268_435_456, undefined])
})

t.test('the help lists every setting with its default', async t => {
  const lines = settingsHelp().split('\n')
  t.equal(lines.length, 37)
  for (const line of lines) t.match(line, /^ {2}[A-Z_]+ +\S+ +\S.+$/)
  t.match(settingsHelp(), /PORT +3000 /)
  t.match(settingsHelp(), /PUBLIC_URL +\(unset\) /)
})
