import type { Inspected, InspectedDatabase } from '../compose.js'
import type { LastingDatabase, ServerSettings } from '../settings/settings.js'
import { count, type Finding, fine, isThisMachine, type Judgement, lacksNameIndex, risky, wrong } from './advice.js'
import { RAISE } from './open-files.js'

/** What is to be said of a database that could be looked at. */
export const judgeDatabase = (
  found: Inspected,
  database: LastingDatabase,
  migrate: boolean,
  workers: number
): readonly Finding[] => {
  if (typeof found === 'string') return [{ check: 'DATA_DIR', ...judgeAbsence(found, migrate) }]
  if (database.kind === 'embedded') {
    return [
      { check: 'DATA_DIR', ...fine('the database opens') },
      { check: 'schema', ...judgeSchema(found, migrate) }
    ]
  }
  const context = { ...found, database, migrate, workers }
  return Object.entries(SERVER_CHECKS).flatMap(([check, judge]) => {
    const judgement = judge(context)
    return judgement === undefined ? [] : [{ check, ...judgement }]
  })
}

const MIGRATE = 'run `heroes migrate`, or leave MIGRATE unset'

const judgeAbsence = (why: 'absent' | 'in use', migrate: boolean): Judgement => {
  if (why === 'in use') {
    return fine('another process, such as the running service, has the database', 'stop it to have it checked too')
  }
  const absent = 'there is no database yet'
  return migrate ? fine(`${absent}, and the first start makes it`) : wrong(absent, MIGRATE)
}

const MOST_OFFSET_SECONDS = 5
const ROLE_LIMITS = 'run `alter role NAME set statement_timeout = 3000`, and `lock_timeout = 500`'
const WITHOUT_PREPARING = 'set it to false, and statement_timeout and lock_timeout for the role'
const WITH_TLS = 'add sslmode=verify-full to DATABASE_URL'
/** PostgreSQL's default. */
const SMALL_BUFFERS = 128 * 1024 * 1024

const judgeSchema = ({ schema, mayMigrate }: InspectedDatabase, migrate: boolean): Judgement => {
  if (schema === undefined) {
    return wrong('which migrations were applied cannot be read', 'grant the role what it lacks, see privileges')
  }
  const { absent, searchPath } = schema
  if (absent.length > 0) {
    return wrong(
      `the search path ${searchPath} has no table ${absent.join(', ')}, although its migration was applied`,
      'correct the search path of the role or in DATABASE_URL, or restore what is gone'
    )
  }
  if (schema.halfCopied) return wrong('a copy into it is not whole', 'begin it anew with `heroes copy --again`')
  if (schema.later) return risky('a later version of the service has migrated it', 'run that version')
  if (schema.pending === 0) return fine('every migration is applied')
  const pending = `${count(schema.pending, 'migration is', 'migrations are')} pending`
  const place = `the search path is ${searchPath}`
  if (!migrate) return wrong(`${pending}; ${place}`, MIGRATE)
  if (mayMigrate) return fine(`${pending}, and the next start applies them`)
  return wrong(
    `${pending}, and the role may not apply them; ${place}`,
    schema.applied
      ? 'run `heroes migrate` as the role that owns the tables, with `create` on their schema'
      : 'run `heroes migrate` as a role with `create` on the schema, or give this role that'
  )
}

interface ServerContext extends InspectedDatabase {
  readonly database: ServerSettings
  readonly migrate: boolean
  readonly workers: number
}

/** What is judged of a server, in the order in which it is told. Undefined when there is nothing to judge. */
const SERVER_CHECKS: Readonly<Record<string, (context: ServerContext) => Judgement | undefined>> = {
  server: ({ version }) => fine(`PostgreSQL ${version} answers`),
  encoding: ({ encoding }) =>
    encoding === 'UTF8'
      ? fine('UTF8')
      : wrong(`${encoding} lacks characters that names may have`, "make a database with encoding 'UTF8'"),
  writes: ({ takesWrites }) => {
    const remedy = 'name the primary, or add target_session_attrs=read-write to DATABASE_URL'
    return takesWrites ? fine('the database takes them') : wrong('it takes none: it is a standby or read-only', remedy)
  },
  schema: context => judgeSchema(context, context.migrate),
  indexes: ({ schema }) => {
    if (schema === undefined || schema.pending > 0 || schema.absent.length > 0) return undefined
    const absent = schema.absentIndexes.join(', ')
    return absent === '' ? fine('each is there') : wrong(`there is no ${absent}`, 'make it again as drizzle/ has it')
  },
  privileges: ({ schema, missing }) => {
    if (schema?.applied === false) return undefined
    if (missing.length === 0) return fine('the role may read and change every table')
    return wrong(`the role may not ${listPrivileges(missing)}`, 'grant it these')
  },
  pg_trgm: ({ schema, nameIndex }) => {
    if (schema?.applied !== true) return undefined
    return nameIndex === undefined ? fine('there is an index for parts of names') : lacksNameIndex(nameIndex)
  },
  fsync: ({ fsync }) => (fsync ? fine('on') : wrong('off: a crash may destroy the database', 'turn it on')),
  full_page_writes: ({ fullPageWrites: isOn }) =>
    isOn ? fine('on') : risky('off: a crash may leave half pages', 'turn it on, unless the disk writes pages whole'),
  synchronous_commit: ({ synchronousCommit: isOn }) =>
    isOn ? fine('on') : risky('off: a crash may undo what was answered, a revocation too', 'turn it on'),
  autovacuum: ({ autovacuum: isOn }) =>
    isOn ? fine('on') : wrong('off: tables grow without end, and plans go by old figures', 'turn it on'),
  shared_buffers: ({ sharedBufferBytes: bytes }) => {
    const [size, remedy] = [`${Math.round(bytes / 1024 / 1024)} MB`, "set it to a quarter of the server's memory"]
    return bytes > SMALL_BUFFERS ? fine(size) : risky(`${size} are few for many tokens`, remedy)
  },
  DATABASE_POOL: ({ connections: { most, others }, database: { pool, prepare }, workers }) => {
    const connections = workers === 1 ? `${pool} connections` : `${pool} connections for each of ${workers} workers`
    // A pooler in transaction mode has its own bound.
    if (workers * pool > most && prepare) return wrong(`${connections}, and the server allows ${most}`, 'lower it')
    const left = Math.max(0, most - others)
    const processes = Math.floor(left / pool)
    return processes < workers
      ? risky(`${connections}, where others leave ${left} of ${most}`, 'lower it, or raise max_connections')
      : fine(`${connections}, which the server has for ${count(processes, 'process', 'processes')}`)
  },
  DATABASE_PREPARE: ({ pooled, limits, database: { prepare } }) => {
    if (!prepare) {
      return limits.statement > 0 && limits.lock > 0
        ? fine('false, as a pooler in transaction mode needs it, and the role has limits')
        : risky('false, and the role lacks statement_timeout or lock_timeout, which nobody else sets', ROLE_LIMITS)
    }
    if (!pooled) return fine('no pooler in transaction mode was noticed')
    return risky('a pooler in transaction mode does not keep the limits that the service sets', WITHOUT_PREPARING)
  },
  TLS: ({ encrypted, database: { hosts, tls } }) => {
    const { mode, authorities } = tls
    if (hosts.every(({ host }) => isThisMachine(host))) return fine('the database is on this machine')
    if (!encrypted) return risky('the connection to another machine is plain text', WITH_TLS)
    const risk = (what: string): Judgement => risky(`the connection is encrypted, but ${what}`, WITH_TLS)
    if (mode !== 'verify-full' && authorities === undefined) {
      return mode === 'verify-ca'
        ? risk("any server passes whose certificate is of one of Node's own authorities")
        : risk("the server's certificate is not checked")
    }
    if (mode === 'prefer' || mode === 'allow') return risk(`sslmode=${mode} takes plain text as well`)
    return fine("the connection is encrypted, and the server's certificate is checked")
  },
  clock: ({ offsetSeconds }) => {
    const off = `${Math.abs(offsetSeconds).toFixed(1)} seconds`
    const side = offsetSeconds > 0 ? 'ahead of' : 'behind'
    return Math.abs(offsetSeconds) > MOST_OFFSET_SECONDS
      ? wrong(`the database's is ${off} ${side} this machine's`, 'keep both by NTP')
      : fine(`within ${off} of the database's`)
  }
}

/** What is to be said of several hosts, each looked at by itself. */
export const judgeHosts = (hosts: readonly PromiseSettledResult<Inspected>[]): readonly Finding[] => {
  if (hosts.length < 2) return []
  const found = hosts.flatMap(host => (host.status === 'fulfilled' && typeof host.value === 'object' ? host.value : []))
  const primaries = new Set(found.flatMap(({ takesWrites, startedAt }) => (takesWrites ? startedAt : [])))
  const check = 'hosts'
  const silent = hosts.flatMap((host, index) =>
    host.status === 'fulfilled' ? [] : `host ${index + 1} of ${hosts.length}: ${describeOutage(host.reason).message}`
  )
  if (primaries.size > 1) {
    return [
      { check, ...wrong(`${primaries.size} servers take writes, and each has others`, 'stop all but one of them') }
    ]
  }
  if (silent.length > 0) return [{ check, ...risky(silent.join('; '), 'start it, or take it out of DATABASE_URL') }]
  return [{ check, ...fine(`all ${hosts.length} answer`) }]
}

/** As in `insert and update on hero, user; select on token`. */
const listPrivileges = (missing: InspectedDatabase['missing']): string => {
  const byTable = new Map<string, string[]>()
  for (const { privilege, table } of missing) byTable.set(table, [...(byTable.get(table) ?? []), privilege])
  const byPrivileges = new Map<string, string[]>()
  for (const [table, privileges] of byTable) {
    const words = privileges.join(', ').replace(/, (\w+)$/, ' and $1')
    byPrivileges.set(words, [...(byPrivileges.get(words) ?? []), table])
  }
  return [...byPrivileges].map(([words, tables]) => `${words} on ${tables.join(', ')}`).join('; ')
}

/** What is to be said of an embedded database that cannot be opened. */
export const describeFolder = (error: unknown): Finding => ({
  check: 'DATA_DIR',
  ...wrong(String(Object(error).message), 'make it usable, or name another folder')
})

/**
 * What is to be said of a server that cannot be used. By the code of the error alone: its message may repeat parts of
 * DATABASE_URL.
 */
export const describeOutage = (error: unknown): Finding => {
  const { code } = Object(Object(error).cause ?? error)
  const outage = OUTAGES.find(([codes]) => codes.test(String(code)))
  const unknown = code === undefined ? 'the database does not answer in time' : `the database cannot be used (${code})`
  const [, message, advice, check = 'server'] = outage ?? [undefined, unknown, 'look at its log']
  return { check, ...wrong(message, advice) }
}

/** By the codes of Node, of TLS and of PostgreSQL. */
const OUTAGES: readonly (readonly [codes: RegExp, message: string, advice: string, check?: string])[] = [
  [/^ECONNREFUSED$/, 'nothing listens there', 'start it, or correct the host and the port in DATABASE_URL'],
  [/^(?:ENOTFOUND|EAI_)/, 'the name of the host is not known', 'correct the host in DATABASE_URL'],
  [/^(?:CONNECT_TIMEOUT|ETIMEDOUT|EHOST|ENET)/, 'the host does not answer', 'correct the host, or open the firewall'],
  [/^(?:28...|SASL_SIGNATURE_MISMATCH)$/, 'it refuses the role or its password', 'correct them, or pg_hba.conf there'],
  [/^3D000$/, 'it has no such database', "make it, with encoding 'UTF8', or correct DATABASE_URL"],
  [/^53300$/, 'it has no connection left', 'lower DATABASE_POOL, or raise max_connections'],
  [/^E[MN]FILE$/, 'this process may not open another file', RAISE, 'open files'],
  [/^(?:CONNECTION_|ECONNRESET)/, 'it ends the connection at once', 'look at its log, and whether it speaks TLS'],
  [/^ERR_TLS_NOT_OFFERED$/, 'the server offers none', 'turn ssl on in the server, or correct sslmode', 'TLS'],
  [/^57P03$/, 'it is starting or ending', 'try again in a moment'],
  [
    /^25006$/,
    'no host takes them: what answers is a standby or read-only',
    'name the primary in DATABASE_URL, promote the standby, or turn default_transaction_read_only off',
    'writes'
  ],
  [
    /^(?:ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/,
    "the server's certificate is not trusted",
    "name its authority's file in sslrootcert, and the host in DATABASE_URL as the certificate does",
    'TLS'
  ],
  [
    /^(?:08P01|26000|PREPARED_STATEMENTS_LOST)$/,
    'what answers carries no prepared statements, as a pooler in transaction mode does not',
    WITHOUT_PREPARING,
    'DATABASE_PREPARE'
  ]
]
