import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import type { Driver, Run } from './connection/driver.js'
import { isLocked, StatementError, unavailable } from './connection/errors.js'

/** Where Drizzle itself keeps what was applied: `drizzle-kit migrate` goes on where this stopped. */
const APPLIED = 'drizzle.__drizzle_migrations'

/** Of no meaning but for being the same in every instance. */
const LOCK = 4_372_061_958

/** The database is there, and none that the service can use. The message says what to do. */
export class UnfitDatabaseError extends Error {
  override readonly name = 'UnfitDatabaseError'
}

/**
 * Applies what is pending, all or nothing. Of any number of instances at once one does so, and the others wait for it. Rejects with an {@link UnfitDatabaseError}
 * where the schema could be made but not every text be stored.
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
      for (const { folderMillis, hash, sql } of migrations) {
        if (folderMillis <= last) continue
        for (const statement of sql) await run(statement, [])
        await run(`insert into ${APPLIED} (hash, created_at) values ($1, $2)`, [hash, folderMillis])
      }
    },
    { patient: true }
  )
}

/** Rejects with an {@link UnfitDatabaseError} where {@link migrate} would have something to do, or could not do it. */
export const requireSchema = async ({ write }: Driver): Promise<void> => {
  await requireEncoding(write)
  const last = await lastApplied(write)
  if (last >= newestOf(readMigrations())) return
  const what = last === NEVER ? 'lacks its schema' : 'has a schema of an earlier version'
  throw new UnfitDatabaseError(`the database ${what}; run \`heroes migrate\`, or leave MIGRATE unset`)
}

/** What `/health/ready` asks again and again: rejects with `unavailable` while writes are refused or the schema is not there. */
export const createCheck = ({ write }: Driver): (() => Promise<void>) => {
  let newest: number | undefined
  return async () => {
    newest ??= newestOf(readMigrations())
    const [row] = await write(CHECK, []).catch(async (error: unknown) => {
      // 42P01: nothing was ever applied.
      if (error instanceof StatementError && error.code === '42P01') return []
      // Whoever holds the table locked has one: that it cannot be read for a while is no reason to send requests elsewhere.
      if (isLocked(error)) return (await write(`select ${READ_ONLY}`, [])).map(([readOnly]) => [readOnly, newest])
      throw error
    })
    if (row?.[0]) throw unavailable(new StatementError('the database takes no writes', '25006'))
    if (!(Number(row?.[1]) >= newest)) throw unavailable(new StatementError('the database lacks its schema', undefined))
  }
}

const READ_ONLY = `pg_is_in_recovery() or current_setting('transaction_read_only')::boolean`
const CHECK = `select ${READ_ONLY}, max(created_at)::int8 from ${APPLIED}`

/** Every other encoding lacks characters that names have (22P05), or does not know where one ends (SQL_ASCII). */
const requireEncoding = async (run: Run): Promise<void> => {
  const [row] = await run(`select current_setting('server_encoding')`, [])
  const encoding = String(row?.[0])
  if (encoding !== 'UTF8') {
    throw new UnfitDatabaseError(
      `the encoding of the database is ${encoding}, but must be UTF8: make one with \`encoding 'UTF8'\``
    )
  }
}

const readMigrations = () => readMigrationFiles({ migrationsFolder: folder() })

const newestOf = (migrations: ReturnType<typeof readMigrations>): number =>
  Math.max(...migrations.map(({ folderMillis }) => folderMillis))

const NEVER = -1

const lastApplied = async (run: Run): Promise<number> => {
  // Not to_regclass: it may answer from before the lock was waited for, as it reads a cache.
  const [table] = await run("select from pg_tables where schemaname || '.' || tablename = $1", [APPLIED])
  if (table === undefined) return NEVER
  const [row] = await run(`select coalesce(max(created_at), $1) from ${APPLIED}`, [NEVER])
  return Number(row?.[0])
}

// By the package's own name: the sources and what is built of them are not equally deep.
const folder = (): string => join(dirname(createRequire(import.meta.url).resolve('heroes/package.json')), 'drizzle')
