import { chmodSync, existsSync, lstatSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The embedded database's folder cannot be used as it is. The message names it and says what to do. */
export class FolderError extends Error {
  override readonly name: string = 'FolderError'
}

/** What a folder of PostgreSQL always has. Its empty folders are the first to be lost, by whatever copies files alone. */
const PARTS = [
  'PG_VERSION',
  'base',
  'global',
  'global/pg_control',
  'global/pg_filenode.map',
  'pg_commit_ts',
  'pg_dynshmem',
  'pg_hba.conf',
  'pg_ident.conf',
  'pg_logical',
  'pg_logical/mappings',
  'pg_logical/snapshots',
  'pg_multixact',
  'pg_multixact/members',
  'pg_multixact/offsets',
  'pg_notify',
  'pg_replslot',
  'pg_serial',
  'pg_snapshots',
  'pg_stat',
  'pg_stat_tmp',
  'pg_subtrans',
  'pg_tblspc',
  'pg_twophase',
  'pg_wal',
  'pg_xact',
  'postgresql.conf'
]

export const REPAIR = 'restore it whole from a backup, or move it away to start with an empty database'

/**
 * Whether a database lies there; from then on it is its owner's alone to read and write. False when nothing at all does. Throws a
 * {@link FolderError} for anything else, and leaves that as it is; an empty folder too, which may be where a volume is missing.
 */
export const isCluster = (path: string): boolean => {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return false
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw new FolderError(`${path} is no folder; ${REPAIR}`)
  if (readdirSync(path).length === 0) {
    throw new FolderError(
      `the folder ${path} is empty; restore it from a backup, or remove it to start with an empty database`
    )
  }
  const missing = PARTS.filter(part => !existsSync(join(path, part)))
  if (missing.length > 0) {
    throw new FolderError(`the folder ${path} is no whole database, as it lacks ${missing.join(', ')}; ${REPAIR}`)
  }
  chmodSync(path, 0o700)
  return true
}
