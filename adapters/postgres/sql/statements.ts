import { DrizzleQueryError } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/pg-proxy'
import type { Run } from '../connection/driver.js'

/** Drizzle's query builder over any {@link Run}. */
export const builder = (run: Run) => drizzle(async (text, values) => ({ rows: await run(text, values) }))

export interface Prepared<Result> {
  execute(values?: Record<string, unknown>): Promise<Result>
}

export const prepared =
  <Result>(statement: Prepared<Result>): ((values: Record<string, unknown>) => Promise<Result>) =>
  values =>
    withDriverErrors(statement.execute(values))

/** Rejects with the driver's error instead of Drizzle's, whose message contains the values of the statement. */
export const withDriverErrors = async <Result>(running: PromiseLike<Result>): Promise<Result> => {
  try {
    return await running
  } catch (error) {
    throw error instanceof DrizzleQueryError ? error.cause : error
  }
}
