import type { ClientAuthentication, PresentedCredentials } from './client-authentication.js'
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

/** Serves a request for one grant type, once the client is authenticated. */
type Serve = (authentication: Promise<Client>, request: TokenRequest) => Promise<TokenAnswer>

const serveWith =
  <Found>({ find, issue }: GrantHandler<Found>): Serve =>
  async (authentication, request) => {
    const [client, found] = await Promise.all([authentication, find(request)])
    if (!client.grantTypes.includes(requireParameter('grant_type', request.grantType))) throw otherGrantType()
    return issue(client, request, found)
  }

/**
 * Every value of `grant_type` with its handler. The token endpoint and the metadata have no other list of grant types.
 */
const GRANT_TYPES: Readonly<Record<string, (ports: AllPorts, policy: Policy, login: Login) => Serve>> = {
  authorization_code: (ports, policy) => serveWith(createCodeGrant(ports, policy)),
  client_credentials: (ports, policy) => serveWith(createClientCredentialsGrant(ports, policy)),
  password: (ports, policy, login) => serveWith(createPasswordGrant(ports, policy, login)),
  refresh_token: (ports, policy) => serveWith(createRefreshGrant(ports, policy))
}

/** RFC 8414's `grant_types_supported`. */
export const grantTypes: readonly string[] = Object.keys(GRANT_TYPES)

/** What a client may use that was registered without a word about it: all that needs a user. */
export const defaultGrantTypes: readonly string[] = ['password', 'authorization_code', 'refresh_token']

/** Why an authenticated client was refused. Undefined for a wrong password, of which the login tells, and for failures. */
const refusalOf = (error: unknown): DomainError['refusal'] => {
  if (!(error instanceof DomainError)) return undefined
  const { code, refusal } = error
  if (code === 'invalid_scope') return refusal ?? { reason: 'scope' }
  if (code === 'unauthorized_client' || code === 'unsupported_grant_type') return { reason: 'grant_type' }
  return refusal
}

/** What a token endpoint does (RFC 6749 section 3.2). */
export interface TokenUseCases {
  /**
   * Serves the token request of an authenticated client, by its `grantType`. Throws `unsupported_grant_type`,
   * `invalid_request`, `invalid_grant`, `invalid_scope`, `unauthorized_client`, `too_many_attempts` and `overloaded`.
   */
  issueToken(client: Client, request: TokenRequest): Promise<TokenAnswer>
  /**
   * Authenticates the client as {@link ClientAuthentication.authenticateClient} does, and serves its request as
   * {@link issueToken} does. Throws what the two throw. What the request names is looked up at the same time.
   */
  requestToken(candidates: PresentedCredentials, request: TokenRequest): Promise<TokenAnswer>
}

export const createTokenUseCases = (
  ports: AllPorts,
  policy: Policy,
  login: Login,
  { authenticateClient }: ClientAuthentication
): TokenUseCases => {
  const handlers = new Map(Object.entries(GRANT_TYPES).map(([type, create]) => [type, create(ports, policy, login)]))
  const serveUnsupported: Serve = async (authentication, request) => {
    await authentication
    requireParameter('grant_type', request.grantType)
    throw unsupportedGrantType(grantTypes)
  }
  const serve: Serve = async (authentication, request) => {
    try {
      return await (handlers.get(request.grantType ?? '') ?? serveUnsupported)(authentication, request)
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal !== undefined) {
        const { reason, grant } = refusal
        const { id: client } = await authentication
        const about = grant === undefined || grant.clientId !== client ? { client } : aboutGrant(grant, request)
        ports.events.emit({ event: 'token.refused', ...about, ...originAlone(request), reason })
      }
      throw error
    }
  }

  return {
    issueToken: async (client, request) => serve(Promise.resolve(client), requireStrings(request)),
    async requestToken(candidates, request) {
      const texts = requireStrings(request)
      return serve(authenticateClient(candidates, texts), texts)
    }
  }
}
