import { PASSWORD_MAX, defaultPolicy as policy } from '../../core/index.js'
import { defaultBodyLimit, defaultBodyMemory, defaultKeepAliveSeconds, defaultServiceName } from '../defaults.js'
import { databaseUrl, databaseUrlInFile, type ServerUrl } from './database-url.js'
import {
  baseUrl,
  boolean,
  integer,
  type Kind,
  oneOf,
  openOrClosed,
  origins,
  pageUrl,
  port,
  proxies,
  scope,
  seconds,
  shownName,
  text,
  workerCount
} from './kinds.js'
import { meantBy } from './misspelt.js'

export type ServerSettings = ServerUrl & { readonly kind: 'server'; readonly pool: number; readonly prepare: boolean }

export type DatabaseSettings =
  | { readonly kind: 'memory' }
  | { readonly kind: 'embedded'; readonly folder: string }
  | ServerSettings

/** A database that outlives the process. */
export type LastingDatabase = Exclude<DatabaseSettings, { readonly kind: 'memory' }>

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

/** Where a value is found in {@link Settings}: at the top, or in `policy`; those of the group `database` become one value. */
type Group = 'service' | 'policy' | 'database'

interface Setting<T, G extends Group> {
  readonly group: G
  readonly name: string
  readonly kind: Kind<T>
  /** The value when it is unset. */
  readonly fallback: T
  readonly meaning: string
  /** The default as the help shows it. */
  readonly shown: string
}

const declareIn =
  <G extends Group>(group: G) =>
  <T, F extends T | undefined>(
    name: string,
    kind: Kind<T>,
    fallback: F,
    meaning: string,
    shown = String(fallback ?? '(unset)')
  ): Setting<T | F, G> => ({ group, name, kind, fallback, meaning, shown })

const setting = declareIn('service')
const ofPolicy = declareIn('policy')
const ofDatabase = declareIn('database')

const attempts = integer(0, 1_000_000)
const window = integer(1, 31_536_000)

/** Every setting, in the order of the help. The type {@link Settings} follows from it. */
const SETTINGS = {
  host: setting('HOST', text, '127.0.0.1', 'the address to listen on'),
  port: setting('PORT', port, 3000, 'the port to listen on; 0 picks a free one and logs it'),
  databaseUrl: ofDatabase('DATABASE_URL', databaseUrl, undefined, 'postgres://... or memory:; unset: embedded'),
  databaseUrlFile: ofDatabase('DATABASE_URL_FILE', databaseUrlInFile, undefined, 'a file that holds DATABASE_URL'),
  dataDir: ofDatabase('DATA_DIR', text, './data', "the embedded database's folder, for one process at a time"),
  databasePool: ofDatabase('DATABASE_POOL', integer(1, 1000), 10, 'connections to PostgreSQL, of each worker'),
  databasePrepare: ofDatabase('DATABASE_PREPARE', boolean, true, 'false behind a transaction-mode pooler (PgBouncer)'),
  migrate: setting('MIGRATE', boolean, true, 'apply pending migrations at the start'),
  publicUrl: setting('PUBLIC_URL', baseUrl, undefined, 'the base URL that users see; unset: http://localhost:PORT'),
  protectHeroes: setting('PROTECT_HEROES', boolean, true, 'the hero endpoints ask for a bearer token'),
  readScope: setting('HEROES_READ_SCOPE', scope, undefined, 'a scope that reading heroes needs'),
  writeScope: setting('HEROES_WRITE_SCOPE', scope, undefined, 'a scope that writing heroes needs'),
  accessTokenSeconds: ofPolicy('ACCESS_TOKEN_TTL', seconds, policy.accessTokenSeconds, 'seconds'),
  refreshTokenSeconds: ofPolicy('REFRESH_TOKEN_TTL', seconds, policy.refreshTokenSeconds, 'seconds from its issue'),
  grantSeconds: ofPolicy('GRANT_TTL', seconds, policy.grantSeconds, 'seconds from the login'),
  codeSeconds: ofPolicy('CODE_TTL', seconds, policy.codeSeconds, 'seconds'),
  refreshGraceSeconds: ofPolicy(
    'REFRESH_GRACE',
    integer(0, 86_400),
    policy.refreshGraceSeconds,
    'seconds in which a repeated refresh gets the same answer; 0: none'
  ),
  passwordMinLength: ofPolicy('PASSWORD_MIN_LENGTH', integer(1, PASSWORD_MAX), policy.passwordMinLength, 'characters'),
  // The default depends on the machine, so the hasher computes it.
  hashConcurrency: setting('HASH_CONCURRENCY', integer(1, 3), undefined, 'hashes at once, from 1 to 3', 'cores - 1'),
  hashQueue: setting('HASH_QUEUE', integer(0, 1_000_000), 64, 'password hashes waiting; past that 503'),
  loginAttempts: ofPolicy('LOGIN_ATTEMPTS', attempts, policy.loginAttempts, 'logins per name and address; 0: no limit'),
  loginWindowSeconds: ofPolicy('LOGIN_WINDOW', window, policy.loginWindowSeconds, 'seconds in which they are counted'),
  registrationOpen: setting('REGISTRATION', openOrClosed, true, 'closed: /register is 403', 'open'),
  registerAttempts: ofPolicy('REGISTER_ATTEMPTS', attempts, policy.registerAttempts, 'users per address; 0: no limit'),
  // A body becomes one string, and V8 has none that is longer.
  bodyLimit: setting('BODY_LIMIT', integer(1, 536_870_888), defaultBodyLimit, 'bytes of a request body'),
  bodyMemory: setting(
    'BODY_MEMORY',
    integer(1, 1_099_511_627_776),
    undefined,
    'bytes that all request bodies of more than 64 kB may take together; at least BODY_LIMIT',
    String(defaultBodyMemory(defaultBodyLimit))
  ),
  corsOrigins: setting('CORS_ORIGINS', origins, [], 'origins whose pages may call, comma-separated', '(unset)'),
  trustProxy: setting('TRUST_PROXY', proxies, false, 'whose X-Forwarded headers are believed'),
  metricsPort: setting('METRICS_PORT', port, undefined, 'the port of GET /metrics; 0 picks one'),
  metricsHost: setting('METRICS_HOST', text, undefined, 'the address of GET /metrics; unset: HOST'),
  keepAliveSeconds: setting(
    'KEEP_ALIVE_TIMEOUT',
    integer(1, 86_400),
    defaultKeepAliveSeconds,
    'seconds until an idle connection is closed; more than a balancer has'
  ),
  workers: setting('WORKERS', workerCount, 1, 'processes that share the port; auto: as many as cores'),
  serviceName: setting('SERVICE_NAME', shownName, defaultServiceName, 'what the login page calls the service'),
  signupUrl: setting('SIGNUP_URL', pageUrl, undefined, 'where the login page sends people who have no account'),
  resetUrl: setting('RESET_URL', pageUrl, undefined, 'where it sends people who have forgotten the password'),
  drainDelaySeconds: setting('DRAIN_DELAY', integer(0, 3600), 0, 'seconds from SIGTERM to the end of listening'),
  logLevel: setting('LOG_LEVEL', oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'), 'info', 'of pino')
}

type Declared = typeof SETTINGS

type Values<G extends Group> = {
  readonly [Key in keyof Declared as Declared[Key]['group'] extends G ? Key : never]: Declared[Key]['fallback']
}

/** The settings as the help lists them: one line each with name, default and meaning. */
export const settingsHelp = (): string =>
  Object.values(SETTINGS)
    .map(({ name, shown, meaning }) => `  ${name.padEnd(20)} ${shown.padEnd(10)} ${meaning}`)
    .join('\n')

/**
 * Gets the name of a setting whose value is refused, why, and the other setting that forbids the value, if there is one.
 * Unless it throws, the setting then counts as unset.
 */
type Refuse = (name: string, reason: string, beside?: string) => void

const read = (env: Environment, refuse: Refuse) => {
  const readOne = ({ name, kind, fallback }: Setting<unknown, Group>): unknown => {
    const given = env[name]
    // `NAME= command` and many container configurations set a variable to the empty text and mean that it is unset.
    if (given === undefined || given === '') return fallback
    try {
      return kind(given)
    } catch (error) {
      refuse(name, Object(error).message)
      return fallback
    }
  }
  const values = Object.entries(SETTINGS).map(([key, each]) => ({ group: each.group, entry: [key, readOne(each)] }))
  const valuesOf = <G extends Group>(group: G): Values<G> =>
    Object.fromEntries(values.filter(value => value.group === group).map(({ entry }) => entry))
  const ofDatabase = valuesOf('database')
  const database = toDatabase(ofDatabase)
  const { bodyMemory, metricsPort, workers, ...service } = valuesOf('service')
  const { host, port, bodyLimit, metricsHost = host } = service
  const isAllowed = (name: string, beside: string, isMet: boolean, expected: string): boolean => {
    if (!isMet) refuse(name, `is '${env[name]}', but must be ${expected}`, beside)
    return isMet
  }
  const defaultMemory = defaultBodyMemory(bodyLimit)
  const memory = bodyMemory ?? defaultMemory
  const leastMemory = `at least BODY_LIMIT, which is ${bodyLimit}`
  const place = database.kind === 'memory' ? 'memory:' : 'the embedded database'
  const oneWorker = `1 on ${place}, which is for one process: name a PostgreSQL server in DATABASE_URL for more`
  const isAlone = ofDatabase.databaseUrl === undefined || ofDatabase.databaseUrlFile === undefined
  isAllowed('DATABASE_URL_FILE', 'DATABASE_URL', isAlone, 'unset beside DATABASE_URL: set one of the two')
  const hasRoom = isAllowed('BODY_MEMORY', 'BODY_LIMIT', memory >= bodyLimit, leastMemory)
  const hasOwnPlace = metricsPort === 0 || metricsPort !== port || metricsHost !== host
  const isApart = isAllowed('METRICS_PORT', 'PORT', hasOwnPlace, 'another port than PORT')
  const urlIn = env.DATABASE_URL ? 'DATABASE_URL' : 'DATABASE_URL_FILE'
  const mayShare = isAllowed('WORKERS', urlIn, workers === 1 || database.kind === 'server', oneWorker)
  return {
    ...service,
    database,
    policy: valuesOf('policy'),
    bodyMemory: hasRoom ? memory : defaultMemory,
    /** Where `/metrics` is; undefined for nowhere. */
    metricsPort: isApart ? metricsPort : undefined,
    metricsHost,
    /** How many processes share the port. More than one only on a PostgreSQL server. */
    workers: mayShare ? workers : 1,
    /** Variables that are no settings, and by their names look as if they were meant to be. */
    misspelt: findMisspelt(Object.keys(env))
  }
}

/** Each with the setting that it resembles. */
const findMisspelt = (given: readonly string[]) => {
  const names = Object.values(SETTINGS).map(({ name }) => name)
  return given.flatMap(name => {
    const meant = names.includes(name) ? undefined : meantBy(name, names)
    return meant === undefined ? [] : [{ name, meant }]
  })
}

const toDatabase = (values: Values<'database'>): DatabaseSettings => {
  const { databaseUrl, databaseUrlFile, dataDir: folder, databasePool: pool, databasePrepare: prepare } = values
  const url = databaseUrl ?? databaseUrlFile
  if (url === undefined) return { kind: 'embedded', folder }
  return url === 'memory:' ? { kind: 'memory' } : { kind: 'server', ...url, pool, prepare }
}

/**
 * All settings. `publicUrl` and `hashConcurrency` are undefined when unset: the URL is then made from the port that the server
 * listens on, and the default of the other depends on the machine.
 */
export type Settings = ReturnType<typeof read>

/** Reads and checks all settings. An empty setting counts as unset. Throws {@link SettingError}. */
export const readSettings = (env: Environment): Settings =>
  read(env, (name, reason) => {
    throw new SettingError(`${name} ${reason}`)
  })

/**
 * Reads and checks every setting, also after one that is refused. `refused` has, by the name of a refused setting, the rest of
 * the sentence that begins with its name. In `settings` it has its default.
 */
export const checkSettings = (env: Environment) => {
  const refused = new Map<string, string>()
  const settings = read(env, (name, reason, beside) => {
    // Of a value that was refused itself, nothing follows for others.
    if (beside === undefined || !refused.has(beside)) refused.set(name, reason)
  })
  return { settings, refused }
}
