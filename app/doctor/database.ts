import type { Inspected, InspectedDatabase } from '../compose.js'
import type { DatabaseSettings, ServerSettings } from '../settings/settings.js'
import { type Finding, fine, isThisMachine, type Judgement, lacksNameIndex, risky, wrong } from './advice.js'

/** What is to be said of a database that could be looked at. */
export const judgeDatabase = (
  found: Inspected,
  database: Exclude<DatabaseSettings, { kind: 'memory' }>,
  migrate: boolean,
  workers: number
): readonly Finding[] => {
  if (found === 'in use') {
    const judgement = fine('another process, such as the running service, has the database')
    return [{ check: 'DATA_DIR', ...judgement, advice: 'stop it to have the database checked too' }]
  }
  if (found === 'absent') {
    const judgement = migrate
      ? fine('there is no database yet, and the first start makes it')
      : wrong('there is no database yet', 'run `heroes migrate`, or leave MIGRATE unset')
    return [{ check: 'DATA_DIR', ...judgement }]
  }
  if (database.kind === 'embedded') {
    return [
      { check: 'DATA_DIR', ...fine('the database opens') },
      { check: 'schema', ...judgeSchema(found, migrate) }
    ]
  }
  return Object.entries(SERVER_CHECKS).flatMap(([check, judge]) => {
    const judgement = judge(found, database, migrate, workers)
    return judgement === undefined ? [] : [{ check, ...judgement }]
  })
}

const MOST_OFFSET_SECONDS = 5
const WITHOUT_PREPARING = 'set it to false, and statement_timeout and lock_timeout for the role'
/** PostgreSQL's default. */
const SMALL_BUFFERS = 128 * 1024 * 1024

const judgeSchema = ({ schema, mayMigrate }: InspectedDatabase, migrate: boolean): Judgement => {
  if (schema === undefined) {
    return wrong('which migrations were applied cannot be read', 'grant the role what it lacks, see privileges')
  }
  if (schema.later) return risky('a later version of the service has migrated it', 'run that version')
  if (schema.pending === 0) return fine('every migration is applied')
  const pending = `${schema.pending} ${schema.pending === 1 ? 'migration is' : 'migrations are'} pending`
  if (!migrate) return wrong(pending, 'run `heroes migrate`, or leave MIGRATE unset')
  return mayMigrate
    ? fine(`${pending}, and the next start applies them`)
    : wrong(
        `${pending}, and the role may not apply them`,
        schema.applied
          ? 'run `heroes migrate` as the role that owns the tables, with `create` on their schema'
          : 'run `heroes migrate` as a role with `create` on the database and on its schema, or give this role both'
      )
}

/** Undefined when there is nothing to judge. */
type Judge = (
  facts: InspectedDatabase,
  database: ServerSettings,
  migrate: boolean,
  workers: number
) => Judgement | undefined

/** What is judged of a server, in the order in which it is told. */
const SERVER_CHECKS: Readonly<Record<string, Judge>> = {
  server: ({ version }) => fine(`PostgreSQL ${version} answers`),
  encoding: ({ encoding }) =>
    encoding === 'UTF8'
      ? fine('UTF8')
      : wrong(`${encoding} lacks characters that names may have`, "make a database with encoding 'UTF8'"),
  writes: ({ takesWrites }) =>
    takesWrites
      ? fine('the database takes them')
      : wrong(
          'the database takes none: it is a standby or read-only',
          'name the primary, or add target_session_attrs=read-write to DATABASE_URL'
        ),
  schema: (facts, _database, migrate) => judgeSchema(facts, migrate),
  privileges: ({ schema, missing }) => {
    if (schema?.applied === false) return undefined
    if (missing.length === 0) return fine('the role may read and change every table')
    return wrong(`the role may not ${listPrivileges(missing)}`, 'grant it these')
  },
  pg_trgm: ({ schema, nameIndex }) => {
    if (schema?.applied !== true) return undefined
    return nameIndex === undefined ? fine('there is an index for parts of names') : lacksNameIndex(nameIndex)
  },
  fsync: ({ fsync }) =>
    fsync ? fine('on') : wrong('off: a crash of the machine may destroy the database', 'turn it on'),
  full_page_writes: ({ fullPageWrites }) =>
    fullPageWrites
      ? fine('on')
      : risky('off: a crash may leave half-written pages', 'turn it on, unless the file system writes pages whole'),
  synchronous_commit: ({ synchronousCommit }) =>
    synchronousCommit
      ? fine('on')
      : risky('off: a crash may undo what was answered, a revocation too', 'turn it on for this database'),
  shared_buffers: ({ sharedBufferBytes: bytes }) => {
    const size = `${Math.round(bytes / 1024 / 1024)} MB`
    return bytes > SMALL_BUFFERS
      ? fine(size)
      : risky(`${size} are few for many tokens`, "set it to a quarter of the server's memory")
  },
  DATABASE_POOL: ({ connections: { most, others } }, { pool, prepare }, _migrate, workers) => {
    const connections = workers === 1 ? `${pool} connections` : `${pool} connections for each of ${workers} workers`
    // A pooler in transaction mode has its own bound.
    if (workers * pool > most && prepare) {
      return wrong(`${connections}, and the server allows ${most} in all`, 'lower it')
    }
    const processes = Math.floor((most - others) / pool)
    if (processes < workers) {
      const left = Math.max(0, most - others)
      return risky(
        `${connections}, where other programs leave ${left} of ${most}`,
        'lower it, or raise max_connections'
      )
    }
    return fine(`${connections}, which the server has for ${processes} ${processes === 1 ? 'process' : 'processes'}`)
  },
  DATABASE_PREPARE: ({ pooled }, { prepare }) => {
    if (!prepare) return fine('false, as a pooler in transaction mode needs it')
    return pooled
      ? risky(
          'a pooler in transaction mode is in between, which does not keep the limits that the service sets',
          WITHOUT_PREPARING
        )
      : fine('no pooler in transaction mode was noticed')
  },
  TLS: ({ encrypted }, { hosts, tls: { mode, authorities } }) => {
    if (hosts.every(({ host }) => isThisMachine(host))) return fine('the database is on this machine')
    const advice = 'add sslmode=verify-full to DATABASE_URL'
    if (!encrypted) return risky('the connection to another machine is plain text', advice)
    if (mode !== 'verify-full' && authorities === undefined) {
      return risky(
        mode === 'verify-ca'
          ? "the connection is encrypted, but any server passes whose certificate is of one of Node's own authorities"
          : "the connection is encrypted, but the server's certificate is not checked",
        advice
      )
    }
    return mode === 'prefer' || mode === 'allow'
      ? risky(`the connection is encrypted, but sslmode=${mode} takes plain text as well`, advice)
      : fine("the connection is encrypted, and the server's certificate is checked")
  },
  clock: ({ offsetSeconds }) => {
    const off = `${Math.abs(offsetSeconds).toFixed(1)} seconds`
    return Math.abs(offsetSeconds) > MOST_OFFSET_SECONDS
      ? wrong(
          `the database's is ${off} ${offsetSeconds > 0 ? 'ahead of' : 'behind'} this machine's`,
          'keep both by NTP'
        )
      : fine(`within ${off} of the database's`)
  }
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
  [
    /^(?:CONNECT_TIMEOUT|ETIMEDOUT|EHOST|ENET)/,
    'the host does not answer',
    'correct the host in DATABASE_URL, or let the connection through the firewall'
  ],
  [
    /^(?:28...|SASL_SIGNATURE_MISMATCH)$/,
    'it refuses the role or its password',
    'correct them in DATABASE_URL, or pg_hba.conf on the server'
  ],
  [/^3D000$/, 'it has no such database', "make it, with encoding 'UTF8', or correct DATABASE_URL"],
  [/^53300$/, 'it has no connection left', 'lower DATABASE_POOL, or raise max_connections'],
  [
    /^(?:CONNECTION_|ECONNRESET)/,
    'it ends the connection at once',
    'look at its log, and whether it speaks TLS where sslmode asks for it'
  ],
  [
    /^ERR_TLS_NOT_OFFERED$/,
    'the server offers none, and sslmode asks for it',
    'turn ssl on in the server, or correct sslmode in DATABASE_URL',
    'TLS'
  ],
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
