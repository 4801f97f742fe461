import { DomainError } from './errors.js'
import type { Origin } from './events.js'
import type { TokenAnswer } from './issuing.js'
import type { Client } from './model.js'

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

/**
 * Serves the requests of one grant type: begins with what can be looked up before the client is authenticated, and
 * returns a function that serves the authenticated client. What was begun changes nothing and is dropped when the client
 * turns out to be none. `begunAt` is when the request was begun: nothing has been looked up before it. `wasUnspent` says
 * whether its refresh token has been seen unspent since.
 */
export type GrantHandler = (
  request: TokenRequest,
  begunAt: Date,
  wasUnspent: boolean
) => (client: Client) => Promise<TokenAnswer>

/** The value of a parameter that the grant type needs. Throws `invalid_request` when it is missing. */
export const requireParameter = (name: string, value: string | undefined): string => {
  if (value === undefined) throw new DomainError('invalid_request', `${name} is missing: send it`)
  return value
}
