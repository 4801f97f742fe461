import { DrizzleQueryError, type GetColumnData, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { drizzle } from 'drizzle-orm/pg-proxy'
import type { Run } from '../connection/driver.js'

/** Drizzle's query builder over any {@link Run}. */
export const builder = (run: Run) => drizzle(async (text, values) => ({ rows: await run(text, values) }))

export type Builder = ReturnType<typeof builder>

/**
 * The column as a result, cast to the type that the schema gives it. PostgreSQL ends a prepared statement whose result type
 * changed (0A000): with the cast, a migration that changes a column's type is no event for those who read it.
 */
export const typed = <Column extends PgColumn>(column: Column): SQL<GetColumnData<Column>> => {
  const cast = sql<GetColumnData<Column>>`${column}::${sql.raw(column.getSQLType())}`
  cast.mapWith(column)
  return cast
}

export interface Prepared<Result> {
  execute(values?: Record<string, unknown>): Promise<Result>
}

export const prepared =
  <Result>(statement: Prepared<Result>): ((values: Record<string, unknown>) => Promise<Result>) =>
  values =>
    plain(statement.execute(values))

/** Without Drizzle's own error around what the driver rejected with: its message carries the values. */
export const plain = async <Result>(running: PromiseLike<Result>): Promise<Result> => {
  try {
    return await running
  } catch (error) {
    throw error instanceof DrizzleQueryError ? error.cause : error
  }
}
