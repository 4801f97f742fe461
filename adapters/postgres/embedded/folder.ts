import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  type Stats,
  statSync
} from 'node:fs'
import { dirname, join } from 'node:path'

/** The embedded database's folder cannot be used as it is. The message names it and says what to do. */
export class FolderError extends Error {
  override readonly name: string = 'FolderError'
}

export class FolderInUseError extends FolderError {
  override readonly name = 'FolderInUseError'

  constructor(folder: string) {
    super(
      `the folder ${folder} is in use by another process: the embedded database serves one at a time; stop the service, or wait for the command, that uses it`
    )
  }
}

/** Windows lacks O_NOFOLLOW. */
const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW = 0 } = constants

/**
 * Locks the folder for this process, and makes the folder if it does not exist. Resolves with the function that frees
 * the lock. Rejects with a {@link FolderInUseError} when another process has the lock, and with a {@link FolderError} where
 * somebody else could have put something into the folder.
 *
 * The kernel binds the lock to the open file and frees it when the process ends, however it ends: OFD on Linux, flock
 * on macOS, LockFileEx on Windows. The lock holds between containers that share a volume, and it leaves nothing to
 * clean up.
 */
export const lockFolder = async (folder: string, caller = process.geteuid?.()): Promise<() => void> => {
  const { tryLock } = await import('fs-native-extensions')
  makeFolder(folder)
  requireOwn(folder, statSync(folder), caller)
  for (const name of ['lock', 'socket', 'postgres', 'postgres.new']) {
    const path = join(folder, name)
    requireOwn(path, lstatSync(path, { throwIfNoEntry: false }), caller)
  }
  const path = join(folder, 'lock')
  // A bare descriptor, because the garbage collector closes a FileHandle, which would free the lock.
  const file = openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600)
  try {
    // It may have been put there since.
    requireOwn(path, fstatSync(file), caller)
    // Any user who can read the file could hold the lock.
    fchmodSync(file, 0o600)
    if (!tryLock(file)) throw new FolderInUseError(folder)
  } catch (error) {
    closeSync(file)
    throw error
  }
  return () => closeSync(file)
}

/**
 * Throws a {@link FolderError} for a symbolic link, and for what belongs to neither the caller nor root: whoever owns it
 * could read what the service stores, hold the lock, or answer in the service's place.
 */
const requireOwn = (path: string, stats: Stats | undefined, caller: number | undefined): void => {
  if (stats?.isSymbolicLink()) throw new FolderError(`${path} is a symbolic link, and none is followed; remove it`)
  // On Windows every id is 0.
  if (stats === undefined || stats.uid === 0 || stats.uid === caller) return
  throw new FolderError(`${path} belongs to another user, of the id ${stats.uid}; run this as that user`)
}

/**
 * Makes a folder and those above it, where they are missing. The `recursive` of Node tries for ever where a file system
 * makes no folders and says that the one above is missing, as /proc does.
 */
const makeFolder = (folder: string): void => {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (existsSync(folder)) return
    const above = dirname(folder)
    // A drive that is missing, on Windows, is its own parent.
    if (existsSync(above) || above === folder) throw error
    makeFolder(above)
    makeFolder(folder)
  }
}

/**
 * The parts that every data folder of PostgreSQL has. Its empty folders are the first to be lost, when a tool copies
 * files alone.
 */
const PARTS =
  `PG_VERSION base global global/pg_control global/pg_filenode.map pg_commit_ts pg_dynshmem pg_hba.conf pg_ident.conf
  pg_logical pg_logical/mappings pg_logical/snapshots pg_multixact pg_multixact/members pg_multixact/offsets pg_notify
  pg_replslot pg_serial pg_snapshots pg_stat pg_stat_tmp pg_subtrans pg_tblspc pg_twophase pg_wal pg_xact
  postgresql.conf`.split(/\s+/)

export const REPAIR = 'move it away, and restore a backup or start with an empty database'

/**
 * True when a database lies at `path`; its mode is then set so that only its owner can read and write it. False when
 * nothing lies there. Throws a {@link FolderError} for anything else and changes nothing. An empty folder is refused
 * too, because it may be the place of a missing volume.
 */
export const isCluster = (path: string): boolean => {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return false
  if (!stats.isDirectory()) throw new FolderError(`${path} is no folder; ${REPAIR}`)
  if (readdirSync(path).length === 0) throw new FolderError(`the folder ${path} is empty; ${REPAIR}`)
  const missing = PARTS.filter(part => !existsSync(join(path, part)))
  if (missing.length > 0) {
    throw new FolderError(`the folder ${path} is no whole database, as it lacks ${missing.join(', ')}; ${REPAIR}`)
  }
  chmodSync(path, 0o700)
  return true
}
