import { createCrypto, systemClock } from 'heroes/adapters/crypto'
import { createMemoryStores } from 'heroes/adapters/memory'
import { createUseCases, type UseCases } from 'heroes/core'
import { type Answer, type Asked, createEndpoints } from './endpoints.js'

export interface Heroes {
  readonly answer: (asked: Asked) => Promise<Answer>
  /** Closes the database, if there is one. */
  close(): Promise<void>
}

/** The endpoints over a PostgreSQL server, or over memory when there is no URL. */
export const openHeroes = async (databaseUrl?: string | undefined): Promise<Heroes> => {
  const rest = { ...createCrypto(), clock: systemClock }
  if (databaseUrl === undefined) return openOn(createUseCases({ ...createMemoryStores(), ...rest }))
  // Imported when it is needed: the core, the stores in memory and the hashes need no driver.
  const { openServer } = await import('heroes/adapters/postgres')
  const { stores, migrate, close } = await openServer(databaseUrl)
  await migrate()
  return openOn(createUseCases({ ...stores, ...rest }), close)
}

const openOn = async (heroes: UseCases, close = async () => {}): Promise<Heroes> => {
  const known = (await heroes.listClients()).find(({ id }) => id === 'host')
  const client = known ?? (await heroes.addClient({ id: 'host' })).client
  return { answer: createEndpoints(heroes, client), close }
}
