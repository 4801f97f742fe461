import { existsSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { PGliteInterface, Transaction } from '@electric-sql/pglite'
import type { Driver, Run } from './driver.js'
import { translate } from './errors.js'
import { lockFolder } from './folder-lock.js'

/** Opens the database in the folder and makes it if need be. Rejects when another process has it. */
export const openFolder = async (folder: string): Promise<Driver> => {
  const absolute = resolve(folder)
  const unlock = await lockFolder(absolute)
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
  const { Engine } = await import('./engine.js')
  if (!existsSync(dataDir)) {
    // Made under another name: a folder that was left half made, by a kill within some 5 ms, never opens again.
    const making = `${dataDir}.new`
    rmSync(making, { recursive: true, force: true })
    await (await started(new Engine(making))).close()
    renameSync(making, dataDir)
  }
  return started(new Engine(dataDir))
}

const started = async (engine: PGliteInterface): Promise<PGliteInterface> => {
  await engine.waitReady
  return engine
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
