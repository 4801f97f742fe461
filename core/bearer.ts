import type { DomainError } from './errors.js'
import { type BearerReason, type Origin, originAlone } from './events.js'
import type { AccessToken } from './model.js'
import type { AllPorts } from './ports.js'
import { insufficientScope, invalidToken, tokenOfNoUser, tokenRequired } from './refusals.js'
import { anyCovers } from './scope.js'
import { couldBeIssued } from './text.js'
import type { NamedUser } from './users.js'

/** What a resource server does with a token (RFC 6750). */
export interface BearerUseCases {
  /**
   * The access token that a bearer credential names (RFC 6750). To learn whose it is, look up its grant. Throws
   * `token_required` without a credential, `invalid_token` for a token that is unknown, expired or revoked, and
   * `insufficient_scope` when none of its scopes covers `requiredScope`. A refusal of a token is the event `bearer.refused`.
   */
  verifyBearer(accessToken?: string, requiredScope?: string, origin?: Origin): Promise<AccessToken>
  /**
   * The user whose login an access token came of. Throws what {@link verifyBearer} throws, and `insufficient_scope` for a
   * token that a client got for itself.
   */
  whoAmI(accessToken?: string, origin?: Origin): Promise<NamedUser>
}

export const createBearerUseCases = ({ tokens, grants, users, secrets, clock, events }: AllPorts): BearerUseCases => {
  const refuse = (
    reason: BearerReason,
    error: DomainError,
    origin: Origin | undefined,
    grant?: string
  ): DomainError => {
    events.emit({ event: 'bearer.refused', ...originAlone(origin), grant, reason })
    return error
  }

  const verifyBearer: BearerUseCases['verifyBearer'] = async (accessToken, requiredScope, origin) => {
    if (accessToken === undefined) throw tokenRequired()
    const token = couldBeIssued(accessToken) ? await tokens.findByAccess(await secrets.digest(accessToken)) : undefined
    if (token === undefined) throw refuse('unknown', invalidToken(), origin)
    if (token.expiresAt <= clock.now()) throw refuse('expired', invalidToken(), origin, token.grantId)
    if (requiredScope !== undefined && !anyCovers(token.scopes, requiredScope)) {
      throw refuse('scope', insufficientScope(requiredScope), origin, token.grantId)
    }
    return token
  }

  return {
    verifyBearer,

    async whoAmI(accessToken, origin) {
      const { grantId } = await verifyBearer(accessToken, undefined, origin)
      const grant = await grants.find(grantId)
      if (grant !== undefined && grant.userId === undefined) throw refuse('scope', tokenOfNoUser(), origin, grantId)
      // The login may have ended, or the user have been removed, since the token was found.
      const user = grant?.userId === undefined ? undefined : await users.find(grant.userId)
      if (user === undefined) throw refuse('unknown', invalidToken(), origin)
      return { id: user.id, username: user.username }
    }
  }
}
