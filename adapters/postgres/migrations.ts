import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import type { Driver, Run } from './connection/driver.js'
import { isLocked, StatementError, unavailable } from './connection/errors.js'

/** The table in which Drizzle records applied migrations, so that `drizzle-kit migrate` can go on from here. */
export const APPLIED = 'drizzle.__drizzle_migrations'

/** The key of an advisory lock: an arbitrary number, the same in every instance. */
const LOCK = 4_372_061_958

/** The database can be reached, but the service cannot use it. The message says what to do. */
export class UnfitDatabaseError extends Error {
  override readonly name = 'UnfitDatabaseError'
}

/**
 * Applies pending migrations, all or none. When several instances call it at once, one of them applies the migrations
 * and the others wait. Rejects with an {@link UnfitDatabaseError} when the database's encoding cannot store every text.
 */
export const migrate = async ({ write, transaction }: Driver): Promise<void> => {
  await requireEncoding(write)
  const migrations = readMigrations()
  if ((await lastApplied(write)) >= newestOf(migrations)) return
  await transaction(
    'migrate',
    async run => {
      await run('select pg_advisory_xact_lock($1)', [LOCK])
      const last = await lastApplied(run)
      if (last === NEVER) {
        await run('create schema if not exists drizzle', [])
        await run(
          `create table if not exists ${APPLIED} (id serial primary key, hash text not null, created_at bigint)`,
          []
        )
      }
      const pending = migrations.filter(({ folderMillis }) => folderMillis > last)
      const statements = pending.flatMap(({ sql }) => sql)
      await lockTables(run, statements)
      for (const { folderMillis, hash, sql } of pending) {
        for (const statement of sql) await run(statement, [])
        await run(`insert into ${APPLIED} (hash, created_at) values ($1, $2)`, [hash, folderMillis])
      }
    },
    { patient: true }
  )
}

/**
 * The order in which statements lock tables. Logins and sweeps alone lock `code` and `token` after `grant`, and are tried
 * again when that leads to a deadlock.
 */
const LOCK_ORDER = ['user', 'client', 'code', 'token', 'grant']

/** The names of tables in a statement, as drizzle-kit writes them. */
const TABLES = /\b(?:table|references) (?:if exists )?(?:"public"\.)?"(\w+)"/gi

/**
 * Locks the tables that the statements of migrations change and do not make. An index lets others read and is no change.
 * While other instances serve, their statements hold some tables and wait for others: in another order, the migrations
 * and they would deadlock (40P01).
 */
export const lockTables = async (run: Run, statements: readonly string[]): Promise<void> => {
  const changed = new Set(statements.flatMap(text => [...text.matchAll(TABLES)].map(([, name]) => name)))
  const rows = await run('select tablename::text from pg_tables where schemaname = current_schema()', [])
  const tables = new Set(rows.map(([name]) => String(name)))
  for (const table of new Set([...LOCK_ORDER, ...tables])) {
    if (changed.has(table) && tables.has(table)) await run(`lock table "${table}" in access exclusive mode`, [])
  }
}

/**
 * Rejects with an {@link UnfitDatabaseError} when a migration is pending, or when the encoding cannot store every text.
 */
export const requireSchema = async ({ write }: Driver): Promise<void> => {
  await requireEncoding(write)
  const last = await lastApplied(write)
  if (last >= newestOf(readMigrations())) return
  const what = last === NEVER ? 'lacks its schema' : 'has a schema of an earlier version'
  throw new UnfitDatabaseError(`the database ${what}; run \`heroes migrate\`, or leave MIGRATE unset`)
}

/** How far the migrations of a database have come. */
export interface SchemaState {
  /** Whether any migration was ever applied. */
  readonly applied: boolean
  /** How many migrations are yet to be applied. */
  readonly pending: number
  /** Whether a later version of the service has applied migrations that this one does not know. */
  readonly later: boolean
}

/** Which migrations were applied. */
export const readSchemaState = async (run: Run): Promise<SchemaState> => {
  const migrations = readMigrations()
  const last = await lastApplied(run)
  return {
    applied: last !== NEVER,
    pending: migrations.filter(({ folderMillis }) => folderMillis > last).length,
    later: last > newestOf(migrations)
  }
}

/**
 * The check behind `/health/ready`. It rejects with `unavailable` while the database refuses writes or lacks its
 * schema.
 */
export const createCheck = ({ probe }: Driver): (() => Promise<void>) => {
  let newest: number | undefined
  return async () => {
    newest ??= newestOf(readMigrations())
    const [row] = await probe(CHECK, []).catch(async (error: unknown) => {
      // 42P01, no such table: no migration was ever applied.
      if (error instanceof StatementError && error.code === '42P01') return []
      // A table that is locked is there. That it cannot be read for a while does not make the service unready.
      if (isLocked(error)) return (await probe(`select ${READ_ONLY}`, [])).map(([readOnly]) => [readOnly, newest])
      throw error
    })
    if (row?.[0]) throw unavailable(new StatementError('the database takes no writes', '25006'))
    if (!(Number(row?.[1]) >= newest)) throw unavailable(new StatementError('the database lacks its schema', undefined))
  }
}

const READ_ONLY = `pg_is_in_recovery() or current_setting('transaction_read_only')::boolean`
const CHECK = `select ${READ_ONLY}, max(created_at)::int8 from ${APPLIED}`

/**
 * Every other encoding lacks characters that occur in names (22P05), or does not know where a character ends
 * (SQL_ASCII).
 */
const requireEncoding = async (run: Run): Promise<void> => {
  const [row] = await run(`select current_setting('server_encoding')`, [])
  const encoding = String(row?.[0])
  if (encoding !== 'UTF8') {
    throw new UnfitDatabaseError(
      `the encoding of the database is ${encoding}, but must be UTF8: create a database with \`encoding 'UTF8'\``
    )
  }
}

const readMigrations = () => readMigrationFiles({ migrationsFolder: folder() })

const newestOf = (migrations: ReturnType<typeof readMigrations>): number =>
  Math.max(...migrations.map(({ folderMillis }) => folderMillis))

const NEVER = -1

const lastApplied = async (run: Run): Promise<number> => {
  // Not to_regclass: it reads a cache and may answer as of the time before the wait for the lock.
  const [table] = await run(
    'select from pg_class join pg_namespace on pg_namespace.oid = relnamespace where nspname = $1 and relname = $2',
    APPLIED.split('.')
  )
  if (table === undefined) return NEVER
  const [row] = await run(`select coalesce(max(created_at), $1) from ${APPLIED}`, [NEVER])
  return Number(row?.[0])
}

// Found by the name of the package, because the sources and the built files lie at different depths.
const folder = (): string => join(dirname(createRequire(import.meta.url).resolve('heroes/package.json')), 'drizzle')
