export type { Account, AccountChanges, AccountUseCases } from './account.js'
export type { Authorization, AuthorizationRequest, AuthorizeUseCases } from './authorize.js'
export type { BearerUseCases } from './bearer.js'
export type { ClientAuthentication, ClientCredentials, PresentedCredentials } from './client-authentication.js'
export type { ClientUseCases, NewClient } from './clients.js'
export { DomainError, type ErrorCode, type ErrorDetails, type Fault, type RefusalReason } from './errors.js'
export type { Events, Origin, SecurityEvent } from './events.js'
export { defaultGrantTypes, grantTypes, type TokenUseCases } from './grant-types.js'
export { HERO_NAME_MAX, type HeroPage, type HeroUseCases } from './heroes.js'
export { type HousekeepingUseCases, SPENT_TOKEN_SECONDS } from './housekeeping.js'
export type { ImportOutcome, ImportUseCases, PredecessorUser } from './import.js'
export type { TokenAnswer } from './issuing.js'
export type { LoginAttempt } from './login.js'
export type * from './model.js'
export { defaultPolicy, type Policy, type PolicyChanges } from './policy.js'
export type * from './ports.js'
export { isRedirectUri } from './redirect-uri.js'
/** The refusals of use cases, for a host that describes its endpoints by them. @hidden */
export * as refusals from './refusals.js'
export type { Introspection, RevocationUseCases } from './revocation.js'
export { isScopeToken } from './scope.js'
export type { ScopeTextUseCases } from './scope-texts.js'
export { couldBeIssued, isStorable } from './text.js'
export type { TokenRequest } from './token-request.js'
export { createUseCases, type UseCases } from './use-cases.js'
export {
  type Credentials,
  type NamedUser,
  PASSWORD_MAX,
  USERNAME_MAX,
  type UserPage,
  type UserUseCases
} from './users.js'
