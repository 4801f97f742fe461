import type { Stores } from '../../core/ports.js'
import { createAttemptStore } from './attempts.js'
import { createClientStore } from './clients.js'
import { createCodeStore } from './codes.js'
import { createGrantStore } from './grants.js'
import { createHeroStore } from './heroes.js'
import { createScopeStore } from './scopes.js'
import { createTables } from './tables.js'
import { createTokenStore } from './tokens.js'
import { createUserStore } from './users.js'

export type { Stores }

/**
 * All stores, empty, in the memory of this process. Every method but `heroes.list` and `grants.removeExpired` is atomic,
 * because it does its work before it returns its promise, in one turn of the event loop. These two take several turns where
 * there is much, and a long list is no snapshot.
 */
export const createMemoryStores = (): Stores => {
  const tables = createTables()
  return {
    heroes: createHeroStore(),
    users: createUserStore(tables),
    clients: createClientStore(tables),
    scopes: createScopeStore(),
    grants: createGrantStore(tables),
    codes: createCodeStore(tables),
    tokens: createTokenStore(tables),
    attempts: createAttemptStore()
  }
}
