import { type AccountUseCases, createAccountUseCases } from './account.js'
import { type AuthorizeUseCases, createAuthorizeUseCases } from './authorize.js'
import { type BearerUseCases, createBearerUseCases } from './bearer.js'
import { type ClientAuthentication, createClientAuthentication } from './client-authentication.js'
import { type ClientUseCases, createClientUseCases } from './clients.js'
import { createTokenUseCases, type TokenUseCases } from './grant-types.js'
import { createHeroUseCases, type HeroUseCases } from './heroes.js'
import { createHousekeepingUseCases, type HousekeepingUseCases } from './housekeeping.js'
import { createImportUseCases, type ImportUseCases } from './import.js'
import { createLogin } from './login.js'
import { type PolicyChanges, policyWith } from './policy.js'
import type { Ports } from './ports.js'
import { createRevocationUseCases, type RevocationUseCases } from './revocation.js'
import { createScopeTextUseCases, type ScopeTextUseCases } from './scope-texts.js'
import { createThrottle } from './throttle.js'
import { createUserUseCases, type UserUseCases } from './users.js'

/** Everything that the core can do. */
export type UseCases = HeroUseCases &
  UserUseCases &
  ClientAuthentication &
  ClientUseCases &
  ImportUseCases &
  ScopeTextUseCases &
  AuthorizeUseCases &
  TokenUseCases &
  BearerUseCases &
  RevocationUseCases &
  HousekeepingUseCases &
  AccountUseCases

/**
 * All use cases. What `changes` leaves out, or has as undefined, is as in {@link defaultPolicy}. Throws a RangeError that
 * names the key for a value that is no finite number. Besides the errors that its docstring names, each use case may throw
 * `unavailable`, and `invalid_input` for what is no text where its type has one.
 */
export const createUseCases = (given: Ports, changes: PolicyChanges = {}): UseCases => {
  const policy = policyWith(changes)
  const ports = { ...given, events: given.events ?? { emit: () => {} } }
  const login = createLogin(ports, createThrottle(ports, policy))
  return {
    ...createHeroUseCases(ports),
    ...createUserUseCases(ports, policy),
    ...createClientAuthentication(ports),
    ...createClientUseCases(ports),
    ...createImportUseCases(ports),
    ...createScopeTextUseCases(ports),
    ...createAuthorizeUseCases(ports, policy, login),
    ...createTokenUseCases(ports, policy, login),
    ...createBearerUseCases(ports),
    ...createRevocationUseCases(ports),
    ...createHousekeepingUseCases(ports, policy),
    ...createAccountUseCases(ports, policy, login)
  }
}
