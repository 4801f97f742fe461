import { aboutGrant, type Origin } from './events.js'
import type { Client } from './model.js'
import type { AllPorts } from './ports.js'
import { publicIntrospection, tokenOfAnother } from './refusals.js'
import { couldBeIssued } from './text.js'
import { requireParameter } from './token-request.js'

/** The response of RFC 7662 section 2.2 for an active token. */
export interface Introspection {
  readonly kind: 'access_token' | 'refresh_token'
  readonly scopes: readonly string[]
  readonly clientId: string
  /** Undefined, like the username, for a token that the client got for itself. */
  readonly userId: number | undefined
  readonly username: string | undefined
  readonly issuedAt: Date
  readonly expiresAt: Date
}

/** Ending tokens and telling of them. */
export interface RevocationUseCases {
  /**
   * RFC 7009. A refresh token ends its whole grant, even when it has expired, or is spent and still stored; an access
   * token ends alone. An unknown token is no error. Throws `invalid_request` without a token and `invalid_grant` for
   * another client's token.
   */
  revokeToken(client: Client, token: string | undefined, origin?: Origin): Promise<void>
  /**
   * RFC 7662. Undefined for a token that is not active. Throws `unauthorized_client` for a public client, and
   * `invalid_request`.
   */
  introspectToken(client: Client, token: string | undefined): Promise<Introspection | undefined>
}

export const createRevocationUseCases = ({
  users,
  grants,
  tokens,
  secrets,
  clock,
  events
}: AllPorts): RevocationUseCases => {
  /** Looks for an access token and for a refresh token with this text, and for the grant of the one that exists. */
  const find = async (secret: string) => {
    const digest = await secrets.digest(secret)
    const [access, found] = await Promise.all([tokens.findByAccess(digest), tokens.findByRefresh(digest)])
    const refresh = found?.ended ? undefined : found
    const grant = refresh?.grant ?? (access && (await grants.find(access.grantId)))
    return { digest, access, refresh, grant }
  }

  return {
    async revokeToken(client, secret, origin) {
      const token = requireParameter('token', secret)
      if (!couldBeIssued(token)) return
      const { digest, refresh, grant } = await find(token)
      if (grant === undefined) return
      if (grant.clientId !== client.id) throw tokenOfAnother()
      if (refresh === undefined) return tokens.revokeAccess(digest, clock.now())
      if (await grants.revoke(grant.id, clock.now())) {
        events.emit({ event: 'grant.revoked', ...aboutGrant(grant, origin), reason: 'client' })
      }
    },

    async introspectToken(client, secret) {
      if (client.secretDigest === undefined) throw publicIntrospection()
      const token = requireParameter('token', secret)
      if (!couldBeIssued(token)) return undefined
      const { access, refresh, grant } = await find(token)
      if (grant === undefined || refresh?.spent !== undefined) return undefined
      const user = grant.userId === undefined ? undefined : await users.find(grant.userId)
      // A user may be removed between the two look-ups.
      const isOrphan = user?.id !== grant.userId
      const { issuedAt, expiresAt } = access ?? { issuedAt: refresh?.issuedAt, expiresAt: refresh?.refreshExpiresAt }
      if (isOrphan || issuedAt === undefined || expiresAt === undefined || expiresAt <= clock.now()) {
        return undefined
      }
      const { userId, clientId } = grant
      return {
        kind: access === undefined ? 'refresh_token' : 'access_token',
        scopes: (access ?? grant).scopes,
        clientId,
        userId,
        username: user?.username,
        issuedAt,
        expiresAt
      }
    }
  }
}
