import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { PGliteInterface, Transaction } from '@electric-sql/pglite'
import { FolderError, isCluster, REPAIR } from './cluster.js'
import type { Driver, Run } from './driver.js'
import { translate } from './errors.js'
import { lockFolder } from './folder-lock.js'

/**
 * Opens the database in the folder and makes it if there is none. Rejects with a {@link FolderError} when another process has
 * it, when what lies there is no whole database, and when the folder does not let itself be read or written.
 */
export const openFolder = async (folder: string): Promise<Driver> => {
  const absolute = resolve(folder)
  const unlock = await usable(absolute, () => lockFolder(absolute))
  try {
    const engine = await openEngine(join(absolute, 'postgres'))
    const run = runOn(engine)
    return {
      read: run,
      write: run,
      transaction: (_name, work) => translated(() => engine.transaction(transaction => work(runOn(transaction)))),
      async close() {
        await engine.close()
        unlock()
      }
    }
  } catch (error) {
    unlock()
    throw error
  }
}

const openEngine = async (dataDir: string): Promise<PGliteInterface> => {
  const { startEngine } = await import('./engine.js')
  if (!(await usable(dataDir, async () => isCluster(dataDir)))) await make(dataDir)
  return orFolderError(
    () => startEngine(dataDir),
    reason => `the database in ${dataDir} cannot be opened: ${reason}; make that good, or ${REPAIR}`
  )
}

const make = async (dataDir: string): Promise<void> => {
  const { startEngine } = await import('./engine.js')
  // Made under another name: a folder that was left half made, by a kill within some 5 ms, never opens again.
  const making = `${dataDir}.new`
  await orFolderError(
    async () => {
      try {
        rmSync(making, { recursive: true, force: true })
        // Its files are everybody's to write, whatever the umask: the folder alone keeps others out.
        mkdirSync(making, { mode: 0o700 })
        await (await startEngine(making)).close()
        renameSync(making, dataDir)
      } catch (error) {
        rmSync(making, { recursive: true, force: true })
        throw error
      }
    },
    reason => `a database cannot be made in ${dataDir}: ${reason}`
  )
}

const usable = <T>(path: string, work: () => Promise<T>): Promise<T> =>
  orFolderError(work, reason => `the folder ${path} cannot be used: ${reason}`)

const orFolderError = async <T>(work: () => Promise<T>, describe: (reason: string) => string): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    throw error instanceof FolderError ? error : new FolderError(describe(String(Object(error).message)))
  }
}

const runOn =
  (engine: PGliteInterface | Transaction): Run =>
  async (text, values) =>
    (await translated(() => engine.query<unknown[]>(text, [...values], { rowMode: 'array' }))).rows

const translated = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    throw translate(error)
  }
}
