import { isClientId } from './client-authentication.js'
import { DomainError } from './errors.js'
import { secondsAfter } from './instants.js'
import { newGrant } from './issuing.js'
import { emitLogin, type Login, type LoginAttempt } from './login.js'
import type { Client } from './model.js'
import type { Policy } from './policy.js'
import type { AllPorts } from './ports.js'
import { canRedirectTo, isSameRedirect } from './redirect-uri.js'
import {
  accessDenied,
  missingClient,
  noRedirectUri,
  otherRedirectUri,
  unknownClient,
  unnamedRedirectUri
} from './refusals.js'
import { grantScopes, parseScope } from './scope.js'
import { requireStrings } from './text.js'

/** The authorization request of RFC 6749 section 4.1.1 with the parameters of RFC 7636, unchecked. */
export interface AuthorizationRequest {
  readonly clientId?: string | undefined
  readonly redirectUri?: string | undefined
  readonly responseType?: string | undefined
  /** `response_mode` of OAuth 2.0 Multiple Response Type Encoding Practices. */
  readonly responseMode?: string | undefined
  readonly state?: string | undefined
  readonly scope?: string | undefined
  readonly codeChallenge?: string | undefined
  readonly codeChallengeMethod?: string | undefined
  /** What the caller's own log calls the request. The core does not read it: what a caller puts around the use case may. */
  readonly requestId?: string | undefined
}

/** An authorization request that {@link AuthorizeUseCases.judgeRequest} has accepted. */
export interface Authorization {
  readonly client: Client
  /** The scopes that a login grants. */
  readonly scopes: readonly string[]
  /** The `redirect_uri` of the request, when it had one. */
  readonly redirectUri: string | undefined
  /** RFC 7636's S256 `code_challenge`, when the request had one. */
  readonly challenge: string | undefined
}

/** What a login page does (RFC 6749 section 4.1). */
export interface AuthorizeUseCases {
  /**
   * The client, and the URI to which the browser is sent back. Throws `invalid_request` when the client is unknown or
   * has no redirect URI, and when the request names another URI, or none where the client has several: then the browser
   * must not be redirected (RFC 6749 section 4.1.2.1).
   */
  resolveRedirect(request: AuthorizationRequest): Promise<{ readonly client: Client; readonly redirectUri: string }>
  /**
   * What a login would grant. Throws `unauthorized_client`, `unsupported_response_type`, `invalid_request` or
   * `invalid_scope`: the redirect tells the client about these errors.
   */
  judgeRequest(client: Client, request: AuthorizationRequest): Authorization
  /**
   * Logs the user in and returns a new code. Throws `access_denied` for every kind of failed login, `too_many_attempts`
   * and `overloaded`.
   */
  authorize(authorization: Authorization, attempt: LoginAttempt): Promise<string>
}

export const createAuthorizeUseCases = (
  { clients, codes, secrets, clock, events }: AllPorts,
  policy: Policy,
  login: Login
): AuthorizeUseCases => ({
  async resolveRedirect(request) {
    const { clientId, redirectUri } = requireStrings(request)
    if (clientId === undefined) throw missingClient()
    const client = isClientId(clientId) ? await clients.find(clientId) : undefined
    if (client === undefined) throw unknownClient()
    const registered = client.redirectUris.filter(canRedirectTo)
    const [first, ...others] = registered
    if (first === undefined) throw noRedirectUri()
    if (redirectUri === undefined) {
      if (others.length === 0) return { client, redirectUri: first }
      throw unnamedRedirectUri()
    }
    if (!registered.some(uri => isSameRedirect(redirectUri, uri))) throw otherRedirectUri()
    return { client, redirectUri }
  },

  judgeRequest: judge,

  async authorize({ client, scopes, redirectUri, challenge }, attempt) {
    const user = await login.admit(client.id, attempt, await login.find(attempt))
    if (user !== undefined) {
      const secret = await secrets.random()
      const now = clock.now()
      const code = {
        digest: await secrets.digest(secret),
        grant: await newGrant(user, client, scopes, now, secrets, policy),
        redirectUri,
        challenge,
        issuedAt: now,
        expiresAt: secondsAfter(now, policy.codeSeconds)
      }
      const begun = await codes.insert(code, user.generation)
      emitLogin(events, begun, user, code.grant, attempt)
      if (begun) return secret
    }
    throw accessDenied()
  }
})

const invalid = (message: string): DomainError => new DomainError('invalid_request', message)

/** RFC 7636 section 4.2: base64url of 32 bytes without padding. */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/

const judge = (client: Client, request: AuthorizationRequest): Authorization => {
  const { redirectUri, responseType, responseMode, state, scope, codeChallenge, codeChallengeMethod } =
    requireStrings(request)
  if (!client.grantTypes.includes('authorization_code')) {
    throw new DomainError('unauthorized_client', 'the client is not allowed the grant authorization_code')
  }
  if (responseType === undefined) throw invalid('response_type is missing: it must be code')
  if (responseType !== 'code') throw new DomainError('unsupported_response_type', 'response_type must be code')
  if (responseMode !== undefined && responseMode !== 'query')
    throw invalid('response_mode must be query, or be left out')
  if (state === undefined && client.requireState)
    throw invalid('state is missing: send a text of your choice, which comes back unchanged')
  if (state === undefined && codeChallenge === undefined)
    throw invalid('state and code_challenge are missing: send one of the two')
  // For hosts without a bound of their own: app/http refuses 4,096 bytes before.
  if (state !== undefined && state.length > 4096)
    throw invalid('state is longer than 4096 characters: send a shorter one')
  if (codeChallenge === undefined) {
    if (codeChallengeMethod !== undefined)
      throw invalid('code_challenge is missing: send one, or no code_challenge_method')
    if (client.requirePkce) throw invalid('the client must send a code_challenge, with the method S256')
  } else {
    if (codeChallengeMethod !== 'S256') throw invalid('code_challenge_method must be S256')
    if (!CHALLENGE.test(codeChallenge))
      throw invalid('code_challenge is malformed: send the 43 characters of base64url of a SHA-256')
  }
  const scopes = grantScopes(parseScope(scope), client.allowedScopes)
  return { client, scopes, redirectUri, challenge: codeChallenge }
}
