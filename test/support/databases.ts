// Databases of a test's own that have the tables. They are copies of one that test-server.ts makes: to create a database and
// migrate it takes three times the processor time of a copy.

import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import root, { type Test } from 'tap'

let administration: postgres.Sql | undefined

/** Runs a statement on a connection that the tests of this process share. */
const administrate = (statement: string): Promise<unknown> => {
  if (administration === undefined) {
    const opened = postgres(String(process.env.TEST_DATABASE_URL), { max: 1, onnotice: () => {} })
    root.teardown(() => opened.end())
    administration = opened
  }
  return administration.unsafe(statement)
}

/** Makes a database with the tables, which are empty. It is dropped when the test ends. Resolves with its URL. */
export const migratedDatabase = async (t: Pick<Test, 'teardown'>): Promise<string> => {
  const { TEST_DATABASE_URL: serverUrl, TEST_DATABASE_TEMPLATE: template } = process.env
  if (!serverUrl || !template) throw new Error('there is no test server: run the suite with npm test -- <file>')
  const name = `heroes_${randomBytes(8).toString('hex')}`
  await administrate(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`)
  t.teardown(() => administrate(`DROP DATABASE ${name} WITH (FORCE)`))
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}
