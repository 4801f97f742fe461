import { early } from './early.js'
import { DomainError } from './errors.js'
import { aboutGrant, type Origin } from './events.js'
import { secondsAfter } from './instants.js'
import { answerOf, couldBeIssued, type IssuingPolicy, type TokenAnswer, tokenOf } from './issuing.js'
import type { Client, Grant } from './model.js'
import type { Policy } from './policy.js'
import type { AllPorts, RefreshToken } from './ports.js'
import { anyCovers, grantScopes, parseScope } from './scope.js'
import { type GrantHandler, requireParameter, type TokenRequest } from './token-request.js'

/** One use of a refresh token. */
interface Use {
  readonly refreshToken: string
  readonly requested: readonly string[]
  readonly client: Client
  readonly origin: Origin
  readonly begunAt: Date
  /** Whether this request has seen the token unspent. */
  readonly wasUnspent: boolean
}

/**
 * RFC 6749 section 6 with rotation (RFC 9700 section 4.14.2). A repeat within the grace gets the first answer again; a
 * later repeat is a theft and ends the grant. Throws `unauthorized_client`, `invalid_request`, `invalid_grant`,
 * `invalid_scope`.
 */
export const createRefreshGrant = (
  { tokens, grants, secrets, clock, events }: Pick<AllPorts, 'tokens' | 'grants' | 'secrets' | 'clock' | 'events'>,
  policy: IssuingPolicy & Pick<Policy, 'refreshGraceSeconds'>
): GrantHandler => {
  /**
   * True when a request may repeat a token that was spent at `spentAt`. What counts is when the request was begun, not when the
   * store answered it. `spentAt` comes from the clock of the instance that served the spend: if the two clocks differ, the grace
   * is longer or shorter by the difference. If the request has seen the token unspent, the spend came after the request was
   * begun, whatever instant is stored with it. So when two instances refresh one token at once, the slower refresh is no
   * theft, however short the grace. With a grace of 0 no use is a repeat, not even when `spentAt` lies in the future of this
   * clock.
   */
  const inGrace = (spentAt: Date, { begunAt, wasUnspent }: Use): boolean =>
    policy.refreshGraceSeconds > 0 && (wasUnspent || begunAt < secondsAfter(spentAt, policy.refreshGraceSeconds))

  /** Answers for a token that is spent. */
  const repeat = async ({ spent, grant }: RefreshToken, use: Use): Promise<TokenAnswer> => {
    const { refreshToken, requested, client, origin } = use
    const now = clock.now()
    if (spent?.nonce === undefined || !inGrace(spent.at, use)) {
      if ((await grants.revoke(grant.id, now)) !== false) {
        events.tell({ event: 'grant.stolen', ...aboutGrant(grant, origin), reason: 'refresh_token' })
      }
      throw invalidGrant()
    }
    const pair = await secrets.successor(refreshToken, spent.nonce)
    const first = await tokens.findByRefresh(await secrets.digest(pair.refreshToken))
    if (first === undefined) throw invalidGrant()
    requireWithin(first.scopes, grantScopes(requested, client.allowedScopes))
    events.tell({ event: 'refresh.repeated', ...aboutGrant(grant, origin) })
    return answerOf(pair, first, now)
  }

  const lookUp = async (refreshToken: string): Promise<RefreshToken | undefined> =>
    couldBeIssued(refreshToken) ? tokens.findByRefresh(await secrets.digest(refreshToken)) : undefined

  const serve = async (
    client: Client,
    request: TokenRequest,
    now: Date,
    found: Promise<RefreshToken | undefined>,
    wasUnspent: boolean
  ): Promise<TokenAnswer> => {
    if (client.secretDigest === undefined) {
      throw new DomainError('unauthorized_client', 'a public client has no refresh tokens: log in again')
    }
    const refreshToken = requireParameter('refresh_token', request.refreshToken)
    const requested = parseScope(request.scope)
    const use = { refreshToken, requested, client, origin: request, begunAt: now }

    const requireOwn = (token: RefreshToken | undefined): RefreshToken => {
      if (token === undefined || token.grant.clientId !== client.id || token.grant.expiresAt <= now) {
        throw invalidGrant()
      }
      return token
    }

    const token = requireOwn(await found)
    if (token.spent !== undefined) return repeat(token, { ...use, wasUnspent })
    if (token.refreshExpiresAt === undefined || token.refreshExpiresAt <= now) throw invalidGrant()
    const scopes = narrow(client, token.grant, requested)
    const nonce = await secrets.nonce()
    const pair = await secrets.successor(refreshToken, nonce)
    const successor = await tokenOf(pair, token.grant, scopes, now, secrets, policy)
    if (await tokens.rotate(await secrets.digest(refreshToken), { at: now, nonce }, successor)) {
      events.tell({ event: 'token.refreshed', ...aboutGrant(token.grant, request) })
      return answerOf(pair, successor, now)
    }
    // Another call has spent the token. Only a new look-up can tell how: the first one saw the token unspent.
    return repeat(requireOwn(await lookUp(refreshToken)), { ...use, wasUnspent: true })
  }

  return (request, begunAt, wasUnspent) => {
    const found = early(lookUp(request.refreshToken ?? ''))
    return client => serve(client, request, begunAt, found, wasUnspent)
  }
}

/**
 * The scopes of the new access token: those requested, else those of the grant, without any that the client may not
 * have.
 */
const narrow = (client: Client, grant: Grant, requested: readonly string[]): readonly string[] => {
  const scopes = grantScopes(requested.length > 0 ? requested : grant.scopes, client.allowedScopes)
  requireWithin(grant.scopes, scopes)
  return scopes
}

const requireWithin = (granted: readonly string[], scopes: readonly string[]): void => {
  if (!scopes.every(scope => anyCovers(granted, scope))) {
    throw new DomainError('invalid_scope', 'the scope goes beyond what was granted: request less, or leave scope out')
  }
}

const invalidGrant = (): DomainError =>
  new DomainError(
    'invalid_grant',
    'the refresh token is unknown, expired, ended or issued to another client: log in again'
  )
