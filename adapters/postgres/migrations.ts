import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { getTableName, is } from 'drizzle-orm'
import { getTableConfig, PgTable } from 'drizzle-orm/pg-core'
import type { Driver, Run } from './connection/driver.js'
import { isTooSlow } from './connection/errors.js'
import { ADVISORY_LOCKS } from './long-writes.js'
import * as schemaFile from './schema.js'
import { listOf } from './sql.js'

/** The record of the migrations that were applied: a table of the service's own, in the schema that it uses. */
export const RECORD = 'heroes_migration'

/** What a row of the record begins with, in place of a hash, while a copy into the database is not whole (copy.ts). */
export const COPY_MARK = 'copy '

/** Every table of the schema, so that none can be forgotten. */
const DECLARED = Object.values(schemaFile).filter(each => is(each, PgTable))
export const TABLES = DECLARED.map(getTableName).sort()

/** Every index of the schema, those of keys among them. */
export const INDEXES = DECLARED.map(getTableConfig).flatMap(({ name, columns, indexes }) => [
  `${name}_pkey`,
  ...columns.flatMap(({ isUnique, uniqueName }) => (isUnique ? String(uniqueName) : [])),
  ...indexes.map(({ config }) => String(config.name))
])

/** The database can be reached, but the service cannot use it. The message says what to do. */
export class UnfitDatabaseError extends Error {
  override readonly name = 'UnfitDatabaseError'
}

/**
 * Applies pending migrations, all or none, and takes over what earlier versions have applied. When several instances call
 * it at once, one of them does it and the others wait. Rejects with an {@link UnfitDatabaseError} when the database's
 * encoding cannot store every text, a table is not where it should be, or a copy into the database is not whole.
 */
export const migrate = async ({ query, transaction }: Driver): Promise<void> => {
  const before = requireUtf8(await readState(query))
  if (before.recorded && before.pending.length === 0) return requireWhole(before)
  await transaction({ name: 'migrate', patient: true }, async run => {
    await run('select pg_advisory_xact_lock($1)', [ADVISORY_LOCKS.migrations])
    const { recorded, applied, pending, searchPath } = await readState(run)
    if (!recorded) {
      await makeSchema(run, searchPath)
      await run(`create table ${RECORD} (hash text primary key, applied_at timestamptz not null default now())`, [])
      await record(run, applied)
    }
    await lockTables(run, pending)
    for (const migration of pending) {
      for (const statement of migration.statements) await run(statement, [])
      await record(run, [migration])
    }
    requireWhole(await readState(run))
  })
}

const record = (run: Run, migrations: readonly Migration[]): Promise<unknown> =>
  run(`insert into ${RECORD} (hash) select unnest($1::text[])`, [listOf(migrations.map(({ hash }) => hash))])

/** Makes the first schema of the search path where none of it is there. Elsewhere no right to make one is asked for. */
const makeSchema = async (run: Run, searchPath: string): Promise<void> => {
  const [[present] = []] = await run('select current_schema()', [])
  const first = searchPath.replace(/^\s*("(?:[^"]|"")*"|[^,]*).*/s, '$1')
  // PostgreSQL reads the ASCII letters of a name without quotes as small ones.
  const name = first.startsWith('"') ? first : `"${first.replace(/[A-Z]/g, letter => letter.toLowerCase())}"`
  // `"$user"` stands for a schema of the role's name.
  if (present === null) await run(`create schema ${name === '"$user"' ? 'authorization current_user' : name}`, [])
}

/**
 * How long a migration waits for the tables that it changes, and as long for those that get an index. Whoever needs one of
 * them waits behind it, and gives up after half a second (`lock_timeout`).
 */
const ATTEMPT_MILLISECONDS = 150
/** How long others may go on before the next attempt. */
const PAUSE_SECONDS = 1
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
 * a long transaction, such as that of `pg_dump`. Rejects with the error of the last attempt (57014) after some ten minutes.
 */
export const lockTables = async (run: Run, migrations: readonly Pick<Migration, 'statements'>[]): Promise<void> => {
  const rows = await run('select tablename::text from pg_tables where schemaname = current_schema()', [])
  const locks = Object.entries(LOCKS).flatMap(([mode, pattern]) => {
    const changed = named(migrations, pattern)
    const tables = rows.map(([name]) => String(name)).filter(name => changed.includes(name))
    return tables.length > 0 ? [`lock table ${tables.map(name => `"${name}"`).join()} in ${mode} mode`] : []
  })
  const [[limit] = []] = await run(`select current_setting('statement_timeout')`, [])
  await run('savepoint unlocked', [])
  let locked = false
  for (let left = ATTEMPTS; !locked; left -= 1) {
    try {
      await run(`set local statement_timeout = ${ATTEMPT_MILLISECONDS}`, [])
      for (const lock of locks) await run(lock, [])
      await run(`select set_config('statement_timeout', $1, true)`, [String(limit)])
      locked = true
    } catch (error) {
      if (left === 1 || !isTooSlow(error)) throw error
      await run('rollback to savepoint unlocked', [])
      await run(`select pg_sleep(${PAUSE_SECONDS})`, [])
    }
  }
}

/**
 * Rejects with an {@link UnfitDatabaseError} when a migration is pending, a table is not there, the encoding cannot store
 * every text, or a copy into the database is not whole.
 */
export const requireSchema = async ({ query }: Driver): Promise<void> => {
  const state = requireUtf8(await readState(query))
  if (state.recorded && state.pending.length === 0) return requireWhole(state)
  const what = state.applied.length === 0 ? 'lacks its schema' : 'has a schema of an earlier version'
  throw new UnfitDatabaseError(
    `the database ${what}; run \`npx heroes migrate\`, or leave MIGRATE unset (the search path is ${state.searchPath})`
  )
}

/** What the database has of the service. */
type State = Awaited<ReturnType<typeof readState>>

/** The tables of $1 that are not in the search path. */
export const ABSENT = `array_to_string(array(
  select name from unnest(string_to_array($1, ',')) as name where to_regclass(quote_ident(name)) is null
), ',')`

// `from pg_database` matters: a statement that reads no table does not look for new commits, and `to_regclass` may answer
// as of before the wait for the advisory lock.
const STATE = `
select pg_encoding_to_char(encoding), current_setting('search_path'), to_regclass('${RECORD}') is not null, ${ABSENT}
from pg_database where datname = current_database()`

/** Where earlier versions recorded migrations, as every Drizzle application does unless told otherwise. */
const SHARED = 'drizzle.__drizzle_migrations'

/** Finds {@link SHARED} if it is there and may be read. */
const FIND_SHARED = `
select from pg_attribute join pg_class c on c.oid = attrelid join pg_namespace n on n.oid = relnamespace
where nspname || '.' || relname = '${SHARED}' and attname = 'hash'
  and has_schema_privilege(n.oid, 'usage') and has_column_privilege(c.oid, attnum, 'select')`

export const readState = async (run: Run) => {
  const [[encoding, searchPath, recorded, names] = []] = await run(STATE, [TABLES.join()])
  const notThere = String(names).split(',').filter(Boolean)
  const from = recorded === true ? RECORD : (await run(FIND_SHARED, [])).length > 0 && SHARED
  const recordedRows = from === false ? [] : (await run(`select hash from ${from}`, [])).flat().map(String)
  const hashes = recordedRows.filter(row => !row.startsWith(COPY_MARK))
  const migrations = readMigrations()
  const known = migrations.filter(({ hash, hashWithCrlf }) => hashes.includes(hash) || hashes.includes(hashWithCrlf))
  // What was recorded may have been applied in another schema of the database.
  const isHere = recorded === true || tablesMadeBy(known).some(name => !notThere.includes(name))
  const applied = isHere ? known : []
  const pending = migrations.filter(migration => !applied.includes(migration))
  return {
    encoding: String(encoding),
    searchPath: String(searchPath),
    // Whether the service's own record is there. If not, `applied` is what earlier versions have recorded.
    recorded: recorded === true,
    applied,
    pending,
    // Whether a later version of the service has applied migrations that this one does not know.
    later: recorded === true && hashes.length > known.length,
    // The tables that are in the search path.
    present: TABLES.filter(name => !notThere.includes(name)),
    // Those that are not, and that no pending migration makes.
    absent: notThere.filter(name => !tablesMadeBy(pending).includes(name)),
    // Whether a copy into the database was begun and is not whole.
    halfCopied: recordedRows.length > hashes.length
  }
}

/** Every other encoding lacks characters that occur in names (22P05), or does not know where a character ends (SQL_ASCII). */
const requireUtf8 = (state: State): State => {
  if (state.encoding === 'UTF8') return state
  throw new UnfitDatabaseError(
    `the encoding of the database is ${state.encoding}, but must be UTF8: create a database with \`encoding 'UTF8'\``
  )
}

const requireWhole = ({ absent, searchPath, halfCopied }: State): void => {
  if (halfCopied) {
    throw new UnfitDatabaseError(
      'a copy into the database is not whole; `npx heroes copy TARGET --again`, run where it was copied from, begins it anew'
    )
  }
  if (absent.length === 0) return
  throw new UnfitDatabaseError(
    `the database has no table ${absent.join(', ')} in the search path ${searchPath}, although its migrations were applied; correct the search path, or restore them`
  )
}

interface Migration {
  /** SHA-256 of its file, with LF. */
  readonly hash: string
  /** What an earlier version has recorded of a checkout with CRLF. */
  readonly hashWithCrlf: string
  readonly statements: readonly string[]
}

/**
 * The migrations as drizzle-kit writes them, but for the schema `public`, which it writes in references alone: every table is
 * in the first schema of the search path.
 */
export const readMigrations = (): readonly Migration[] => {
  // Found by the name of the package, because the sources and the built files lie at different depths.
  const folder = join(dirname(createRequire(import.meta.url).resolve('heroes/package.json')), 'drizzle')
  const files = readdirSync(folder).filter(name => name.endsWith('.sql'))
  return files.sort().map(name => {
    const text = readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n')
    return {
      hash: hash('sha256', text),
      hashWithCrlf: hash('sha256', text.replaceAll('\n', '\r\n')),
      statements: text.replaceAll('"public".', '').split('--> statement-breakpoint')
    }
  })
}

const named = (migrations: readonly Pick<Migration, 'statements'>[], pattern: RegExp): readonly string[] =>
  migrations.flatMap(({ statements }) => [...statements.join(';').matchAll(pattern)].map(([, name]) => String(name)))

const tablesMadeBy = (migrations: readonly Migration[]): readonly string[] =>
  named(migrations, /\bcreate table "(\w+)"/gi)

/** The tables that migrations change, those that they make among them. */
export const tablesChangedBy = (migrations: readonly Migration[]): readonly string[] =>
  Object.values(LOCKS).flatMap(pattern => named(migrations, pattern))

/** Whether migrations make a table or an index, as a constraint may do too. PostgreSQL asks for `create` on the schema then. */
export const makeAny = (migrations: readonly Migration[]): boolean =>
  named(migrations, /\b(create|unique|primary key)\b/gi).length > 0
