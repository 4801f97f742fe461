import { createCrypto, systemClock } from '../adapters/crypto/crypto.js'
import type {
  CopiedTable,
  CopyOptions,
  Observer as DatabaseObserver,
  Inspection
} from '../adapters/postgres/database.js'
import { createUseCases, DomainError, type Events, type UseCases } from '../core/index.js'
import type { Database, NameIndexLack } from './database.js'
import {
  type DatabaseSettings,
  type LastingDatabase,
  type ServerSettings,
  type Settings,
  UnusableSettingError
} from './settings/settings.js'

/** Is told what happens in the adapters. Must not throw, and must not take long. */
interface Observer extends DatabaseObserver {
  /** Gets the seconds that a password hash has waited for its turn. */
  readonly onHash?: ((waitedSeconds: number) => void) | undefined
}

export interface Composition {
  readonly database: Database
  /** How many password hashes wait for their turn. */
  hashesWaiting(): number
  /** Makes the use cases, which emit what happens to `events`. */
  createUseCases(events?: Events): UseCases
}

/**
 * The composition root: gives the use cases the adapters that the settings name. The caller closes the database.
 * Rejects with an {@link UnusableSettingError} when the embedded database cannot be opened.
 */
export const compose = async (settings: Settings, observer: Observer = {}): Promise<Composition> => {
  const database = await openDatabase(settings.database, observer)
  const { hashConcurrency: concurrency, hashQueue: queue } = settings
  const crypto = createCrypto({ concurrency, queue, onHash: observer.onHash })
  const ports = { ...database.stores, ...crypto, clock: database.clock ?? systemClock }
  // On a server all instances go by one clock, which does not jump: an expired grant may go after a minute.
  const grantRemovalDelaySeconds = settings.database.kind === 'server' ? 60 : undefined
  const policy = { ...settings.policy, grantRemovalDelaySeconds }
  return {
    database,
    hashesWaiting: crypto.passwords.waiting,
    createUseCases: events => createUseCases({ ...ports, events }, policy)
  }
}

/**
 * Repeats work that has waited too long for a connection until each host has had its time: the connection is still being
 * tried.
 */
const afterEveryHost = async <T>(settings: DatabaseSettings, work: () => Promise<T>): Promise<T> => {
  const seconds = settings.kind === 'server' ? settings.hosts.length * settings.connectTimeoutSeconds : 0
  const until = performance.now() + seconds * 1000
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (Object(Object(error).cause).code !== 'CONNECT_TIMEOUT' || performance.now() > until) throw error
    }
  }
}

/** No host of the database can be used at present. */
export class AwayError extends UnusableSettingError {
  /** What is wrong, as in `takes no writes`. */
  readonly fault: string
  /** Whether that may end without anybody's doing. False where a server refuses the service. */
  readonly passes: boolean

  constructor(why: string, reason: DomainError, passes: boolean) {
    super('DATABASE_URL', why, reason)
    this.fault = Object(reason.cause).code === '25006' ? 'takes no writes' : 'cannot be used yet'
    this.passes = passes
  }
}

/** The names of errors with which a server refuses the service for good. */
const REFUSALS: ReadonlySet<unknown> = new Set(['UnfitDatabaseError', 'StatementError'])

/**
 * Applies pending migrations, or with `MIGRATE=false` checks that none is pending. Resolves with what the database lacks
 * and the service can do without. Rejects with an {@link AwayError} when the database server cannot be reached, takes no
 * writes or refuses the service, and with another {@link UnusableSettingError} when it is unfit or lacks a migration.
 */
export const prepareSchema = async (
  { database }: Pick<Composition, 'database'>,
  settings: Settings
): Promise<readonly NameIndexLack[]> => {
  const { migrate, requireSchema } = database
  const preparing = afterEveryHost(settings.database, settings.migrate ? migrate : requireSchema)
  const lack = await preparing.catch(refusing(settings.database))
  return lack === undefined ? [] : [lack]
}

/** Throws what {@link prepareSchema} rejects with, for an error of the database. */
const refusing =
  (settings: DatabaseSettings) =>
  async (error: unknown): Promise<never> => {
    // By name and not by `instanceof`: an import of the class would load the PostgreSQL adapter for every engine.
    const { name, message, cause } = Object(error)
    const isOfDatabase = REFUSALS.has(name) || error instanceof DomainError
    if (settings.kind !== 'server' || !isOfDatabase) throw error
    if (cause?.code === 'PREPARED_STATEMENTS_LOST') {
      throw new UnusableSettingError('DATABASE_PREPARE', `${cause.message}; it must be false then`)
    }
    const why = cause === undefined ? message : `${message}: ${cause.message}`
    const { isRefusal } = await import('../adapters/postgres/database.js')
    if (error instanceof DomainError) throw new AwayError(why, error, !isRefusal(error))
    throw new UnusableSettingError('DATABASE_URL', why, error)
  }

/** The folder, when {@link compose} failed because another process, such as the running service, has its database. */
export const folderInUse = (error: unknown, { database }: Settings): string | undefined =>
  database.kind === 'embedded' && Object(Object(error).reason).name === 'FolderInUseError' ? database.folder : undefined

/**
 * Does once for several workers what {@link prepareSchema} does for one process, and rejects as well when the server
 * allows fewer connections than they may open. A pooler in transaction mode has its own bound, so nothing is said of the
 * server's. Resolves at once when `ended` does.
 */
export const prepareForWorkers = async (
  settings: Settings,
  server: ServerSettings,
  ended: Promise<unknown>
): Promise<void> => {
  const { openServer } = await import('../adapters/postgres/database.js')
  const database = await openServer(server.url, { ...server, pool: 1 })
  const prepare = async (): Promise<void> => {
    await prepareSchema({ database }, settings)
    const { most } = (await database.inspect().catch(refusing(server))).connections
    const { workers } = settings
    if (server.prepare && workers * server.pool > most) {
      throw new UnusableSettingError(
        'WORKERS',
        `${workers} workers with DATABASE_POOL=${server.pool} may open ${workers * server.pool} connections, and the server allows ${most}; lower one of the two`
      )
    }
  }
  try {
    await Promise.race([prepare(), ended])
  } finally {
    await database.close()
  }
}

/**
 * Facts about a database, or why there are none: `absent` where the embedded one is yet to be made, `in use` where
 * another process has it.
 */
export type Inspected = InspectedDatabase | 'absent' | 'in use'

export interface InspectedDatabase extends Inspection {
  /** By how many seconds a server's time is ahead of this machine's; 0 for the embedded database. */
  readonly offsetSeconds: number
}

/**
 * Opens the database, looks at it and closes it. It applies no migration and changes nothing. Rejects with `unavailable`
 * when a server cannot be used, and with an error that names the folder when the embedded database cannot be opened.
 */
export const inspectDatabase = async (settings: LastingDatabase): Promise<Inspected> => {
  const { hasEmbedded, openEmbedded, openServer } = await import('../adapters/postgres/database.js')
  if (settings.kind === 'embedded' && !(await hasEmbedded(settings.folder))) return 'absent'
  const opening = settings.kind === 'server' ? openServer(settings.url, settings) : openEmbedded(settings.folder)
  const database = await opening.catch((error: unknown) => {
    if (Object(error).name === 'FolderInUseError') return undefined
    throw error
  })
  if (database === undefined) return 'in use'
  try {
    const inspection = await database.inspect()
    return { ...inspection, offsetSeconds: database.clock?.offsetSeconds() ?? 0 }
  } finally {
    await database.close()
  }
}

/** Looks at each of several hosts by itself, whatever it is good for. None where there are no several hosts. */
export const inspectHosts = async (settings: LastingDatabase): Promise<readonly PromiseSettledResult<Inspected>[]> => {
  if (settings.kind === 'embedded' || settings.hosts.length === 1) return []
  return Promise.allSettled(settings.hosts.map(host => inspectDatabase({ ...settings, hosts: [host], target: 'any' })))
}

/** Whether an embedded database lies in the folder. Rejects with an {@link UnusableSettingError} when it cannot be read. */
export const hasEmbeddedDatabase = async (folder: string): Promise<boolean> => {
  const { hasEmbedded } = await import('../adapters/postgres/database.js')
  return hasEmbedded(folder).catch(refuseFolder)
}

const refuseFolder = (error: unknown): never => {
  throw new UnusableSettingError('DATA_DIR', Object(error).message, error)
}

/** Makes an embedded database of a tar that `backup` gave. Rejects when the folder has a database, or the tar has none. */
export const restoreDatabase = async (folder: string, backup: Blob): Promise<void> => {
  const { restoreEmbedded } = await import('../adapters/postgres/database.js')
  return restoreEmbedded(folder, backup).catch(refuseFolder)
}

/**
 * Copies everything but attempts, with the ids, from the database of the settings into an empty one, and resolves with the
 * number of rows of each table. Rejects as {@link prepareSchema} does, and when the target is not empty or is the source.
 */
export const copyDatabase = async (
  settings: Settings & { readonly database: LastingDatabase },
  target: LastingDatabase,
  options: CopyOptions
): Promise<readonly CopiedTable[]> => {
  const database = await openLasting(settings.database, {})
  try {
    await prepareSchema({ database }, settings)
    return await database.copyTo(target, options)
  } finally {
    await database.close()
  }
}

const openDatabase = async (settings: DatabaseSettings, observer: Observer): Promise<Database> => {
  if (settings.kind !== 'memory') return openLasting(settings, observer)
  const { createMemoryStores } = await import('../adapters/memory/stores.js')
  const nothing = async (): Promise<undefined> => undefined
  return {
    stores: createMemoryStores(),
    clock: undefined,
    isSlowSearch: undefined,
    backup: undefined,
    connections: () => undefined,
    migrate: nothing,
    requireSchema: nothing,
    check: nothing,
    close: nothing
  }
}

// Imported when the settings name it, so that no start loads an adapter that it does not use.
const openLasting = async (settings: LastingDatabase, observer: Observer) => {
  const { openEmbedded, openServer } = await import('../adapters/postgres/database.js')
  if (settings.kind === 'server') return openServer(settings.url, { ...settings, ...observer })
  return openEmbedded(settings.folder, observer).catch(refuseFolder)
}
