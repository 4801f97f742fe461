import { DomainError, type ErrorCode, type Fault, type RefusalReason } from './errors.js'
import type { Grant } from './model.js'

// The refusals that a host shows when it describes its endpoints. What an authorization request is refused with by
// redirect, and what an operator is, stands where it is thrown.

export const refusal = (code: ErrorCode, message: string) => (): DomainError => new DomainError(code, message)
/** Of a token request of an authenticated client, whose grant is told where it has one. */
const tokenRefusal =
  (reason: RefusalReason, message: string, code: ErrorCode = 'invalid_grant') =>
  (grant?: Grant): DomainError =>
    new DomainError(code, message, { refusal: { reason, grant } })
const scopeRefusal = (message: string) => tokenRefusal('scope', message, 'invalid_scope')
const grantTypeRefusal = (message: string) => tokenRefusal('grant_type', message, 'unauthorized_client')
/** Of a link or a form, which a page tells of. */
export const faultyLink = (fault: Fault, message: string) => (): DomainError =>
  new DomainError('invalid_request', message, { fault })
/** What may succeed a second later, or after the seconds that are given. */
export const tryLater =
  (code: ErrorCode, message: string) =>
  (retryAfterSeconds = 1, cause?: unknown): DomainError =>
    new DomainError(code, message, { retryAfterSeconds, cause })

// Texts

export const noText = (what: string): DomainError => new DomainError('invalid_input', `${what} must be a text`)
export const unstorableText = (field: string): DomainError =>
  new DomainError('invalid_input', `${field} holds a NUL or a lone surrogate: leave it out`)
export const textOfOtherLength = (field: string, min: number, max: number): DomainError =>
  new DomainError('invalid_input', `${field} must have ${min} to ${max} characters`)

// Heroes and users

export const noSuchHero = refusal('not_found', 'no hero has this id: send that of a hero in the list')
export const nameTaken = refusal('conflict', 'a hero with this name exists: choose another name')
export const usernameTaken = refusal('conflict', 'a user with this username exists: choose another username')
export const tooManyRegistrations = tryLater(
  'too_many_attempts',
  'too many users were registered from this address: wait before the next'
)
export const tooManyLogins = tryLater('too_many_attempts', 'too many logins were tried: wait before the next')

// Bearer tokens (RFC 6750)

export const tokenRequired = refusal(
  'token_required',
  'an access token is required: get one at the token endpoint, and send it in the Authorization header, behind Bearer'
)
export const invalidToken = refusal('invalid_token', 'the access token is unknown, expired or revoked: get a new one')
export const tokenOfNoUser = refusal('insufficient_scope', 'the access token is of no user: log a user in for one')
export const insufficientScope = (requiredScope: string): DomainError =>
  new DomainError('insufficient_scope', 'the access token lacks the scope for this: get one that has the scope', {
    requiredScope
  })

// Clients

export const unauthenticated = refusal(
  'invalid_client',
  'the client must authenticate: send its id and secret by HTTP Basic or in the form'
)
export const malformedCredentials = refusal(
  'invalid_client',
  'the Basic credentials are malformed: send the base64 of the id, a colon and the secret, in UTF-8'
)
export const invalidClient = refusal(
  'invalid_client',
  'the client is unknown or its secret is wrong: send the id and secret of a client by HTTP Basic or in the form'
)
export const clientGone = refusal(
  'invalid_client',
  'the client was removed meanwhile: send the id and secret of a registered one'
)

// The token endpoint (RFC 6749 section 5.2), revocation and introspection

export const missingParameter = (name: string): DomainError =>
  new DomainError('invalid_request', `${name} is missing: send it`)
export const unsupportedGrantType = (grantTypes: readonly string[]): DomainError =>
  tokenRefusal('grant_type', `grant_type must be one of ${grantTypes.join(', ')}`, 'unsupported_grant_type')()
export const otherGrantType = grantTypeRefusal('the client is not allowed this grant_type: send one that it was given')
export const publicForItself = grantTypeRefusal('a public client cannot get a token for itself: log a user in')
/** At the account page and the login page, which answer people. */
export const accessDenied = refusal('access_denied', 'the username or the password is wrong')
export const wrongCredentials = refusal('invalid_grant', 'the username or the password is wrong: check both')
/** A code that is unknown and one of another client have one text, and so have refresh tokens. */
export const codeRefusals = {
  unknown: tokenRefusal('unknown', 'the code is unknown: log in for a new one'),
  otherClient: tokenRefusal('other_client', 'the code is unknown: log in for a new one'),
  expired: tokenRefusal('expired', 'the code has expired: log in for a new one, and exchange it at once'),
  used: tokenRefusal('used', 'the code was used before: log in for a new one'),
  ended: tokenRefusal('ended', 'the login that gave the code was ended: log in for a new one'),
  redirectUri: tokenRefusal(
    'redirect_uri',
    'redirect_uri differs from that of the authorization request: send the same, and log in for a new code'
  ),
  verifierMissing: tokenRefusal(
    'verifier',
    'code_verifier is missing: log in for a new code, and send what its code_challenge was made of'
  ),
  verifierUnasked: tokenRefusal(
    'verifier',
    'the authorization request had no code_challenge: log in for a new code, and send it without code_verifier'
  ),
  verifier: tokenRefusal(
    'verifier',
    'code_verifier does not match the code_challenge of the authorization request: send the one it was made of, and log in for a new code'
  ),
  scope: scopeRefusal(
    'the client is allowed none of the granted scopes any more: request others, and log in for a new code'
  )
}
export const publicRefresh = grantTypeRefusal('a public client has no refresh tokens: log in again')
export const refreshRefusals = {
  unknown: tokenRefusal('unknown', 'the refresh token is unknown: log in again'),
  otherClient: tokenRefusal('other_client', 'the refresh token is unknown: log in again'),
  expired: tokenRefusal('expired', 'the refresh token has expired: log in again'),
  used: tokenRefusal('used', 'the refresh token was used before, so its login was ended: log in again'),
  ended: tokenRefusal('ended', 'the login of the refresh token was ended: log in again'),
  scope: scopeRefusal('the client is allowed none of the granted scopes any more: log in again, and request others')
}
export const scopeMalformed = scopeRefusal(
  'the scope is malformed: send names of printable ASCII without quotes and backslashes, with spaces between them'
)
export const scopeTooLong = scopeRefusal('a scope has at most 100 parts and 4096 characters')
export const scopeNotAllowed = scopeRefusal(
  'the client is allowed none of the requested scopes: request others, or none'
)
export const scopeBeyondGrant = scopeRefusal('the scope goes beyond what was granted: request less, or leave scope out')
export const tokenOfAnother = refusal('invalid_grant', 'the token was issued to another client: send one of your own')
export const publicIntrospection = refusal(
  'unauthorized_client',
  'a public client may not introspect: use one that has a secret'
)

// Authorization requests of which the client cannot be told by a redirect

export const missingClient = faultyLink('missing_client', 'client_id is missing: send the id of the application')
export const unknownClient = faultyLink('unknown_client', 'the application is not known here')
export const noRedirectUri = faultyLink('no_redirect_uri', 'the application has no address to return to')
export const unnamedRedirectUri = faultyLink(
  'unnamed_redirect_uri',
  'the application registered several addresses, and the request does not say to which of them to return'
)
export const otherRedirectUri = faultyLink(
  'other_redirect_uri',
  'the address to return to is none that the application registered'
)

// What ports reject with, and what a service refuses with while it ends

export const databaseAway = tryLater('unavailable', 'the database cannot be reached')
export const tooManyHashes = tryLater('overloaded', 'too many passwords are waiting to be hashed')
export const shuttingDown = tryLater('unavailable', 'the service is shutting down')
