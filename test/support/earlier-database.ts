// A database as an earlier version of the service left it.

import { readMigrationFiles } from 'drizzle-orm/migrator'
import postgres from 'postgres'
import type { Test } from 'tap'
import { createDatabase } from './postgres.js'

/** Where earlier versions recorded what they had applied. */
const APPLIED = 'drizzle.__drizzle_migrations'

/** Makes a database with the first migrations alone, so many of them, and a connection of the test's own to it. */
export const createEarlierDatabase = async (
  t: Pick<Test, 'teardown'>,
  count: number
): Promise<{ readonly url: string; readonly sql: postgres.Sql }> => {
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  const sql = postgres(url, { max: 2, onnotice: () => {} })
  t.teardown(() => sql.end())
  const earlier = readMigrationFiles({ migrationsFolder: 'drizzle' }).slice(0, count)
  for (const statement of earlier.flatMap(migration => migration.sql)) await sql.unsafe(statement)
  await sql.unsafe(`create schema drizzle; create table ${APPLIED} (id serial, hash text, created_at bigint)`)
  for (const { hash, folderMillis } of earlier) {
    await sql`insert into ${sql(APPLIED)} (hash, created_at) values (${hash}, ${folderMillis})`
  }
  return { url, sql }
}
