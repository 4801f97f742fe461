import { defaultPolicy, PASSWORD_MAX, type Policy } from '../core/index.js'
import { readServerUrl, type ServerUrl } from './database-url.js'
import { defaultBodyLimit, defaultBodyMemory, defaultServiceName } from './defaults.js'
import {
  baseUrl,
  boolean,
  integer,
  type Kind,
  oneOf,
  origins,
  pageUrl,
  proxies,
  scope,
  seconds,
  shownName,
  text,
  workerCount
} from './setting-kinds.js'

export type ServerSettings = ServerUrl & { readonly kind: 'server'; readonly pool: number; readonly prepare: boolean }

export type DatabaseSettings =
  | { readonly kind: 'memory' }
  | { readonly kind: 'embedded'; readonly folder: string }
  | ServerSettings

export interface Settings {
  readonly host: string
  readonly port: number
  readonly database: DatabaseSettings
  readonly migrate: boolean
  /** Undefined when unset: the URL is then made from the port that the server listens on. */
  readonly publicUrl: string | undefined
  readonly protectHeroes: boolean
  readonly readScope: string | undefined
  readonly writeScope: string | undefined
  readonly registrationOpen: boolean
  readonly policy: Policy
  readonly hashConcurrency: number | undefined
  readonly hashQueue: number
  readonly bodyLimit: number
  readonly bodyMemory: number
  readonly trustProxy: boolean | string
  readonly corsOrigins: readonly string[]
  /** Where `/metrics` is; undefined for nowhere. */
  readonly metricsPort: number | undefined
  /** How many processes share the port. More than one only on a PostgreSQL server. */
  readonly workers: number
  readonly serviceName: string
  readonly signupUrl: string | undefined
  readonly resetUrl: string | undefined
  readonly drainDelaySeconds: number
  readonly logLevel: string
}

export type Environment = Readonly<Record<string, string | undefined>>

/** A setting whose value is not allowed. The message names the setting and says what it may be. */
export class SettingError extends Error {
  override readonly name = 'SettingError'
}

/** A setting that is well-formed but fails when it is used. The message names the setting and says why. */
export class UnusableSettingError extends Error {
  override readonly name = 'UnusableSettingError'

  /** The error that `why` tells of. Not its `cause`: the command line prints those as well. */
  readonly reason: unknown

  constructor(setting: string, why: string, reason?: unknown) {
    super(`${setting} cannot be used: ${why}`)
    this.reason = reason
  }
}

interface Definition<T> {
  readonly name: string
  /** The default as the help shows it. */
  readonly shown: string
  readonly meaning: string
  /** Throws {@link SettingError}. */
  read(env: Environment): T
}

const optional = <T>(name: string, kind: Kind<T>, meaning: string): Definition<T | undefined> => ({
  name,
  shown: '(unset)',
  meaning,
  read: env => {
    const given = env[name]
    // `NAME= command` and many container configurations set a variable to the empty text and mean that it is unset.
    if (given === undefined || given === '') return undefined
    const value = kind.parse(given)
    if (value === undefined) {
      throw new SettingError(`${name} is '${given}', but must be ${kind.expected}`)
    }
    return value
  }
})

const setting = <T>(name: string, kind: Kind<T>, fallback: T, meaning: string): Definition<T> => {
  const { read } = optional(name, kind, meaning)
  return { name, shown: String(fallback), meaning, read: env => read(env) ?? fallback }
}

/** Throws {@link SettingError}. The message may be logged and does not repeat the value, which may hold a password. */
const readDatabaseUrl = ({ DATABASE_URL: given }: Environment): ServerUrl | 'memory:' | undefined => {
  if (given === undefined || given === '') return undefined
  if (given === 'memory:') return given
  if (!/^postgres(?:ql)?:\/\//.test(given)) {
    throw new SettingError('DATABASE_URL must be memory: or a URL that begins with postgres:// or postgresql://')
  }
  try {
    return readServerUrl(given)
  } catch (error) {
    throw new SettingError(`DATABASE_URL ${Object(error).message}`)
  }
}

// A body becomes one string, and V8 has none that is longer.
const bodyLimit = setting('BODY_LIMIT', integer(1, 536_870_888), defaultBodyLimit, 'bytes of a request body')

const givenBodyMemory = optional(
  'BODY_MEMORY',
  integer(1, 1_099_511_627_776),
  'bytes that all request bodies of more than 64 kB may take together; at least BODY_LIMIT'
)

const bodyMemory: Definition<number> = {
  ...givenBodyMemory,
  shown: String(defaultBodyMemory(defaultBodyLimit)),
  read: env => {
    const limit = bodyLimit.read(env)
    const memory = givenBodyMemory.read(env) ?? defaultBodyMemory(limit)
    if (memory >= limit) return memory
    throw new SettingError(`BODY_MEMORY is '${memory}', but must be at least BODY_LIMIT, which is ${limit}`)
  }
}

const port = setting('PORT', integer(0, 65535), 3000, 'the port to listen on; 0 picks a free one and logs it')

const givenMetricsPort = optional(
  'METRICS_PORT',
  integer(0, 65535),
  'the port of GET /metrics, for Prometheus; 0 picks one'
)

const metricsPort: Definition<number | undefined> = {
  ...givenMetricsPort,
  read: env => {
    const given = givenMetricsPort.read(env)
    if (given === undefined || given === 0 || given !== port.read(env)) return given
    throw new SettingError(`METRICS_PORT is '${given}', but must be another port than PORT`)
  }
}

/** Every setting, in the order of the help. */
const settings = {
  host: setting('HOST', text, '127.0.0.1', 'the address to listen on'),
  port,
  databaseUrl: {
    name: 'DATABASE_URL',
    shown: '(unset)',
    meaning: 'postgres://...: a PostgreSQL server; memory: gone at exit; unset: embedded in DATA_DIR',
    read: readDatabaseUrl
  },
  dataDir: setting('DATA_DIR', text, './data', "the embedded database's folder, for one process at a time"),
  databasePool: setting('DATABASE_POOL', integer(1, 1000), 10, 'connections to PostgreSQL, of each worker'),
  databasePrepare: setting('DATABASE_PREPARE', boolean, true, 'false behind a transaction-mode pooler as PgBouncer'),
  migrate: setting('MIGRATE', boolean, true, 'apply pending migrations at the start'),
  publicUrl: optional('PUBLIC_URL', baseUrl, 'the base URL that users see; unset: http://localhost:PORT'),
  protectHeroes: setting('PROTECT_HEROES', boolean, true, 'the hero endpoints ask for a bearer token'),
  readScope: optional('HEROES_READ_SCOPE', scope, 'a scope that reading heroes needs'),
  writeScope: optional('HEROES_WRITE_SCOPE', scope, 'a scope that writing heroes needs'),
  accessTokenSeconds: setting('ACCESS_TOKEN_TTL', seconds, defaultPolicy.accessTokenSeconds, 'seconds'),
  refreshTokenSeconds: setting(
    'REFRESH_TOKEN_TTL',
    seconds,
    defaultPolicy.refreshTokenSeconds,
    'seconds from its issue'
  ),
  grantSeconds: setting('GRANT_TTL', seconds, defaultPolicy.grantSeconds, 'seconds from the login'),
  codeSeconds: setting('CODE_TTL', seconds, defaultPolicy.codeSeconds, 'seconds'),
  refreshGraceSeconds: setting(
    'REFRESH_GRACE',
    integer(0, 86_400),
    defaultPolicy.refreshGraceSeconds,
    'seconds in which a repeated refresh gets the same answer; 0: none'
  ),
  passwordMinLength: setting(
    'PASSWORD_MIN_LENGTH',
    integer(1, PASSWORD_MAX),
    defaultPolicy.passwordMinLength,
    'characters'
  ),
  // The default depends on the machine, so the hasher computes it.
  hashConcurrency: {
    ...optional('HASH_CONCURRENCY', integer(1, 3), 'password hashes at once; the default is at least 1, at most 3'),
    shown: 'cores - 1'
  },
  hashQueue: setting('HASH_QUEUE', integer(0, 1_000_000), 64, 'password hashes waiting; past that 503'),
  loginAttempts: setting(
    'LOGIN_ATTEMPTS',
    integer(0, 1_000_000),
    defaultPolicy.loginAttempts,
    'logins per username and address in LOGIN_WINDOW; 0: no limit'
  ),
  loginWindowSeconds: setting('LOGIN_WINDOW', integer(1, 31_536_000), defaultPolicy.loginWindowSeconds, 'seconds'),
  registration: setting('REGISTRATION', oneOf('open', 'closed'), 'open', 'closed: /register is 403'),
  registerAttempts: setting(
    'REGISTER_ATTEMPTS',
    integer(0, 1_000_000),
    defaultPolicy.registerAttempts,
    'registrations per address in LOGIN_WINDOW; 0: no limit'
  ),
  bodyLimit,
  bodyMemory,
  corsOrigins: {
    ...setting<readonly string[]>('CORS_ORIGINS', origins, [], 'origins whose pages may call, comma-separated'),
    shown: '(unset)'
  },
  trustProxy: setting<boolean | string>('TRUST_PROXY', proxies, false, 'whose X-Forwarded headers are believed'),
  metricsPort,
  workers: setting('WORKERS', workerCount, 1, 'processes that share the port; auto: as many as cores'),
  serviceName: setting('SERVICE_NAME', shownName, defaultServiceName, 'what the login page calls the service'),
  signupUrl: optional('SIGNUP_URL', pageUrl, 'where the login page sends people who have no account'),
  resetUrl: optional('RESET_URL', pageUrl, 'where the login page sends people who have forgotten the password'),
  drainDelaySeconds: setting(
    'DRAIN_DELAY',
    integer(0, 3600),
    0,
    'seconds from SIGTERM to the end of listening, for a balancer to notice'
  ),
  logLevel: setting('LOG_LEVEL', oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'), 'info', 'of pino')
}

/** The settings as the help lists them: one line each with name, default and meaning. */
export const settingsHelp = (): string =>
  Object.values(settings)
    .map(({ name, shown, meaning }) => `  ${name.padEnd(20)} ${shown.padEnd(10)} ${meaning}`)
    .join('\n')

/** Reads and checks all settings. An empty setting counts as unset. Throws {@link SettingError}. */
export const readSettings = (env: Environment): Settings => {
  const database = readDatabase(env)
  return {
    host: settings.host.read(env),
    port: settings.port.read(env),
    database,
    migrate: settings.migrate.read(env),
    publicUrl: settings.publicUrl.read(env),
    protectHeroes: settings.protectHeroes.read(env),
    readScope: settings.readScope.read(env),
    writeScope: settings.writeScope.read(env),
    registrationOpen: settings.registration.read(env) === 'open',
    policy: {
      accessTokenSeconds: settings.accessTokenSeconds.read(env),
      refreshTokenSeconds: settings.refreshTokenSeconds.read(env),
      grantSeconds: settings.grantSeconds.read(env),
      codeSeconds: settings.codeSeconds.read(env),
      refreshGraceSeconds: settings.refreshGraceSeconds.read(env),
      passwordMinLength: settings.passwordMinLength.read(env),
      loginAttempts: settings.loginAttempts.read(env),
      loginWindowSeconds: settings.loginWindowSeconds.read(env),
      registerAttempts: settings.registerAttempts.read(env),
      // Where no other clock is at hand, nothing is removed for a day.
      grantRemovalDelaySeconds: database.kind === 'server' ? 60 : 86_400
    },
    hashConcurrency: settings.hashConcurrency.read(env),
    hashQueue: settings.hashQueue.read(env),
    bodyLimit: settings.bodyLimit.read(env),
    bodyMemory: settings.bodyMemory.read(env),
    trustProxy: settings.trustProxy.read(env),
    corsOrigins: settings.corsOrigins.read(env),
    metricsPort: settings.metricsPort.read(env),
    workers: readWorkers(env, database),
    serviceName: settings.serviceName.read(env),
    signupUrl: settings.signupUrl.read(env),
    resetUrl: settings.resetUrl.read(env),
    drainDelaySeconds: settings.drainDelaySeconds.read(env),
    logLevel: settings.logLevel.read(env)
  }
}

export interface CheckedSettings {
  /** With the defaults in place of the settings that are refused. */
  readonly settings: Settings
  /** Why each refused setting is refused, by its name. The reason continues a sentence that begins with the name. */
  readonly refused: ReadonlyMap<string, string>
}

/** Reads and checks every setting, also after one that is refused. */
export const checkSettings = (env: Environment): CheckedSettings => {
  const refused = new Map<string, string>()
  const sound = { ...env }
  const attempt = (name: string, read: () => unknown): void => {
    try {
      read()
    } catch (error) {
      refused.set(name, String(Object(error).message).replace(`${name} `, ''))
      sound[name] = undefined
    }
  }
  for (const { name, read } of Object.values(settings)) attempt(name, () => read(sound))
  // Without the database that was meant, nothing is known of how many workers it may have.
  if (refused.has('DATABASE_URL')) sound.WORKERS = undefined
  else attempt('WORKERS', () => readWorkers(sound, readDatabase(sound)))
  return { settings: readSettings(sound), refused }
}

const readDatabase = (env: Environment): DatabaseSettings => {
  const url = settings.databaseUrl.read(env)
  const folder = settings.dataDir.read(env)
  const pool = settings.databasePool.read(env)
  const prepare = settings.databasePrepare.read(env)
  if (url === undefined) return { kind: 'embedded', folder }
  return url === 'memory:' ? { kind: 'memory' } : { kind: 'server', ...url, pool, prepare }
}

/** Throws {@link SettingError} when the database is for one process and there are to be more. */
const readWorkers = (env: Environment, { kind }: DatabaseSettings): number => {
  const workers = settings.workers.read(env)
  if (workers === 1 || kind === 'server') return workers
  const database = kind === 'memory' ? 'memory:' : 'the embedded database'
  throw new SettingError(
    `WORKERS is '${env.WORKERS}', but must be 1 on ${database}, which is for one process: name a PostgreSQL server in DATABASE_URL for more`
  )
}
