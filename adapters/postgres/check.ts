import type { Driver } from './connection/driver.js'
import { isLocked, StatementError, unavailable } from './connection/errors.js'
import { ABSENT, RECORD, readMigrations, TABLES } from './migrations.js'
import { listOf } from './sql.js'

/**
 * The check behind `/health/ready`. It rejects with `unavailable` while the database refuses writes, lacks its schema or
 * does not let the service read which migrations were applied.
 */
export const createCheck = ({ probe }: Pick<Driver, 'probe'>, now = () => performance.now()): (() => Promise<void>) => {
  let hashes: string | undefined
  const check = async (): Promise<void> => {
    hashes ??= listOf(readMigrations().map(({ hash }) => hash))
    const tables = TABLES.join()
    const [row = []] = await probe(CHECK, [tables, hashes]).catch(async (error: unknown) => {
      const { code } = Object(error)
      if (code === '42P01') return probe(`select ${HAS_TABLES}, true`, [tables])
      // A table that is locked is there. That it cannot be read for a while does not make the service unready.
      if (isLocked(error)) return probe(`select ${HAS_TABLES}, false`, [tables])
      // A privilege that was taken away (42501), or a page that is damaged (XX001).
      throw error instanceof StatementError ? unavailable(error) : error
    })
    const [readOnly, searchPath, absent, isPending] = row
    if (readOnly === true) throw unavailable(new StatementError('the database takes no writes', '25006'))
    if (isPending === false && absent === '') return
    const message = `the database lacks its schema, or a part of it (the search path is ${searchPath})`
    throw unavailable(new StatementError(message))
  }
  let latest: { readonly begunAt: number; readonly outcome: Promise<void> } | undefined
  return () => {
    if (latest === undefined || now() - latest.begunAt > SHARED_MILLISECONDS) {
      const outcome = check().finally(() => {
        if (latest?.outcome === outcome) latest = undefined
      })
      latest = { begunAt: now(), outcome }
    }
    return latest.outcome
  }
}

/**
 * For so long after its begin, a check that is under way serves all who ask. A check goes before every other statement, and a
 * thousand of them would leave no connection to others. One that hangs holds nobody up for longer.
 */
const SHARED_MILLISECONDS = 1000

const HAS_TABLES = `
  pg_is_in_recovery() or current_setting('transaction_read_only')::boolean, current_setting('search_path'), ${ABSENT}`
const CHECK = `select ${HAS_TABLES}, exists (select unnest($2::text[]) except select hash from ${RECORD})`
