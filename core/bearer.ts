import { couldBeIssued } from './issuing.js'
import type { AccessToken } from './model.js'
import type { Ports } from './ports.js'
import { insufficientScope, invalidToken, tokenRequired } from './refusals.js'
import { anyCovers } from './scope.js'

/** What a resource server does with a token (RFC 6750). */
export interface BearerUseCases {
  /**
   * The access token that a bearer credential names (RFC 6750). To learn whose it is, look up its grant. Throws
   * `token_required` without a credential, `invalid_token` for a token that is unknown, expired or revoked, and
   * `insufficient_scope` when none of its scopes covers `requiredScope`.
   */
  verifyBearer(accessToken?: string | undefined, requiredScope?: string | undefined): Promise<AccessToken>
}

export const createBearerUseCases = ({
  tokens,
  secrets,
  clock
}: Pick<Ports, 'tokens' | 'secrets' | 'clock'>): BearerUseCases => ({
  async verifyBearer(accessToken, requiredScope) {
    if (accessToken === undefined) throw tokenRequired()
    const token = couldBeIssued(accessToken) ? await tokens.findByAccess(await secrets.digest(accessToken)) : undefined
    if (token === undefined || token.expiresAt <= clock.now()) throw invalidToken()
    if (requiredScope !== undefined && !anyCovers(token.scopes, requiredScope)) {
      throw insufficientScope(requiredScope)
    }
    return token
  }
})
