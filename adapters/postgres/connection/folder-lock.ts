import { closeSync, existsSync, fchmodSync, mkdirSync, openSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { FolderError } from './cluster.js'

export class FolderInUseError extends FolderError {
  override readonly name = 'FolderInUseError'

  constructor(folder: string) {
    super(
      `the folder ${folder} is in use by another process: the embedded database serves one at a time; stop the service first`
    )
  }
}

/**
 * Locks the folder for this process, and makes the folder if it does not exist. Resolves with the function that frees
 * the lock. Rejects with a {@link FolderInUseError} when another process has the lock.
 *
 * The kernel binds the lock to the open file and frees it when the process ends, however it ends: OFD on Linux, flock
 * on macOS, LockFileEx on Windows. The lock holds between containers that share a volume, and it leaves nothing to
 * clean up.
 */
export const lockFolder = async (folder: string): Promise<() => void> => {
  const { tryLock } = await import('fs-native-extensions')
  makeFolder(folder)
  // A bare descriptor, because the garbage collector closes a FileHandle, which would free the lock.
  const file = openSync(join(folder, 'lock'), 'a+', 0o600)
  try {
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
