import { accessSync, constants, lstatSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Transaction } from '@electric-sql/pglite'
import { type Driver, type Observer, parseInstant, type Run } from '../connection/driver.js'
import { StatementError, translate, unavailable } from '../connection/errors.js'
import type { Engine } from './engine.js'
import { FolderError, isCluster, lockFolder, REPAIR } from './folder.js'

/** 1184: `timestamptz`. */
const OPTIONS = { rowMode: 'array', parsers: { 1184: parseInstant } } as const

/**
 * Opens the database in the folder, or makes one if there is none. Rejects with a {@link FolderError} when another
 * process uses the folder, when the database in it is not whole, and when the folder cannot be read or written.
 * `onStatement` gets the seconds that a statement took.
 */
export const openFolder = async (folder: string, onStatement?: Observer['onStatement']): Promise<Driver> => {
  const absolute = resolve(folder)
  const unlock = await orUnusable(absolute, () => lockFolder(absolute))
  try {
    const { current, end } = await openEngine(join(absolute, 'postgres'))
    const runOn =
      (engine: Engine, on: Engine | Transaction = engine): Run =>
      async (text, values) => {
        const sentAt = performance.now()
        const sent = translated(engine, () => on.query<unknown[]>(text, [...values], OPTIONS))
        const { rows } = await sent.finally(() => onStatement?.((performance.now() - sentAt) / 1000))
        return rows
      }
    const run: Run = async (text, values) => runOn(await current())(text, values)
    // After a failure the next turn tries again.
    const timer = setInterval(() => Promise.allSettled([shortenLog(run)]), LOG_MILLISECONDS).unref()
    return {
      connections: undefined,
      clock: undefined,
      lookUp: run,
      query: run,
      probe: run,
      async transaction(_, work) {
        const engine = await current()
        return translated(engine, () => engine.transaction(transaction => work(runOn(engine, transaction))))
      },
      async backup() {
        const engine = await current()
        // No statement runs meanwhile. The tar is as the files after a crash, so all that was acknowledged is in it.
        return (await translated(engine, () => engine.dumpDataDir('none'))).stream()
      },
      async close() {
        clearInterval(timer)
        await end().finally(unlock)
      }
    }
  } catch (error) {
    unlock()
    throw error
  }
}

/**
 * Makes a database in the folder of a tar that `backup` gave. Rejects with a {@link FolderError} when the folder has a
 * database, or cannot be used, and when the tar holds none; no database is made then.
 */
export const restoreEmbedded = async (folder: string, backup: Blob): Promise<void> => {
  // Each tar has that word there. PGlite takes any other file for a compressed tar, and ends the process when it is none.
  if ((await backup.slice(257, 262).text()) !== 'ustar') throw new FolderError('the backup is no tar')
  const absolute = resolve(folder)
  const unlock = await orUnusable(absolute, () => lockFolder(absolute))
  try {
    const dataDir = join(absolute, 'postgres')
    if (isThere(dataDir)) {
      throw new FolderError(`the folder ${absolute} has a database already: move it away, or name another folder`)
    }
    await make(dataDir, backup)
  } finally {
    unlock()
  }
}

const LOG_MILLISECONDS = 30_000

/** Whether the write-ahead log has more than a segment, 16 MB, behind the latest checkpoint. */
const LOG_IS_LONG = `
  select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn) > 16777216 from pg_control_checkpoint()`

/**
 * The engine has no process beside it that makes checkpoints, as a server has. Without them the log would grow for as long
 * as the engine runs, by a kilobyte for each write, and the start after a crash would read all of it.
 */
const shortenLog = async (run: Run): Promise<void> => {
  const [[isLong] = []] = await run(LOG_IS_LONG, [])
  if (isLong === true) await run('checkpoint', [])
}

/**
 * Whether there is a database in the folder, whole or not. Changes nothing. Rejects with a {@link FolderError} when that
 * cannot be told, and when nothing lies there and nothing can be made there.
 */
export const hasEmbedded = (folder: string): Promise<boolean> => {
  const absolute = resolve(folder)
  return orUnusable(absolute, async () => {
    if (isThere(join(absolute, 'postgres'))) return true
    let nearest = absolute
    // A drive that is missing, on Windows, is its own parent.
    while (!isThere(nearest) && nearest !== dirname(nearest)) nearest = dirname(nearest)
    // Follows links: one that leads nowhere is refused.
    accessSync(nearest, constants.W_OK | constants.X_OK)
    return false
  })
}

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined

/** The next call starts a crashed engine again. After a failed start, calls are refused for this time before the next try. */
const RESTART_MILLISECONDS = 1000

const openEngine = async (dataDir: string) => {
  const { startEngine } = await import('./engine.js')
  if (!(await orUnusable(dataDir, async () => isCluster(dataDir)))) await make(dataDir)
  const open = (): Promise<Engine> =>
    orFolderError(
      () => startEngine(dataDir),
      reason => `the database in ${dataDir} cannot be opened: ${reason}; correct that, or ${REPAIR}`
    )
  let engine = await open()
  let restarting: Promise<Engine> | undefined
  const restart = async (): Promise<Engine> => {
    try {
      engine = await open()
      restarting = undefined
      return engine
    } catch (error) {
      setTimeout(() => {
        restarting = undefined
      }, RESTART_MILLISECONDS).unref()
      throw unavailable(new StatementError(messageOf(error)))
    }
  }
  return {
    async current(): Promise<Engine> {
      if (!engine.crashed) return engine
      restarting ??= restart()
      return restarting
    },
    async end(): Promise<void> {
      await restarting?.catch(() => {})
      if (!engine.crashed) await engine.close()
    }
  }
}

const make = async (dataDir: string, backup?: Blob): Promise<void> => {
  const { startEngine } = await import('./engine.js')
  // The database is made under another name and renamed when it is whole. A folder that is left half made, by a kill
  // within some 5 ms, never opens again.
  const making = `${dataDir}.new`
  await orFolderError(
    async () => {
      try {
        rmSync(making, { recursive: true, force: true })
        // Whatever the umask, everybody may write the engine's files: the mode of the folder alone keeps other users out.
        mkdirSync(making, { mode: 0o700 })
        await (await startEngine(making, backup)).close()
        isCluster(making)
        renameSync(making, dataDir)
      } catch (error) {
        rmSync(making, { recursive: true, force: true })
        throw error
      }
    },
    reason => `a database cannot be made in ${dataDir}: ${reason}`
  )
}

const orUnusable = <T>(path: string, work: () => Promise<T>): Promise<T> =>
  orFolderError(work, reason => `the folder ${path} cannot be used: ${reason}`)

const orFolderError = async <T>(work: () => Promise<T>, describe: (reason: string) => string): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    throw error instanceof FolderError ? error : new FolderError(describe(messageOf(error)))
  }
}

const messageOf = (error: unknown): string => String(Object(error).message)

/** After a crash the error is `unavailable`, because the statement may have taken effect or not. */
const translated = async <T>(engine: Engine, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    throw engine.crashed ? unavailable(new StatementError('the embedded database has crashed')) : translate(error)
  }
}
