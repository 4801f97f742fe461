import { DomainError } from './errors.js'
import type { Client, Grant } from './model.js'
import type { Ports } from './ports.js'

/** RFC 7662 section 2.2's response for a token that lives. */
export interface Introspection {
  readonly kind: 'access_token' | 'refresh_token'
  readonly scopes: readonly string[]
  readonly clientId: string
  readonly userId: number
  readonly username: string
  readonly issuedAt: Date
  readonly expiresAt: Date
}

export interface RevocationUseCases {
  /**
   * RFC 7009. A refresh token, spent and expired ones too, takes its whole grant along; an access token goes alone.
   * Unknown tokens are no error. Throws `invalid_request` and, for another client's token, `invalid_grant`.
   */
  revokeToken(client: Client, token: string | undefined): Promise<void>
  /** RFC 7662. Undefined for whatever does not live. Throws `unauthorized_client` for a public client, and `invalid_request`. */
  introspectToken(client: Client, token: string | undefined): Promise<Introspection | undefined>
}

export const createRevocationUseCases = ({
  users,
  tokens,
  secrets,
  clock
}: Pick<Ports, 'users' | 'tokens' | 'secrets' | 'clock'>): RevocationUseCases => ({
  async revokeToken(client, secret) {
    const digest = await secrets.digest(requireToken(secret))
    const [access, refresh] = await Promise.all([tokens.findByAccess(digest), tokens.findByRefresh(digest)])
    const owner = refresh?.grant.clientId ?? access?.clientId
    if (owner === undefined) return
    if (owner !== client.id) throw new DomainError('invalid_grant', 'the token was issued to another client')
    await (refresh === undefined
      ? tokens.revokeAccess(digest, clock.now())
      : tokens.revokeGrant(refresh.grant.id, clock.now()))
  },

  async introspectToken(client, secret) {
    if (client.secretDigest === undefined) {
      throw new DomainError('unauthorized_client', 'a public client may not introspect')
    }
    const digest = await secrets.digest(requireToken(secret))
    const [access, refresh] = await Promise.all([tokens.findByAccess(digest), tokens.findByRefresh(digest)])
    const now = clock.now()
    const describe = async (
      kind: Introspection['kind'],
      { userId, clientId, scopes }: Pick<Grant, 'userId' | 'clientId' | 'scopes'>,
      issuedAt: Date,
      expiresAt: Date | undefined
    ): Promise<Introspection | undefined> => {
      const user = await users.find(userId)
      if (user === undefined || expiresAt === undefined || expiresAt <= now) return undefined
      return { kind, scopes, clientId, userId, username: user.username, issuedAt, expiresAt }
    }
    if (access !== undefined) return describe('access_token', access, access.issuedAt, access.expiresAt)
    if (refresh === undefined || refresh.spent !== undefined) return undefined
    return describe('refresh_token', refresh.grant, refresh.issuedAt, refresh.refreshExpiresAt)
  }
})

const requireToken = (token: string | undefined): string => {
  if (token === undefined) throw new DomainError('invalid_request', 'token is missing')
  return token
}
