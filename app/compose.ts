import { createCrypto, systemClock } from '../adapters/crypto/crypto.js'
import { createUseCases, DomainError, type Ports, type UseCases } from '../core/index.js'
import { type DatabaseSettings, type Settings, UnusableSettingError } from './settings.js'

/** What the service needs of its database beside the stores. */
export interface Database {
  readonly stores: Pick<Ports, 'heroes' | 'users' | 'clients' | 'grants' | 'codes' | 'tokens' | 'attempts'>
  migrate(): Promise<void>
  /** Rejects when a migration is pending. */
  requireSchema(): Promise<void>
  /** Rejects with `unavailable` while the database cannot be reached, takes no writes or lacks its schema. */
  check(): Promise<void>
  /** The database's own clock. Rejects with `unavailable` while it cannot be reached. */
  now(): Promise<Date>
  close(): Promise<void>
}

export interface Composition {
  readonly useCases: UseCases
  readonly database: Database
}

/** The composition root: the use cases over the adapters that the settings name. The caller closes the database. */
export const compose = async (settings: Settings): Promise<Composition> => {
  const database = await openDatabase(settings.database)
  const crypto = createCrypto({ concurrency: settings.hashConcurrency, queue: settings.hashQueue })
  const useCases = createUseCases({ ...database.stores, ...crypto, clock: systemClock }, settings.policy)
  return { useCases, database }
}

/** Brings the schema up to date, or finds that it is. Rejects where the database cannot be used, and names the setting. */
export const prepare = async ({ database }: Composition, settings: Settings): Promise<void> => {
  try {
    await (settings.migrate ? database.migrate() : database.requireSchema())
  } catch (error) {
    const { name, message, cause } = Object(error)
    if (settings.database.kind !== 'server' || (name !== 'UnfitDatabaseError' && !(error instanceof DomainError)))
      throw error
    throw new UnusableSettingError('DATABASE_URL', cause === undefined ? message : `${message}: ${cause.message}`)
  }
}

// Imported when needed: no start pays for an engine that it does not use.
const openDatabase = async (settings: DatabaseSettings): Promise<Database> => {
  switch (settings.kind) {
    case 'memory': {
      const { createMemoryStores } = await import('../adapters/memory/stores.js')
      const done = async (): Promise<void> => {}
      const now = async (): Promise<Date> => new Date()
      return { stores: createMemoryStores(), migrate: done, requireSchema: done, check: done, now, close: done }
    }
    case 'embedded': {
      const { openEmbedded } = await import('../adapters/postgres/database.js')
      return openEmbedded(settings.folder).catch((error: unknown) => {
        throw new UnusableSettingError('DATA_DIR', Object(error).message)
      })
    }
    case 'server': {
      const { openServer } = await import('../adapters/postgres/database.js')
      return openServer(settings.url, settings)
    }
  }
}
