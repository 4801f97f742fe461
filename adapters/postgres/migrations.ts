import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import type { Driver, Run } from './connection/driver.js'
import { isLocked, isTooSlow, StatementError, unavailable } from './connection/errors.js'
import { ADVISORY_LOCKS } from './long-writes.js'

/** The table in which Drizzle records applied migrations, so that `drizzle-kit migrate` can go on from here. */
export const APPLIED = 'drizzle.__drizzle_migrations'

/** The database can be reached, but the service cannot use it. The message says what to do. */
export class UnfitDatabaseError extends Error {
  override readonly name = 'UnfitDatabaseError'
}

/**
 * Applies pending migrations, all or none. When several instances call it at once, one of them applies the migrations
 * and the others wait. Rejects with an {@link UnfitDatabaseError} when the database's encoding cannot store every text.
 */
export const migrate = async ({ write, transaction }: Driver): Promise<void> => {
  const migrations = readMigrations()
  if ((await requireUtf8(write)) >= newestOf(migrations)) return
  await transaction(
    'migrate',
    async run => {
      await run('select pg_advisory_xact_lock($1)', [ADVISORY_LOCKS.migrations])
      const last = await lastAppliedNow(run)
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
 * How long a migration waits for the tables that it changes, in milliseconds, and as long for those that get an index.
 * Whoever needs one of them waits behind it, and gives up after half a second (`lock_timeout`).
 */
const ATTEMPT = 150
/** How long others may go on before the next attempt, in seconds. */
const PAUSE = 1
/** More would take longer than a migration may take. */
const ATTEMPTS = 500

/**
 * What finds the tables in a statement as {@link readMigrations} gives it, by the lock that the statement takes. An index lets
 * others read.
 */
const LOCKS = {
  'access exclusive': /\b(?:table|references) (?:if exists )?"(\w+)"/gi,
  share: /\bindex "\w+" on "(\w+)"/gi
}

/**
 * Locks the tables that the statements of migrations change and do not make: all of them or none, at the first attempt
 * that need not wait long. While other instances serve, their statements hold some tables and wait for others, in orders
 * of their own. A migration that kept what it has while it waits would make them fail, and so would one that waits behind
 * a long transaction, such as that of `pg_dump`. Rejects with the error of the last attempt (57014) after ten minutes.
 */
export const lockTables = async (run: Run, statements: readonly string[]): Promise<void> => {
  const rows = await run('select tablename::text from pg_tables where schemaname = current_schema()', [])
  const locks = Object.entries(LOCKS).flatMap(([mode, pattern]) => {
    const named = new Set(statements.flatMap(text => [...text.matchAll(pattern)].map(([, name]) => name)))
    const tables = rows.map(([name]) => String(name)).filter(name => named.has(name))
    return tables.length > 0 ? [`lock table ${tables.map(name => `"${name}"`).join()} in ${mode} mode`] : []
  })
  const [[limit] = []] = await run(`select current_setting('statement_timeout')`, [])
  await run('savepoint unlocked', [])
  const attempt = async (left: number): Promise<void> => {
    try {
      await run(`set local statement_timeout = ${ATTEMPT}`, [])
      for (const lock of locks) await run(lock, [])
      await run(`select set_config('statement_timeout', $1, true)`, [String(limit)])
    } catch (error) {
      if (left === 1 || !isTooSlow(error)) throw error
      await run('rollback to savepoint unlocked', [])
      await run(`select pg_sleep(${PAUSE})`, [])
      await attempt(left - 1)
    }
  }
  await attempt(ATTEMPTS)
}

/**
 * Rejects with an {@link UnfitDatabaseError} when a migration is pending, or when the encoding cannot store every text.
 */
export const requireSchema = async ({ write }: Driver): Promise<void> => {
  const last = await requireUtf8(write)
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
  const { last } = await readApplied(run)
  return {
    applied: last !== NEVER,
    pending: migrations.filter(({ folderMillis }) => folderMillis > last).length,
    later: last > newestOf(migrations)
  }
}

/** What pending migrations do. Tables are told by name. */
export interface PendingChanges {
  readonly makes: readonly string[]
  /** Those that they make are among them. A table that is there can be changed by its owner alone. */
  readonly changes: readonly string[]
  /** Whether they make a table or an index, for which PostgreSQL asks for `create` on the schema. */
  readonly creates: boolean
}

const MADE = /\bcreate table "(\w+)"/gi
/** A constraint of these kinds makes an index too. */
const CREATES = /\b(?:create|unique|primary key)\b/i

export const readPendingChanges = async (run: Run): Promise<PendingChanges> => {
  const { last } = await readApplied(run)
  const pending = readMigrations().filter(({ folderMillis }) => folderMillis > last)
  const statements = pending.flatMap(({ sql }) => sql)
  const named = (pattern: RegExp): readonly string[] =>
    statements.flatMap(text => [...text.matchAll(pattern)].map(([, name]) => String(name)))
  return {
    makes: named(MADE),
    changes: Object.values(LOCKS).flatMap(named),
    creates: statements.some(text => CREATES.test(text))
  }
}

/**
 * The check behind `/health/ready`. It rejects with `unavailable` while the database refuses writes, lacks its schema or
 * does not let the service read which migrations were applied.
 */
export const createCheck = ({ probe }: Pick<Driver, 'probe'>, now = () => performance.now()): (() => Promise<void>) => {
  let newest: number | undefined
  const check = async (): Promise<void> => {
    newest ??= newestOf(readMigrations())
    const [row] = await probe(CHECK, []).catch(async (error: unknown) => {
      if (isWithoutTable(error)) return []
      // A table that is locked is there. That it cannot be read for a while does not make the service unready.
      if (isLocked(error)) return (await probe(`select ${READ_ONLY}`, [])).map(([readOnly]) => [readOnly, newest])
      // A privilege that was taken away (42501), or a page that is damaged (XX001).
      throw error instanceof StatementError ? unavailable(error) : error
    })
    if (row?.[0]) throw unavailable(new StatementError('the database takes no writes', '25006'))
    if (!(Number(row?.[1]) >= newest)) throw unavailable(new StatementError('the database lacks its schema', undefined))
  }
  let latest: { readonly begunAt: number; readonly outcome: Promise<void> } | undefined
  return () => {
    if (latest === undefined || now() - latest.begunAt > SHARED) {
      const outcome = check().finally(() => {
        if (latest?.outcome === outcome) latest = undefined
      })
      latest = { begunAt: now(), outcome }
    }
    return latest.outcome
  }
}

/**
 * In milliseconds. Who asks within this time of the begin of a check that is under way waits for that one: a check goes
 * before every other statement, and a thousand of them would leave no connection to others. One that hangs holds nobody
 * up for longer.
 */
const SHARED = 1000

const READ_ONLY = `pg_is_in_recovery() or current_setting('transaction_read_only')::boolean`
const CHECK = `select ${READ_ONLY}, max(created_at)::int8 from ${APPLIED}`

/**
 * The last migration that was applied. Every other encoding lacks characters that occur in names (22P05), or does not know
 * where a character ends (SQL_ASCII).
 */
const requireUtf8 = async (run: Run): Promise<number> => {
  const { encoding, last } = await readApplied(run)
  if (encoding === 'UTF8') return last
  throw new UnfitDatabaseError(
    `the encoding of the database is ${encoding}, but must be UTF8: create a database with \`encoding 'UTF8'\``
  )
}

/**
 * The migrations as drizzle-kit writes them, but for the schema `public`, which it writes in references alone: every table is
 * in the first schema of the search path.
 */
const readMigrations = () =>
  readMigrationFiles({ migrationsFolder: folder() }).map(migration => ({
    ...migration,
    sql: migration.sql.map(text => text.replaceAll('"public".', ''))
  }))

const newestOf = (migrations: ReturnType<typeof readMigrations>): number =>
  Math.max(...migrations.map(({ folderMillis }) => folderMillis))

const NEVER = -1

const ENCODING = `select current_setting('server_encoding')`

/**
 * The encoding of the database, and when the last migration that was applied was made. Outside transactions only: the error
 * of a database without the table would end one. It is one statement, because the embedded engine takes 60 ms at its start
 * to ask the catalog for the table first.
 */
const readApplied = async (run: Run): Promise<{ readonly encoding: string; readonly last: number }> => {
  const statement = `${ENCODING}, coalesce(max(created_at), ${NEVER}) from ${APPLIED}`
  const [row] = await run(statement, []).catch((error: unknown) => {
    if (isWithoutTable(error)) return run(`${ENCODING}, ${NEVER}`, [])
    throw error
  })
  return { encoding: String(row?.[0]), last: Number(row?.[1]) }
}

/** True for 42P01, no such table: no migration was ever applied. */
const isWithoutTable = (error: unknown): boolean => error instanceof StatementError && error.code === '42P01'

/** As of this statement, in a transaction that has waited for the lock. */
const lastAppliedNow = async (run: Run): Promise<number> => {
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
