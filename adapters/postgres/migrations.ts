import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import type { Driver, Run } from './driver.js'

/** Where Drizzle itself keeps what was applied: `drizzle-kit migrate` goes on where this stopped. */
const APPLIED = 'drizzle.__drizzle_migrations'

/** Of no meaning but for being the same in every instance. */
const LOCK = 4_372_061_958

/** Applies what is pending, all or nothing. Of any number of instances at once one does so, and the others wait for it. */
export const migrate = async ({ write, transaction }: Driver): Promise<void> => {
  const migrations = readMigrationFiles({ migrationsFolder: folder() })
  const newest = Math.max(...migrations.map(({ folderMillis }) => folderMillis))
  if ((await lastApplied(write)) >= newest) return
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
