import { type ClientCredentials, couldBeConfidential } from './client-authentication.js'
import { aboutGrant } from './events.js'
import { secondsAfter } from './instants.js'
import { answerOf, couldBeIssued, type IssuingPolicy, type TokenAnswer } from './issuing.js'
import type { AllPorts } from './ports.js'
import type { TokenRequest } from './token-request.js'

/** What became of a refresh that was tried at once. */
export interface PlainRefreshOutcome {
  /** Undefined when the refresh has to be judged step by step. Nothing has changed then. */
  readonly answer?: TokenAnswer
  /** True when the refresh token was unspent and another call has spent it since. */
  readonly wasUnspent?: boolean
}

/**
 * Serves most refreshes in one step of the store: those that are as {@link TokenStore.rotateIfPlain} requires. What the
 * step refuses is judged by the handler of the grant type, which knows why: this function throws `unavailable` alone.
 */
export const createPlainRefresh = (
  { tokens, secrets, events }: Pick<AllPorts, 'tokens' | 'secrets' | 'events'>,
  policy: IssuingPolicy
) => {
  const rotate = tokens.rotateIfPlain?.bind(tokens)
  return async (
    candidates: readonly ClientCredentials[],
    request: TokenRequest,
    now: Date
  ): Promise<PlainRefreshOutcome> => {
    const { grantType, refreshToken = '', scope = '' } = request
    const [client, ...others] = candidates
    if (
      rotate === undefined ||
      grantType !== 'refresh_token' ||
      scope !== '' ||
      client === undefined ||
      others.length > 0 ||
      !couldBeConfidential(client) ||
      !couldBeIssued(refreshToken)
    ) {
      return {}
    }
    const nonce = await secrets.nonce()
    const pair = await secrets.successor(refreshToken, nonce)
    const successor = await rotate({
      digest: await secrets.digest(refreshToken),
      clientId: client.id,
      secretDigest: await secrets.digest(client.secret),
      spend: { at: now, nonce },
      successor: {
        accessDigest: await secrets.digest(pair.accessToken),
        refreshDigest: await secrets.digest(pair.refreshToken),
        expiresAt: secondsAfter(now, policy.accessTokenSeconds),
        refreshExpiresAt: secondsAfter(now, policy.refreshTokenSeconds)
      }
    })
    if (successor === undefined) return {}
    if (successor === 'overtaken') return { wasUnspent: true }
    events.tell({ event: 'token.refreshed', ...aboutGrant(successor.grant, request) })
    return { answer: answerOf(pair, successor, now) }
  }
}
