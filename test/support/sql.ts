// Statements of a test's own on a database of the server.

import postgres from 'postgres'
import type { Test } from 'tap'

/** Runs a statement as a superuser. The connection ends with the test. Resolves with the rows, each a list of values. */
export const openSql = (t: Pick<Test, 'teardown'>, url: string): ((text: string) => Promise<unknown[][]>) => {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  t.teardown(() => sql.end())
  return async text => [...(await sql.unsafe(text).values())]
}
