// What every store must pass. Nothing here but Node's own assertions, so that any test runner runs it.

import { attemptContract } from './attempts.js'
import { clientContract } from './clients.js'
import { codeContract } from './codes.js'
import { grantContract } from './grants.js'
import { heroContract } from './heroes.js'
import type { CreateStores, TestFunction } from './records.js'
import { scopeContract } from './scopes.js'
import { tokenContract } from './tokens.js'
import { userContract } from './users.js'

export { type CreateStores, empty, type Stores, type TestFunction } from './records.js'

const CONTRACTS = {
  heroes: heroContract,
  users: userContract,
  clients: clientContract,
  scopes: scopeContract,
  grants: grantContract,
  codes: codeContract,
  tokens: tokenContract,
  attempts: attemptContract
}

/**
 * Declares a test for every promise that core/ports.ts makes of a store, port by port. Each begins with a call of
 * `createStores`, and they are to run one after the other. All are declared before it returns.
 */
export const storeContract = (test: TestFunction, createStores: CreateStores): void => {
  for (const [port, contract] of Object.entries(CONTRACTS)) {
    contract((title, body) => test(`${port}: ${title}`, body), createStores)
  }
}
