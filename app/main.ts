import { createCrypto, systemClock } from '../adapters/crypto/crypto.js'
import { createUseCases, type Ports, type UseCases } from '../core/index.js'
import { type DatabaseSettings, type Settings, UnusableSettingError } from './settings.js'

/** What the service needs of its database beside the stores. */
export interface Database {
  readonly stores: Pick<Ports, 'heroes' | 'users' | 'clients' | 'codes' | 'tokens' | 'attempts'>
  migrate(): Promise<void>
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

// Imported when needed: no start pays for an engine that it does not use.
const openDatabase = async (settings: DatabaseSettings): Promise<Database> => {
  switch (settings.kind) {
    case 'memory': {
      const { createMemoryStores } = await import('../adapters/memory/stores.js')
      return {
        stores: createMemoryStores(),
        migrate: async () => {},
        now: async () => new Date(),
        close: async () => {}
      }
    }
    case 'embedded': {
      const { FolderError, openEmbedded } = await import('../adapters/postgres/database.js')
      try {
        return await openEmbedded(settings.folder)
      } catch (error) {
        throw error instanceof FolderError ? new UnusableSettingError('DATA_DIR', error.message) : error
      }
    }
    case 'server': {
      const { openServer } = await import('../adapters/postgres/database.js')
      return openServer(settings.url, settings)
    }
  }
}
