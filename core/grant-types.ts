import type { ClientAuthentication, ClientCredentials } from './client-authentication.js'
import { createClientCredentialsGrant } from './client-credentials-grant.js'
import { createCodeGrant } from './code-grant.js'
import { early } from './early.js'
import { DomainError } from './errors.js'
import type { TokenAnswer } from './issuing.js'
import type { Login } from './login.js'
import type { Client } from './model.js'
import { createPasswordGrant } from './password-grant.js'
import { createPlainRefresh } from './plain-refresh.js'
import type { Policy } from './policy.js'
import type { AllPorts } from './ports.js'
import { createRefreshGrant } from './refresh-grant.js'
import type { RepeatedRefusals } from './repeated-refusals.js'
import { type GrantHandler, requireParameter, type TokenRequest } from './token-request.js'

/**
 * Every value of `grant_type` with its handler. The token endpoint and the metadata have no other list of grant types.
 */
const GRANT_TYPES: Readonly<Record<string, (ports: AllPorts, policy: Policy, login: Login) => GrantHandler>> = {
  authorization_code: createCodeGrant,
  client_credentials: createClientCredentialsGrant,
  password: createPasswordGrant,
  refresh_token: createRefreshGrant
}

/** RFC 8414's `grant_types_supported`. */
export const grantTypes: readonly string[] = Object.keys(GRANT_TYPES)

/** What a client may use that was registered without a word about it: all that needs a user. */
export const defaultGrantTypes: readonly string[] = ['password', 'authorization_code', 'refresh_token']

/** What a token endpoint does (RFC 6749 section 3.2). */
export interface TokenUseCases {
  /**
   * Serves the token request of an authenticated client, by its `grantType`. While `client` is a promise, the code,
   * the refresh token or the user is looked up already, and nothing else is done; its rejection is passed on. Throws
   * `unsupported_grant_type`, `invalid_request`, `invalid_grant`, `invalid_scope`, `unauthorized_client`,
   * `too_many_attempts` and `overloaded`.
   */
  issueToken(client: Client | Promise<Client>, request: TokenRequest): Promise<TokenAnswer>
  /**
   * Authenticates the client as {@link ClientAuthentication.authenticateClient} does, and serves its request as
   * {@link issueToken} does. Most refreshes take one step of the store, and a login that was refused a moment ago with
   * `too_many_attempts` is refused again without any. Throws what the two throw.
   */
  requestToken(candidates: readonly ClientCredentials[], request: TokenRequest): Promise<TokenAnswer>
}

export const createTokenUseCases = (
  ports: AllPorts,
  policy: Policy,
  login: Login,
  { authenticateClient }: ClientAuthentication,
  refusals: RepeatedRefusals
): TokenUseCases => {
  const handlers = new Map(Object.entries(GRANT_TYPES).map(([type, create]) => [type, create(ports, policy, login)]))
  const refreshAtOnce = createPlainRefresh(ports, policy)

  const issue = async (
    given: Client | Promise<Client>,
    request: TokenRequest,
    begunAt: Date,
    wasUnspent = false
  ): Promise<TokenAnswer> => {
    // A value that is no text makes the handler throw, and then nobody waits for the client.
    const authenticated = early(Promise.resolve(given))
    const serve = handlers.get(request.grantType ?? '')?.(request, begunAt, wasUnspent)
    const client = await authenticated
    const grantType = requireParameter('grant_type', request.grantType)
    if (serve === undefined) {
      throw new DomainError('unsupported_grant_type', `grant_type must be one of ${grantTypes.join(', ')}`)
    }
    if (!client.grantTypes.includes(grantType)) {
      throw new DomainError(
        'unauthorized_client',
        'the client is not allowed this grant_type: send one that it was given'
      )
    }
    return serve(client)
  }

  return {
    issueToken: (client, request) => issue(client, request, ports.clock.now()),

    async requestToken(candidates, request) {
      const begunAt = ports.clock.now()
      const { answer, wasUnspent } = await refreshAtOnce(candidates, request, begunAt)
      if (answer !== undefined) return answer
      await refusals.refuseAgain(candidates, request)
      // Not awaited: what the grant type looks up goes to the database together with the client.
      const client = authenticateClient(candidates, request)
      try {
        return await issue(client, request, begunAt, wasUnspent)
      } catch (error) {
        if (isThrottled(error)) await refusals.remember(candidates, request, await client)
        throw error
      }
    }
  }
}

const isThrottled = (error: unknown): boolean => error instanceof DomainError && error.code === 'too_many_attempts'
