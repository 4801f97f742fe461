import type { Inspected, InspectedDatabase } from '../compose.js'
import type { LastingDatabase, ServerSettings } from '../settings/settings.js'
import {
  count,
  type Finding,
  fine,
  firstLines,
  isThisMachine,
  type Line,
  lacksNameIndex,
  MOST_OFFSET_SECONDS,
  otherwise,
  risky,
  wrong
} from './advice.js'
import { RAISE } from './open-files.js'

/** What is to be said of a database that could be looked at. */
export const judgeDatabase = (
  found: Inspected,
  database: LastingDatabase,
  migrate: boolean,
  workers: number
): readonly Finding[] => {
  if (typeof found === 'string') return firstLines(FOLDER, { found, migrate })
  const schema = { ...UNKNOWN, ...found.schema, isKnown: found.schema !== undefined, migrate }
  if (database.kind === 'server') return firstLines(SERVER, { ...found, ...database, ...schema, workers })
  return [...firstLines(FOLDER, { found: 'open', migrate }), ...firstLines(SCHEMA, { ...found, ...schema })]
}

const MIGRATE = 'run `npx heroes migrate`, or leave MIGRATE unset'
const ROLE_LIMITS = 'run `alter role NAME set statement_timeout = 3000`, and `lock_timeout = 500`'
const WITHOUT_PREPARING = 'set it to false, and statement_timeout and lock_timeout for the role'
const WITH_TLS = 'add sslmode=verify-full to DATABASE_URL'
const ENCRYPTED = 'the connection is encrypted'
const WRITES = 'name the primary, or add target_session_attrs=read-write to DATABASE_URL'
const BUFFERS = "set it to a quarter of the server's memory"
const SEARCH_PATH = 'correct the search path of the role or in DATABASE_URL, or restore what is gone'
const AS_OWNER = 'run `npx heroes migrate` as the role that owns the tables, with `create` on their schema'
const AS_MAKER = 'run `npx heroes migrate` as a role with `create` on the schema, or give this role that'
/** PostgreSQL's default. */
const SMALL_BUFFERS = 128 * 1024 * 1024

const FOLDER: readonly Line<{ readonly found: 'open' | 'absent' | 'in use'; readonly migrate: boolean }>[] = [
  ['DATA_DIR', s => s.found === 'open', 'the database opens'],
  ['DATA_DIR', s => s.found === 'in use', 'another process, such as the running service, has it: not looked into'],
  ['DATA_DIR', s => s.migrate, 'there is no database yet, and the first start makes it'],
  ['DATA_DIR', otherwise, 'there is no database yet', MIGRATE, 'wrong']
]

/** In place of what the role may not read. */
const UNKNOWN: Schema = {
  applied: true,
  pending: 0,
  later: false,
  absent: [],
  halfCopied: false,
  absentIndexes: [],
  searchPath: ''
}

type Schema = NonNullable<InspectedDatabase['schema']>
interface SchemaFacts extends Schema, Pick<InspectedDatabase, 'mayMigrate'> {
  readonly isKnown: boolean
  readonly migrate: boolean
}

const SCHEMA: readonly Line<SchemaFacts>[] = [
  ['schema', s => !s.isKnown, 'which migrations were applied cannot be read', 'grant the role what it lacks', 'wrong'],
  ['schema', s => s.absent.length > 0, s => `${pathOf(s)} and lacks ${s.absent.join(', ')}`, SEARCH_PATH, 'wrong'],
  [
    'schema',
    s => s.halfCopied,
    'a copy into it is not whole',
    'begin it anew with `npx heroes copy TARGET --again`, where it was copied from',
    'wrong'
  ],
  ['schema', s => s.later, 'a later version of the service has migrated it', 'run that version'],
  ['schema', s => s.pending === 0, 'every migration is applied'],
  ['schema', s => !s.migrate, s => `${pendingOf(s)}; ${pathOf(s)}`, MIGRATE, 'wrong'],
  ['schema', s => s.mayMigrate, s => `${pendingOf(s)}, and the next start applies them`],
  ['schema', otherwise, s => `${refusedTo(s)}; ${pathOf(s)}`, s => (s.applied ? AS_OWNER : AS_MAKER), 'wrong'],
  ['indexes', s => !s.isKnown || s.pending > 0 || s.absent.length > 0, ''],
  ['indexes', s => s.absentIndexes.length === 0, 'each is there'],
  ['indexes', otherwise, s => `there is no ${s.absentIndexes.join(', ')}`, 'make it again as drizzle/ has it', 'wrong']
]

const pathOf = ({ searchPath }: Schema): string => `the search path is ${searchPath}`
const pendingOf = ({ pending }: Schema): string => `${count(pending, 'migration is', 'migrations are')} pending`
const refusedTo = (schema: Schema): string => `${pendingOf(schema)}, and the role may not apply them`

type ServerFacts = InspectedDatabase & ServerSettings & SchemaFacts & { readonly workers: number }

const SERVER: readonly Line<ServerFacts>[] = [
  ['server', otherwise, s => `PostgreSQL ${s.version} answers`],
  ['encoding', s => s.encoding === 'UTF8', 'UTF8'],
  ['encoding', otherwise, s => `${s.encoding} lacks characters of names`, "make one with encoding 'UTF8'", 'wrong'],
  ['writes', s => s.takesWrites, 'the database takes them'],
  ['writes', otherwise, 'it takes none: it is a standby or read-only', WRITES, 'wrong'],
  ...SCHEMA,
  ['privileges', s => !s.applied, ''],
  ['privileges', s => s.missing.length === 0, 'the role may read and change every table'],
  ['privileges', otherwise, s => `the role may not ${listPrivileges(s.missing)}`, 'grant it these', 'wrong'],
  ['pg_trgm', s => !s.applied || !s.isKnown, ''],
  ['pg_trgm', s => s.nameIndex === undefined, 'there is an index for parts of names'],
  ['pg_trgm', otherwise, s => lackOf(s).message, s => String(lackOf(s).advice)],
  ['fsync', s => s.fsync, 'on'],
  ['fsync', otherwise, 'off: a crash may destroy the database', 'turn it on', 'wrong'],
  ['full_page_writes', s => s.fullPageWrites, 'on'],
  ['full_page_writes', otherwise, 'off: a crash may leave half pages', 'turn it on, unless disks write pages whole'],
  ['synchronous_commit', s => s.synchronousCommit, 'on'],
  ['synchronous_commit', otherwise, 'off: a crash may undo what was answered, a revocation too', 'turn it on'],
  ['autovacuum', s => s.autovacuum, 'on'],
  ['autovacuum', otherwise, 'off: tables grow without end, and plans go by old figures', 'turn it on', 'wrong'],
  ['shared_buffers', s => s.sharedBufferBytes > SMALL_BUFFERS, s => `${megabytes(s)} MB`],
  ['shared_buffers', otherwise, s => `${megabytes(s)} MB are few for many tokens`, BUFFERS],
  // A pooler in transaction mode has its own bound.
  ['DATABASE_POOL', s => s.prepare && s.workers * s.pool > s.connections.most, s => ofServer(s), 'lower it', 'wrong'],
  ['DATABASE_POOL', s => leftBy(s) < s.workers * s.pool, s => besideOthers(s), 'lower it, or raise max_connections'],
  ['DATABASE_POOL', otherwise, s => `${poolOf(s)}, which the server has`],
  ['DATABASE_PREPARE', s => s.limits.statement > 0 && s.limits.lock > 0, s => `${s.prepare}, and limits of time hold`],
  ['DATABASE_PREPARE', otherwise, s => `${s.prepare}, and no statement_timeout or no lock_timeout holds`, ROLE_LIMITS],
  ['TLS', s => s.hosts.every(({ host }) => isThisMachine(host)), 'the database is on this machine'],
  ['TLS', s => !s.encrypted, 'the connection to another machine is plain text', WITH_TLS],
  ['TLS', s => trustsAny(s) && s.tls.mode === 'verify-ca', `${ENCRYPTED}, with whoever has a certificate`, WITH_TLS],
  ['TLS', s => trustsAny(s), `${ENCRYPTED}, but the server's certificate is not checked`, WITH_TLS],
  ['TLS', s => /^(?:prefer|allow)$/.test(s.tls.mode), `${ENCRYPTED}, but plain text is taken as well`, WITH_TLS],
  ['TLS', otherwise, `${ENCRYPTED}, and the server's certificate is checked`],
  ['clock', s => Math.abs(s.offsetSeconds) > MOST_OFFSET_SECONDS, s => offsetOf(s), 'keep both clocks by NTP', 'wrong'],
  ['clock', otherwise, s => offsetOf(s)]
]

const lackOf = ({ nameIndex = { reason: '', remedy: '' } }: ServerFacts): Finding => lacksNameIndex(nameIndex)
const megabytes = ({ sharedBufferBytes }: ServerFacts): number => Math.round(sharedBufferBytes / 1024 / 1024)
const leftBy = ({ connections: { most, others } }: ServerFacts): number => Math.max(0, most - others)
const poolOf = ({ pool, workers }: ServerFacts): string =>
  `${pool} connections${workers === 1 ? '' : ` for each of ${workers} workers`}`
const ofServer = (facts: ServerFacts): string => `${poolOf(facts)}, and the server allows ${facts.connections.most}`
const besideOthers = (facts: ServerFacts): string =>
  `${poolOf(facts)}, where others leave ${leftBy(facts)} of ${facts.connections.most}`
const trustsAny = ({ tls }: ServerFacts): boolean => tls.mode !== 'verify-full' && tls.authorities === undefined
const offsetOf = ({ offsetSeconds }: ServerFacts): string =>
  `the database's is ${Math.abs(offsetSeconds).toFixed(1)} seconds ${offsetSeconds > 0 ? 'ahead of' : 'behind'} this machine's`

/** What is to be said of several hosts, each looked at by itself. */
export const judgeHosts = (hosts: readonly PromiseSettledResult<Inspected>[]): readonly Finding[] => {
  if (hosts.length < 2) return []
  /** The number of one host of each server that takes writes: several names may be of one server. */
  const primaries = new Map<unknown, number>()
  for (const [index, host] of hosts.entries()) {
    const found = host.status === 'fulfilled' && typeof host.value === 'object' ? host.value : undefined
    if (found?.takesWrites && !primaries.has(found.startedAt)) primaries.set(found.startedAt, index + 1)
  }
  const check = 'hosts'
  const silent = hosts.flatMap((host, index) =>
    host.status === 'fulfilled' ? [] : `host ${index + 1} of ${hosts.length}: ${describeOutage(host.reason).message}`
  )
  if (primaries.size > 1) {
    const numbers = [...primaries.values()].map(number => `host ${number}`).join(' and ')
    return [{ check, ...wrong(`${numbers} take writes, and each has others`, 'stop all but the newest primary') }]
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
    /^(?:ERR_TLS_|ERR_SSL_|CERT_|CRL_|DEPTH_ZERO_|ERROR_IN_|HOSTNAME_|INVALID_|PATH_LENGTH_|SELF_SIGNED_|UNABLE_TO_|UNSPECIFIED)/,
    "the server's certificate is not trusted",
    "name its authority's file in sslrootcert, and the host in DATABASE_URL as the certificate does",
    'TLS'
  ],
  [
    /^08P01$/,
    'what answers refuses prepared statements, `options`, the role or its password, as a pooler does',
    `${WITHOUT_PREPARING}; where it is false, take options out of DATABASE_URL, and look at the pooler's log`,
    'DATABASE_PREPARE'
  ],
  [
    /^(?:26000|PREPARED_STATEMENTS_LOST)$/,
    'what answers carries no prepared statements, as a pooler in transaction mode does not',
    WITHOUT_PREPARING,
    'DATABASE_PREPARE'
  ]
]
