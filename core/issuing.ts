import type { Client, Grant, Token } from './model.js'
import type { Policy } from './policy.js'
import type { Ports } from './ports.js'

/** RFC 6749 section 5.1's successful response. */
export interface TokenAnswer {
  readonly accessToken: string
  readonly refreshToken: string | undefined
  readonly expiresInSeconds: number
  readonly scopes: readonly string[]
}

export interface TokenPair {
  readonly accessToken: string
  /** Undefined for a public client. */
  readonly refreshToken: string | undefined
}

/**
 * False for what no token and no code can be, by the form that {@link Ports.secrets} gives them: that is not worth a digest and a
 * look-up, however long it is.
 */
export const couldBeIssued = (text: string): boolean => /^[A-Za-z0-9]{32}$/.test(text)

export type IssuingPolicy = Pick<Policy, 'accessTokenSeconds' | 'refreshTokenSeconds'>

/** RFC 6749 section 6 binds a refresh token to a client that can authenticate; one without a secret gets none. */
export const newPair = async (client: Client, secrets: Ports['secrets']): Promise<TokenPair> => ({
  accessToken: await secrets.random(),
  refreshToken: client.secretDigest === undefined ? undefined : await secrets.random()
})

/** The record of a pair that is issued at `now`. No token outlives its grant. */
export const tokenOf = async (
  { accessToken, refreshToken }: TokenPair,
  grant: Grant,
  scopes: readonly string[],
  now: Date,
  secrets: Ports['secrets'],
  policy: IssuingPolicy
): Promise<Token> => {
  const after = (seconds: number): Date => new Date(Math.min(now.getTime() + seconds * 1000, grant.expiresAt.getTime()))
  return {
    accessDigest: await secrets.digest(accessToken),
    refreshDigest: refreshToken === undefined ? undefined : await secrets.digest(refreshToken),
    grant,
    scopes,
    issuedAt: now,
    expiresAt: after(policy.accessTokenSeconds),
    refreshExpiresAt: refreshToken === undefined ? undefined : after(policy.refreshTokenSeconds)
  }
}

/** What the client is told of a token at `now`: its issue, or later when it is told again. */
export const answerOf = (pair: TokenPair, { scopes, expiresAt }: Token, now: Date): TokenAnswer => ({
  ...pair,
  expiresInSeconds: Math.max(0, Math.floor((expiresAt.getTime() - now.getTime()) / 1000)),
  scopes
})
