import { secondsAfter } from './instants.js'
import type { Client, Grant, Token, User } from './model.js'
import type { Policy } from './policy.js'
import type { Secrets } from './ports.js'

/** The successful response of RFC 6749 section 5.1. */
export interface TokenAnswer {
  readonly accessToken: string
  /** Undefined for a client that may not refresh, and for what a client gets for itself. */
  readonly refreshToken: string | undefined
  /** Whole seconds. 0 once the access token of a repeated refresh has expired. */
  readonly expiresInSeconds: number
  /** Those of the access token. None when the login, or the client for itself, asked for none. */
  readonly scopes: readonly string[]
}

type TokenPair = Pick<TokenAnswer, 'accessToken' | 'refreshToken'>

/** A new grant, for a login at `now`, or without a user for the client itself. */
export const newGrant = async (
  user: User | undefined,
  client: Client,
  scopes: readonly string[],
  now: Date,
  secrets: Secrets,
  policy: Policy
): Promise<Grant> => ({
  id: await secrets.grantId(),
  userId: user?.id,
  clientId: client.id,
  scopes,
  beganAt: now,
  expiresAt: secondsAfter(now, policy.grantSeconds)
})

/**
 * RFC 6749 section 6 binds a refresh token to its client. A client without a secret cannot prove which it is, so it gets
 * none, and neither does one that is not allowed the refresh grant.
 */
export const newPair = async (client: Client, secrets: Secrets): Promise<TokenPair> => {
  const mayRefresh = client.secretDigest !== undefined && client.grantTypes.includes('refresh_token')
  return {
    accessToken: await secrets.random(),
    refreshToken: mayRefresh ? await secrets.random() : undefined
  }
}

/** The record of a pair that is issued at `now`. No token outlives its grant. */
export const tokenOf = async (
  { accessToken, refreshToken }: TokenPair,
  grant: Grant,
  scopes: readonly string[],
  now: Date,
  secrets: Secrets,
  policy: Policy
): Promise<Token> => {
  const withinGrant = (seconds: number): Date => {
    const instant = secondsAfter(now, seconds)
    return instant < grant.expiresAt ? instant : grant.expiresAt
  }
  return {
    accessDigest: await secrets.digest(accessToken),
    refreshDigest: refreshToken === undefined ? undefined : await secrets.digest(refreshToken),
    grant,
    scopes,
    issuedAt: now,
    expiresAt: withinGrant(policy.accessTokenSeconds),
    refreshExpiresAt: refreshToken === undefined ? undefined : withinGrant(policy.refreshTokenSeconds)
  }
}

/**
 * The answer to the client. `now` is given for a repeated refresh, which gets the first pair: it is later than the issue, or
 * earlier by the clock of another server.
 */
export const answerOf = (
  { accessToken, refreshToken }: TokenPair,
  { scopes, issuedAt, expiresAt }: Token,
  now = issuedAt
): TokenAnswer => ({
  accessToken,
  refreshToken,
  expiresInSeconds: Math.max(0, Math.floor((expiresAt.getTime() - Math.max(now.getTime(), issuedAt.getTime())) / 1000)),
  scopes
})
