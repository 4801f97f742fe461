// The PostgreSQL server of a run, with the database that databases.ts copies.

import { openServer } from '../../adapters/postgres/database.js'
import { createDatabase, startServer } from './postgres.js'

/**
 * Starts a server, unless TEST_DATABASE_URL names one, and makes the database that `migratedDatabase` copies. Resolves with
 * the variables that tell the suites of both, and with what removes them.
 */
export const openTestServer = async (): Promise<{ env: Record<string, string>; remove(): Promise<void> }> => {
  const given = process.env.TEST_DATABASE_URL
  const server = given ? undefined : await startServer()
  const url = server?.url ?? given
  const template = await createDatabase(url)
  const { migrate, close } = await openServer(template.url)
  await migrate()
  await close()
  return {
    env: { TEST_DATABASE_URL: String(url), TEST_DATABASE_TEMPLATE: new URL(template.url).pathname.slice(1) },
    async remove() {
      await template.drop()
      await server?.remove()
    }
  }
}
