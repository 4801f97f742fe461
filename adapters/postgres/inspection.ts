import type { Driver, Run } from './connection/driver.js'
import { StatementError } from './connection/errors.js'
import { ABSENT, INDEXES, makeAny, RECORD, readState, TABLES, tablesChangedBy } from './migrations.js'
import { findNameIndex, lackAfter } from './name-index.js'

/** A privilege on a table that the role lacks. */
export interface Missing {
  readonly privilege: string
  readonly table: string
}

/** Reads all of it and changes nothing. Rejects with `unavailable` while the database cannot be reached. */
export const inspect = async ({ query }: Pick<Driver, 'query'>) => {
  const [row = []] = await query(FACTS, [])
  const state = await readState(query).catch((error: unknown) => {
    if (error instanceof StatementError && error.code === '42501') return undefined
    throw error
  })
  const [[absentIndexes] = []] = await query(`select ${ABSENT}`, [INDEXES.join()])
  return {
    // Of PostgreSQL, as `18.1`.
    version: String(row[0]),
    encoding: String(row[1]),
    fsync: row[2] === true,
    fullPageWrites: row[3] === true,
    // False when a commit is acknowledged before it is on the disk.
    synchronousCommit: row[4] === true,
    sharedBufferBytes: Number(row[5]),
    // As many as the role may open in this database, all processes together, and those of other programs on the server.
    connections: { most: Number(row[6]), others: Number(row[7]) },
    // Whether this connection is made over TLS.
    encrypted: row[8] === true,
    // False on a standby and where transactions are read-only.
    takesWrites: row[9] === true,
    autovacuum: row[10] === true,
    // Differs from server to server, also where one is a copy of the other.
    startedAt: String(row[11]),
    // In milliseconds, of this connection; 0 for none.
    limits: { statement: Number(row[12]), lock: Number(row[13]) },
    // Whether the role may do what pending migrations do. False where it may not read which were applied.
    mayMigrate: state !== undefined && (await mayMigrate(query, state)),
    nameIndex: await findNameIndex(query).catch(lackAfter),
    // Undefined when the role may not read which migrations were applied.
    schema: state && {
      applied: state.applied.length > 0,
      pending: state.pending.length,
      later: state.later,
      absent: state.absent,
      halfCopied: state.halfCopied,
      absentIndexes: String(absentIndexes).split(',').filter(Boolean),
      searchPath: state.searchPath
    },
    // What the role lacks on tables that are there, such as `delete` on `hero`.
    missing: await readMissing(query, state?.present ?? TABLES)
  }
}

// Whole numbers, as a role's `extra_float_digits` takes digits from any other. Everybody may read these views. What
// they hide of other roles' connections is not read here.
const FACTS = `
  select
    current_setting('server_version'),
    current_setting('server_encoding'),
    current_setting('fsync')::boolean,
    current_setting('full_page_writes')::boolean,
    current_setting('synchronous_commit') <> 'off',
    pg_size_bytes(current_setting('shared_buffers'))::int8,
    least(
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
        - coalesce(current_setting('reserved_connections', true)::int, 0),
      (select nullif(datconnlimit, -1) from pg_database where datname = current_database()),
      (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user)
    )::int8,
    (select count(datid) from pg_stat_activity where coalesce(application_name, '') <> 'heroes')::int8,
    coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false),
    not pg_is_in_recovery() and not current_setting('transaction_read_only')::boolean,
    current_setting('autovacuum')::boolean,
    pg_postmaster_start_time()::text,
    (select setting from pg_settings where name = 'statement_timeout')::int8,
    (select setting from pg_settings where name = 'lock_timeout')::int8`

/** Whether the role may make tables and indexes, if any ($2), change tables that are there ($1), and write the record. */
const MAY_MIGRATE = `
  select
    (not $2::boolean or coalesce(
      has_schema_privilege(current_schema(), 'create'),
      has_database_privilege(current_database(), 'create')
    ))
    and not exists (
      select from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = current_schema() and c.relkind = 'r' and (
        c.relname = any(string_to_array($1, ',')) and not pg_has_role(c.relowner, 'usage')
        or c.relname = '${RECORD}' and not has_table_privilege(c.oid, 'insert')
      )
    )`

const mayMigrate = async (run: Run, { pending, recorded }: Awaited<ReturnType<typeof readState>>): Promise<boolean> => {
  const [row] = await run(MAY_MIGRATE, [tablesChangedBy(pending).join(), !recorded || makeAny(pending)])
  return row?.[0] === true
}

/** A table that the role cannot even find, for want of `usage` on its schema, lacks every privilege. */
const MISSING = `
  select privilege, name
  from unnest(string_to_array($1, ',')) as name
  cross join unnest(array['select', 'insert', 'update', 'delete']) with ordinality as p (privilege, place)
  where not coalesce(has_table_privilege(to_regclass(quote_ident(name)), privilege), false)
  union all
  select 'select', '${RECORD}' where not has_table_privilege(to_regclass('${RECORD}'), 'select')`

const readMissing = async (run: Run, tables: readonly string[]): Promise<readonly Missing[]> =>
  (await run(MISSING, [tables.join()])).map(([privilege, table]) => ({
    privilege: String(privilege),
    table: String(table)
  }))
