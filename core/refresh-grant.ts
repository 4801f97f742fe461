import { aboutGrant } from './events.js'
import { endOfSpent } from './housekeeping.js'
import { secondsAfter } from './instants.js'
import { answerOf, type TokenAnswer, tokenOf } from './issuing.js'
import type { Client, Grant } from './model.js'
import type { Policy } from './policy.js'
import type { AllPorts, RefreshToken } from './ports.js'
import { publicRefresh, refreshRefusals, scopeBeyondGrant, scopeNotAllowed } from './refusals.js'
import { anyCovers, grantScopes, parseScope } from './scope.js'
import { couldBeIssued } from './text.js'
import { type GrantHandler, requireParameter, type TokenRequest } from './token-request.js'

interface Found {
  /** When the request was begun. Expiry and the grace are judged at this instant, however long the store takes. */
  readonly at: Date
  readonly token: RefreshToken | undefined
}

/**
 * RFC 6749 section 6 with rotation (RFC 9700 section 4.14.2). A repeat within the grace gets the first answer again; a
 * later repeat is a theft and ends the grant, for as long as spent tokens are kept. Throws `unauthorized_client`,
 * `invalid_request`, `invalid_grant`, `invalid_scope`.
 */
export const createRefreshGrant = (
  { tokens, grants, secrets, clock, events }: AllPorts,
  policy: Policy
): GrantHandler<Found> => {
  const find = async ({ refreshToken = '' }: TokenRequest): Promise<Found> => ({
    at: clock.now(),
    token: couldBeIssued(refreshToken) ? await tokens.findByRefresh(await secrets.digest(refreshToken)) : undefined
  })

  /** With a grace of 0 no repeat is in time, not even one that was begun before the spend. */
  const inGrace = (spentAt: Date, at: Date): boolean =>
    policy.refreshGraceSeconds > 0 && at < secondsAfter(spentAt, policy.refreshGraceSeconds)

  /** Answers for a token that is spent, as to a request that was begun at `at`. */
  const repeat = async (client: Client, request: TokenRequest, token: RefreshToken, at: Date): Promise<TokenAnswer> => {
    const { spent, grant } = token
    if (spent?.nonce === undefined || !inGrace(spent.at, at)) {
      if (endOfSpent(token) < at) throw refreshRefusals.unknown()
      if (await grants.revoke(grant.id, clock.now())) {
        events.emit({ event: 'grant.stolen', ...aboutGrant(grant, request), reason: 'refresh_token' })
      }
      throw refreshRefusals.used(grant)
    }
    const pair = await secrets.successor(requireRefreshToken(request), spent.nonce)
    const first = await tokens.findByRefresh(await secrets.digest(pair.refreshToken))
    if (first === undefined || first.ended) throw refreshRefusals.ended(grant)
    // What the first answer has stays allowed in its repeats, whatever the client is allowed since.
    const allowed = [...client.allowedScopes, ...first.scopes]
    const scopes = grantScopes(parseScope(request.scope), allowed, () => scopeNotAllowed(grant))
    requireWithin(grant, first.scopes, scopes)
    events.emit({ event: 'refresh.repeated', ...aboutGrant(grant, request) })
    return answerOf(pair, first, clock.now())
  }

  return {
    find,

    async issue(client, request, { at, token }) {
      if (client.secretDigest === undefined) throw publicRefresh()
      const refreshToken = requireRefreshToken(request)
      const requested = parseScope(request.scope)
      if (token === undefined) throw refreshRefusals.unknown()
      const { grant } = token
      if (grant.clientId !== client.id) throw refreshRefusals.otherClient()
      if (token.ended) throw refreshRefusals.ended(grant)
      if (grant.expiresAt <= at) throw refreshRefusals.expired(grant)
      if (token.spent !== undefined) return repeat(client, request, token, at)
      if (token.refreshExpiresAt === undefined || token.refreshExpiresAt <= at) throw refreshRefusals.expired(grant)
      const scopes = narrow(client, grant, requested)
      const nonce = await secrets.nonce()
      const pair = await secrets.successor(refreshToken, nonce)
      const successor = await tokenOf(pair, grant, scopes, at, secrets, policy)
      if (await tokens.rotate(await secrets.digest(refreshToken), { at, nonce }, successor)) {
        events.emit({ event: 'token.refreshed', ...aboutGrant(grant, request) })
        return answerOf(pair, successor)
      }
      // Another call has spent the token, or its grant has ended. Only a new look-up can tell: the first one saw the
      // token unspent. The two were under way at once, so this one is judged as if it had come when the token was spent.
      const { token: lost } = await find(request)
      if (lost?.spent === undefined || lost.ended) throw refreshRefusals.ended(grant)
      return repeat(client, request, lost, lost.spent.at)
    }
  }
}

const requireRefreshToken = ({ refreshToken }: TokenRequest): string => requireParameter('refresh_token', refreshToken)

/**
 * The scopes of the new access token: those requested, else those of the grant, without any that the client may not
 * have.
 */
const narrow = ({ allowedScopes }: Client, grant: Grant, requested: readonly string[]): readonly string[] => {
  if (requested.length === 0) return grantScopes(grant.scopes, allowedScopes, () => refreshRefusals.scope(grant))
  const scopes = grantScopes(requested, allowedScopes, () => scopeNotAllowed(grant))
  requireWithin(grant, grant.scopes, scopes)
  return scopes
}

const requireWithin = (grant: Grant, granted: readonly string[], scopes: readonly string[]): void => {
  if (!scopes.every(scope => anyCovers(granted, scope))) throw scopeBeyondGrant(grant)
}
