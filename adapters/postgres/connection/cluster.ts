import { chmodSync, existsSync, lstatSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The embedded database's folder cannot be used as it is. The message names it and says what to do. */
export class FolderError extends Error {
  override readonly name: string = 'FolderError'
}

/**
 * The parts that every data folder of PostgreSQL has. Its empty folders are the first to be lost, when a tool copies
 * files alone.
 */
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
 * True when a database lies at `path`; its mode is then set so that only its owner can read and write it. False when
 * nothing lies there. Throws a {@link FolderError} for anything else and changes nothing. An empty folder is refused
 * too, because it may be the place of a missing volume.
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
