import { closeSync, fchmodSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
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
 * Takes the folder for this process and makes it if need be; what comes back gives it free. Throws {@link FolderInUseError}.
 *
 * The kernel keeps the lock with the open file and frees it with the process, however that ends: OFD on Linux, flock on
 * macOS, LockFileEx on Windows. It holds between containers that share a volume, and leaves nothing to clean up.
 */
export const lockFolder = async (folder: string): Promise<() => void> => {
  const { tryLock } = await import('fs-native-extensions')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // A bare descriptor: a FileHandle is closed, and the lock gone, once the garbage collector finds it.
  const file = openSync(join(folder, 'lock'), 'a+', 0o600)
  try {
    // Whoever can read the file could hold the lock.
    fchmodSync(file, 0o600)
    if (!tryLock(file)) throw new FolderInUseError(folder)
  } catch (error) {
    closeSync(file)
    throw error
  }
  return () => closeSync(file)
}
