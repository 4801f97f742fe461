import { DomainError } from './errors.js'
import { couldBeIssued } from './issuing.js'
import type { AccessToken, Digest } from './model.js'
import type { Ports } from './ports.js'
import { anyCovers } from './scope.js'

/** What a resource server does with a token (RFC 6750). */
export interface BearerUseCases {
  /**
   * The access token that a bearer credential names (RFC 6750). To learn whose it is, look up its grant. Throws
   * `token_required` without a credential, `invalid_token` for a token that is unknown, expired or revoked, and
   * `insufficient_scope` when none of its scopes covers `requiredScope`.
   */
  verifyBearer(accessToken?: string | undefined, requiredScope?: string | undefined): Promise<AccessToken>
  /**
   * Throws what {@link verifyBearer} throws, for callers who need to know no more of the token. The store may then read
   * less of it.
   */
  checkBearer(accessToken?: string | undefined, requiredScope?: string | undefined): Promise<void>
}

export const invalidToken = (): DomainError =>
  new DomainError('invalid_token', 'the access token is unknown, expired or revoked: get a new one')

export const createBearerUseCases = ({
  tokens,
  secrets,
  clock
}: Pick<Ports, 'tokens' | 'secrets' | 'clock'>): BearerUseCases => {
  const digestOf = (accessToken: string | undefined): Promise<Digest> => {
    if (accessToken === undefined)
      throw new DomainError('token_required', 'a bearer access token is required: log in for one and send it')
    if (!couldBeIssued(accessToken)) throw invalidToken()
    return secrets.digest(accessToken)
  }

  const hasPassed = (instant: Date): boolean => instant <= clock.now()

  const verifyBearer = async (accessToken?: string, requiredScope?: string): Promise<AccessToken> => {
    const token = await tokens.findByAccess(await digestOf(accessToken))
    if (token === undefined || hasPassed(token.expiresAt)) throw invalidToken()
    if (requiredScope !== undefined && !anyCovers(token.scopes, requiredScope)) {
      throw new DomainError(
        'insufficient_scope',
        'the access token lacks the scope for this: get one that has the scope',
        { requiredScope }
      )
    }
    return token
  }

  const findExpiry = tokens.findExpiry?.bind(tokens)

  return {
    verifyBearer,

    async checkBearer(accessToken, requiredScope) {
      if (findExpiry === undefined || requiredScope !== undefined) {
        await verifyBearer(accessToken, requiredScope)
        return
      }
      const expiresAt = await findExpiry(await digestOf(accessToken))
      if (expiresAt === undefined || hasPassed(expiresAt)) throw invalidToken()
    }
  }
}
