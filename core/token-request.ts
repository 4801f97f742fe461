import type { Origin } from './events.js'
import type { TokenAnswer } from './issuing.js'
import type { Client } from './model.js'
import { missingParameter } from './refusals.js'

/** The access token request of RFC 6749 for any grant type, unchecked. */
export interface TokenRequest extends Origin {
  readonly grantType?: string | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly refreshToken?: string | undefined
  readonly code?: string | undefined
  readonly redirectUri?: string | undefined
  readonly codeVerifier?: string | undefined
  readonly scope?: string | undefined
}

/** Serves the requests of one grant type. */
export interface GrantHandler<Found> {
  /** Looks up what the request names, while the client is authenticated. It changes nothing and refuses nothing. */
  find(request: TokenRequest): Promise<Found>
  /** Judges the request of an authenticated client that is allowed the grant type, with what {@link find} has found. */
  issue(client: Client, request: TokenRequest, found: Found): Promise<TokenAnswer>
}

/** The value of a parameter that the grant type needs. Throws `invalid_request` when it is missing. */
export const requireParameter = (name: string, value: string | undefined): string => {
  if (value === undefined) throw missingParameter(name)
  return value
}
