import t from 'tap'
import { adviseOnSettings, keptSecret, startWarnings } from '../../../app/doctor/advice.js'
import { checkSettings, readSettings, settingsHelp } from '../../../app/settings/settings.js'

const NONE: ReadonlySet<string> = new Set()
const advise = (env: Record<string, string>, cores = 2) => adviseOnSettings(readSettings(env), NONE, cores)
const verdictOn = (check: string, env: Record<string, string>, cores?: number): string =>
  advise(env, cores).find(finding => finding.check === check)?.verdict ?? 'none'

const HTTPS = { PUBLIC_URL: 'https://heroes.example' }

t.test('every setting that is risky in production is found, and is fine as the checklist has it', async t => {
  const cases: [check: string, env: Record<string, string>, verdict: string][] = [
    ['HOST', {}, 'fine'],
    ['HOST', { HOST: 'localhost' }, 'fine'],
    ['HOST', { HOST: '127.8.0.1' }, 'fine'],
    ['HOST', { HOST: '::1' }, 'fine'],
    ['HOST', { HOST: '0.0.0.0' }, 'risky'],
    ['HOST', { HOST: '::' }, 'risky'],
    ['HOST', { HOST: '10.0.0.5' }, 'risky'],
    ['HOST', { HOST: '0.0.0.0', PUBLIC_URL: 'http://heroes.example' }, 'risky'],
    ['HOST', { HOST: '0.0.0.0', PUBLIC_URL: 'http://localhost.example' }, 'risky'],
    ['HOST', { HOST: '0.0.0.0', PUBLIC_URL: 'http://localhost:8080' }, 'fine'],
    ['HOST', { HOST: '0.0.0.0', ...HTTPS }, 'fine'],
    ['PUBLIC_URL', {}, 'fine'],
    ['PUBLIC_URL', HTTPS, 'fine'],
    ['PUBLIC_URL', { PUBLIC_URL: 'http://[::1]:8080' }, 'fine'],
    ['PUBLIC_URL', { PUBLIC_URL: 'http://heroes.example' }, 'risky'],
    ['TRUST_PROXY', {}, 'fine'],
    ['TRUST_PROXY', { TRUST_PROXY: 'true' }, 'risky'],
    ['TRUST_PROXY', { TRUST_PROXY: 'loopback' }, 'fine'],
    ['TRUST_PROXY', HTTPS, 'risky'],
    ['TRUST_PROXY', { ...HTTPS, TRUST_PROXY: '10.0.0.1' }, 'fine'],
    ['PROTECT_HEROES', {}, 'fine'],
    ['PROTECT_HEROES', { PROTECT_HEROES: 'false' }, 'risky'],
    ['PASSWORD_MIN_LENGTH', {}, 'risky'],
    ['PASSWORD_MIN_LENGTH', { PASSWORD_MIN_LENGTH: '11' }, 'risky'],
    ['PASSWORD_MIN_LENGTH', { PASSWORD_MIN_LENGTH: '12' }, 'fine'],
    ['LOGIN_ATTEMPTS', {}, 'fine'],
    ['LOGIN_ATTEMPTS', { LOGIN_ATTEMPTS: '0' }, 'risky'],
    ['REGISTRATION', {}, 'fine'],
    ['REGISTRATION', HTTPS, 'fine'],
    ['REGISTRATION', { REGISTER_ATTEMPTS: '0' }, 'risky'],
    ['REGISTRATION', { REGISTER_ATTEMPTS: '0', REGISTRATION: 'closed' }, 'fine'],
    ['REFRESH_GRACE', {}, 'fine'],
    ['REFRESH_GRACE', { REFRESH_GRACE: '0' }, 'fine'],
    ['ACCESS_TOKEN_TTL', { ACCESS_TOKEN_TTL: '31536000' }, 'risky'],
    ['ACCESS_TOKEN_TTL', { ACCESS_TOKEN_TTL: '86400' }, 'none'],
    ['CODE_TTL', { CODE_TTL: '86400' }, 'risky'],
    ['CODE_TTL', { CODE_TTL: '600' }, 'none'],
    ['REFRESH_TOKEN_TTL', { REFRESH_TOKEN_TTL: '3599' }, 'risky'],
    ['REFRESH_TOKEN_TTL', {}, 'none'],
    ['GRANT_TTL', { GRANT_TTL: '2591999' }, 'risky'],
    ['GRANT_TTL', {}, 'none'],
    ['HASH_QUEUE', { HASH_QUEUE: '100000' }, 'risky'],
    ['HASH_QUEUE', {}, 'none'],
    ['LOG_LEVEL', { LOG_LEVEL: 'silent' }, 'risky'],
    ['LOG_LEVEL', { LOG_LEVEL: 'warn' }, 'none'],
    ['METRICS_HOST', { METRICS_PORT: '9090', HOST: '0.0.0.0' }, 'risky'],
    ['METRICS_HOST', { METRICS_PORT: '9090', METRICS_HOST: '203.0.113.7' }, 'risky'],
    ['METRICS_HOST', { METRICS_PORT: '9090', METRICS_HOST: '::' }, 'risky'],
    ['METRICS_HOST', { METRICS_PORT: '9090', METRICS_HOST: 'metrics.example' }, 'risky'],
    ['METRICS_HOST', { METRICS_PORT: '9090', METRICS_HOST: '10.1.2.3' }, 'none'],
    ['METRICS_HOST', { METRICS_PORT: '9090', METRICS_HOST: 'fd00::1' }, 'none'],
    ['METRICS_HOST', { METRICS_PORT: '9090' }, 'none'],
    ['METRICS_HOST', { HOST: '0.0.0.0' }, 'none'],
    ['HEROES_WRITE_SCOP', { HEROES_WRITE_SCOP: 'heroes' }, 'risky'],
    ['DATABASE_URL', {}, 'risky'],
    ['DATABASE_URL', { DATABASE_URL: 'memory:' }, 'risky'],
    ['DATABASE_URL', { DATABASE_URL: 'postgres://h/d' }, 'fine']
  ]
  for (const [check, env, verdict] of cases) t.equal(verdictOn(check, env), verdict, `${check}: ${JSON.stringify(env)}`)
})

t.test('HASH_CONCURRENCY is risky where it leaves no core to requests', async t => {
  const cases: [setting: string, cores: number, verdict: string][] = [
    ['', 1, 'fine'],
    ['1', 1, 'fine'],
    ['1', 2, 'fine'],
    ['2', 2, 'risky'],
    ['3', 4, 'fine'],
    ['2', 1, 'risky']
  ]
  for (const [HASH_CONCURRENCY, cores, verdict] of cases) {
    t.equal(verdictOn('HASH_CONCURRENCY', { HASH_CONCURRENCY }, cores), verdict, `${HASH_CONCURRENCY} on ${cores}`)
  }
})

t.test('more workers than cores are risky', async t => {
  const DATABASE_URL = 'postgres://localhost/heroes'
  for (const [WORKERS, cores, verdict] of [
    ['1', 1, 'fine'],
    ['4', 4, 'fine'],
    ['2', 1, 'risky'],
    ['5', 4, 'risky']
  ] as const) {
    t.equal(verdictOn('WORKERS', { DATABASE_URL, WORKERS }, cores), verdict, `${WORKERS} on ${cores}`)
  }
})

t.test(
  'each setting that is judged is one of the settings, judged once, and what is risky comes with advice',
  async t => {
    const names = [...settingsHelp().matchAll(/^ {2}([A-Z_]+) /gm)].map(([, name]) => name)
    const findings = [
      ...advise({}),
      ...advise({ HOST: '::', TRUST_PROXY: 'true', PROTECT_HEROES: 'false', LOGIN_ATTEMPTS: '0' })
    ]
    for (const { check, verdict, message, advice } of findings) {
      t.ok(names.includes(check), check)
      t.match(message, /^\S[^\n]+[^.\s]$/)
      if (verdict !== 'fine') t.match(advice, /^\S[^\n]+[^.\s]$/)
    }
    const checks = advise({}).map(({ check }) => check)
    t.strictSame(checks, [...new Set(checks)])
  }
)

t.test('of a setting whose value is refused nothing is said, nor of one whose verdict depends on it', async t => {
  const { settings, refused } = checkSettings({ PUBLIC_URL: 'x', PASSWORD_MIN_LENGTH: 'long', LOGIN_ATTEMPTS: '0' })
  t.strictSame(
    [...refused],
    [
      [
        'PUBLIC_URL',
        "is 'x', but must be an http or https URL, scheme and host in lower case, without user info, default port, trailing slash, query and fragment"
      ],
      ['PASSWORD_MIN_LENGTH', "is 'long', but must be an integer from 1 to 1024"]
    ]
  )
  t.equal(settings.policy.loginAttempts, 0)
  t.equal(settings.policy.passwordMinLength, 1)
  const checks = adviseOnSettings(settings, new Set(refused.keys()), 2).map(({ check }) => check)
  t.ok(checks.includes('LOGIN_ATTEMPTS'))
  for (const name of ['PUBLIC_URL', 'HOST', 'TRUST_PROXY', 'PASSWORD_MIN_LENGTH']) t.notOk(checks.includes(name), name)

  const said = (name: string): readonly string[] =>
    adviseOnSettings(checkSettings({ DATABASE_URL: 'memory:' }).settings, new Set([name]), 2).map(({ check }) => check)
  for (const name of ['LOGIN_WINDOW', 'DATABASE_URL', 'DATABASE_URL_FILE'] as const) {
    const unsaid = name === 'LOGIN_WINDOW' ? ['LOGIN_ATTEMPTS', 'REGISTRATION'] : ['DATABASE_URL', 'WORKERS']
    for (const check of unsaid) t.notOk(said(name).includes(check), `${check} beside ${name}`)
  }
  t.ok(said('PUBLIC_URL').includes('PASSWORD_MIN_LENGTH'), 'it is judged by itself')
})

t.test('settings that are all as they may be are read as for a start', async t => {
  const env = { PORT: '1', DATABASE_URL: 'memory:' }
  t.strictSame(checkSettings(env), { settings: readSettings(env), refused: new Map() })
})

t.test(
  'the start warns of a wide HOST without https, of short passwords at a public address and of TRUST_PROXY=true',
  async t => {
    const cases: [env: Record<string, string>, checks: readonly string[]][] = [
      [{}, []],
      [{ HOST: '0.0.0.0' }, ['HOST']],
      [{ HOST: '::', PUBLIC_URL: 'http://heroes.example' }, ['HOST']],
      [{ HOST: '0.0.0.0', PUBLIC_URL: 'http://localhost:3000' }, []],
      [{ ...HTTPS, HOST: '0.0.0.0' }, ['PASSWORD_MIN_LENGTH']],
      [{ ...HTTPS, PASSWORD_MIN_LENGTH: '12' }, []],
      [{ TRUST_PROXY: 'true' }, ['TRUST_PROXY']],
      [{ LOGIN_ATTEMPTS: '0', PROTECT_HEROES: 'false', CODE_TTL: '86400' }, []],
      [{ ACCES_TOKEN_TTL: '60' }, ['ACCES_TOKEN_TTL']]
    ]
    for (const [env, checks] of cases) {
      const warned = startWarnings(readSettings(env))
      t.strictSame(
        warned.map(({ check }) => check),
        checks,
        JSON.stringify(env)
      )
      for (const { verdict } of warned) t.equal(verdict, 'risky')
    }
  }
)

t.test(
  'a first secret that a log may keep is replaced by a command, or by a new start where no command reaches',
  async t => {
    t.match(keptSecret(readSettings({})).advice, 'npx heroes client rotate-secret local')
    t.match(keptSecret(readSettings({ DATABASE_URL: 'memory:' })).advice, /a new start on memory: makes a new secret$/)
  }
)
