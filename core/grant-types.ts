import { createClientCredentialsGrant } from './client-credentials-grant.js'
import { createCodeGrant } from './code-grant.js'
import { DomainError } from './errors.js'
import { aboutGrant, originAlone } from './events.js'
import type { TokenAnswer } from './issuing.js'
import type { Login } from './login.js'
import type { Client } from './model.js'
import { createPasswordGrant } from './password-grant.js'
import type { Policy } from './policy.js'
import type { AllPorts } from './ports.js'
import { createRefreshGrant } from './refresh-grant.js'
import { otherGrantType, unsupportedGrantType } from './refusals.js'
import { requireStrings } from './text.js'
import { type GrantHandler, requireParameter, type TokenRequest } from './token-request.js'

/** Every value of `grant_type` with its handler. The token endpoint and the metadata have no other list of grant types. */
const GRANT_TYPES: Readonly<Record<string, (ports: AllPorts, policy: Policy, login: Login) => GrantHandler<unknown>>> =
  {
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
   * Serves the token request of an authenticated client, by its `grantType`. While a promise of the client is pending, what
   * the request names is looked up. Throws `unsupported_grant_type`, `invalid_request`, `invalid_grant`, `invalid_scope`,
   * `unauthorized_client`, `too_many_attempts`, `overloaded`, `invalid_client` when the client was removed meanwhile, and
   * what the promise of the client rejects with.
   */
  issueToken(client: Client | Promise<Client>, request: TokenRequest): Promise<TokenAnswer>
}

export const createTokenUseCases = (ports: AllPorts, policy: Policy, login: Login): TokenUseCases => {
  const handlers = new Map(Object.entries(GRANT_TYPES).map(([type, create]) => [type, create(ports, policy, login)]))
  return {
    async issueToken(authentication, request) {
      // Nobody waits for the client where the request has a value that is no text. Its refusal must not end the process then.
      Promise.resolve(authentication).catch(() => {})
      requireStrings(request)
      const handler = handlers.get(request.grantType ?? '')
      const [client, found] = await Promise.all([authentication, handler?.find(request)])
      try {
        const grantType = requireParameter('grant_type', request.grantType)
        if (handler === undefined) throw unsupportedGrantType(grantTypes)
        if (!client.grantTypes.includes(grantType)) throw otherGrantType()
        return await handler.issue(client, request, found)
      } catch (error) {
        if (error instanceof DomainError && error.refusal !== undefined) {
          const { reason, grant } = error.refusal
          const about =
            grant === undefined ? { client: client.id, ...originAlone(request) } : aboutGrant(grant, request)
          ports.events.emit({ event: 'token.refused', ...about, reason })
        }
        throw error
      }
    }
  }
}
