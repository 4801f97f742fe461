import { randomUUID } from 'node:crypto'
import { getTableColumns, getTableName } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import type { Driver, Run } from './connection/driver.js'
import { LIMITS } from './connection/limits.js'
import { ADVISORY_LOCKS } from './long-writes.js'
import { COPY_MARK, migrate, RECORD, readState, TABLES } from './migrations.js'
import { makeNameIndex } from './name-index.js'
import { clients, codes, grants, heroes, knownLogins, scopes, tokens, users } from './schema.js'
import { readAll, requested, selection } from './sql.js'

/** What is copied, each table behind those that it refers to. Attempts are not: they are counts of some minutes. */
const COPIED: readonly PgTable[] = [scopes, heroes, users, clients, grants, codes, tokens, knownLogins]

/** How many rows are read and stored together. */
const BATCH = 1000

/** How many rows of a table were copied. */
export interface CopiedTable {
  readonly table: string
  readonly rows: number
}

/** What a copy does with a target, and whom it tells how far it is. */
export interface CopyOptions {
  /** Empties a target in which a copy is not whole, in place of refusing it. */
  readonly again: boolean
  /** Gets after each batch how many rows of its table are there. */
  readonly onBatch: (copied: CopiedTable) => void
}

/**
 * Copies every row but attempts into the target, with the ids, and migrates the target before. What is copied is the state
 * of one instant. Until all of it is there the target carries a mark, with which {@link migrate} and `requireSchema`
 * refuse it. Rejects when the target is the source, has rows, or carries a mark, and when a later version has migrated the
 * source; then nothing changes.
 */
export const copyAll = (source: Driver, target: Driver, options: CopyOptions): Promise<readonly CopiedTable[]> => {
  let copied: readonly CopiedTable[] | undefined
  const copy = async (read: Run) => {
    // Before the first query: later the level cannot be changed.
    await read('set transaction isolation level repeatable read, read only', [])
    // Nothing is read while the target stores a batch.
    await read('set local idle_in_transaction_session_timeout = 0', [])
    await read(`select pg_advisory_xact_lock_shared(${PLACE})`, [])
    // It may have columns that this version would leave behind.
    if ((await readState(read)).later) throw new Error('a later version has migrated the source: copy it with that one')
    const mark = COPY_MARK + randomUUID()
    await prepare(target, mark, options.again).catch(because('the target cannot be used'))
    const copying = copyRows(read, target, mark, options)
    copied = await copying.catch(because('the copy is not whole, and --again begins it anew'))
    return copied
  }
  const ended = source.transaction({ name: 'copy', patient: true, milliseconds: LIMITS.copy }, copy)
  // Once all is copied, nothing depends on how the source's transaction ends, which has only read.
  return ended.catch((error: unknown) => copied ?? Promise.reject(error))
}

const because =
  (what: string) =>
  (error: unknown): never => {
    const { message, cause } = Object(error)
    throw new Error([what, message, Object(cause).message].filter(text => text !== undefined).join(': '))
  }

const patiently = <T>(target: Driver, work: (run: Run) => Promise<T>): Promise<T> =>
  target.transaction({ name: 'copy', patient: true }, work)

/** An advisory lock of a database's schema. A copy holds it in its source, and in its target while it looks for rows there. */
const PLACE = `hashtextextended(coalesce(current_schema()::text, ''), ${ADVISORY_LOCKS.copy})`

const prepare = async (target: Driver, mark: string, again: boolean): Promise<void> => {
  await patiently(target, run => makeEmpty(run, again))
  await migrate(target)
  // While there are no heroes yet, it takes no time.
  if (target.connections) await makeNameIndex(target)
  await patiently(target, async run => {
    // Of copies that begin at once in one target, the first that comes here goes on.
    await makeEmpty(run, false)
    await run(`insert into ${RECORD} (hash) values ($1)`, [mark])
  })
}

/** Rejects unless the target is empty, or is emptied because a copy into it is not whole. */
const makeEmpty = async (run: Run, again: boolean): Promise<void> => {
  const [[isElsewhere] = []] = await run(`select pg_try_advisory_xact_lock(${PLACE})`, [])
  if (isElsewhere !== true) throw new Error('it is the source, or another copy is about to begin in it')
  const { halfCopied, present } = await readState(run)
  const tables = present.map(name => `"${name}"`)
  if (halfCopied) {
    if (!again) throw new Error('it has a copy that is not whole; --again empties it and begins anew')
    await run(`truncate ${tables.join()} restart identity`, [])
    await run(`delete from ${RECORD} where starts_with(hash, $1)`, [COPY_MARK])
  }
  for (const table of tables) {
    const found = await run(`select from ${table} limit 1`, [])
    if (found.length > 0) throw new Error(`it is not empty, as the table ${table} has rows`)
  }
}

const copyRows = async (read: Run, target: Driver, mark: string, { onBatch }: CopyOptions) => {
  const copied: CopiedTable[] = []
  for (const table of COPIED) copied.push(await copyTable(read, target, table, onBatch))
  const finish = patiently(target, async run => {
    // Until autovacuum comes by, statements would be planned for tables without rows.
    await run(`analyze ${TABLES.map(name => `"${name}"`).join()}`, [])
    return (await run(`delete from ${RECORD} where hash = $1 returning true`, [mark])).length > 0
  })
  const isWhole = await finish.catch(async (error: unknown) => {
    // Where the connection was lost, the target knows whether this had an effect.
    if ((await target.query(`select from ${RECORD} where starts_with(hash, $1)`, [COPY_MARK])).length > 0) throw error
    return true
  })
  if (!isWhole) throw new Error('another copy into the target has begun meanwhile')
  return copied
}

const copyTable = async (read: Run, target: Driver, table: PgTable, onBatch: CopyOptions['onBatch']) => {
  const name = getTableName(table)
  const columns = getTableColumns(table)
  const selected = selection(columns)
  const { names, values, from, lists } = requested(columns)
  // Each cursor has a name of its own: under one name, a prepared `fetch` would change its result type (0A000).
  await read(`declare "copy_${name}" no scroll cursor for select ${selected.text} from "${name}"`, [])
  const insert = `insert into "${name}" (${names}) overriding system value select ${values} from ${from}`
  let rows = 0
  for (;;) {
    const batch = readAll(selected, await read(`fetch ${BATCH} from "copy_${name}"`, []))
    if (batch.length === 0) break
    await patiently(target, run => run(insert, lists(batch)))
    rows += batch.length
    onBatch({ table: name, rows })
  }
  for (const column of Object.values(columns)) {
    if (column.generatedIdentity !== undefined) await copySequence(read, target, [`"${name}"`, column.name])
  }
  return { table: name, rows }
}

/** The next id is that of the source: the ids of removed rows are never given out again. */
const copySequence = async (read: Run, target: Driver, place: readonly [table: string, column: string]) => {
  const [[sequence] = []] = await read('select pg_get_serial_sequence($1, $2)', place)
  const [[last, isUsed] = []] = await read(`select last_value::text, is_called from ${sequence}`, [])
  const set = 'select setval(pg_get_serial_sequence($1, $2)::regclass, $3::text::int8, $4)'
  await target.query(set, [...place, String(last), isUsed === true])
}
