/** What the owner of a service decides. Durations are in seconds. */
export interface Policy {
  readonly accessTokenSeconds: number
  /** From the refresh token's own issue. */
  readonly refreshTokenSeconds: number
  /** From the login; no token outlives its grant. */
  readonly grantSeconds: number
  readonly codeSeconds: number
  /** For how long a repeated refresh gets the first answer again; 0: a repeat is a theft at once. */
  readonly refreshGraceSeconds: number
  /** In code points, at least 1. */
  readonly passwordMinLength: number
  /** Logins per username and address in one window, and ten times that for each alone; 0: no limit. */
  readonly loginAttempts: number
  readonly loginWindowSeconds: number
}

/**
 * How far an instance's clock may be from the database's: beyond this an operator is warned, and within it no honest user loses a login.
 *
 * Instants that one instance writes and another compares with its own clock, and what the difference does there:
 * - The nonce of a spent refresh token: erased early, it makes a theft of an honest repeat. Housekeeping waits {@link CLOCKS_APART_SECONDS} longer.
 * - A spend and its grace: core/refresh.ts. Two refreshes at once are told apart from a theft by the clock of the slower one alone.
 * - What has expired: housekeeping waits a minute, far more than clocks are apart, so that whoever is behind still finds what it judges.
 * - Expiry of codes, tokens, grants and of a client's previous secret: exact by the clock of whoever judges. Ten seconds more or less of a
 *   minute and more are neither a danger nor a loss; `expires_in` is told by the clock that judges.
 * - The windows of attempts: begun by one clock and ended by another they are so much longer or shorter, and hold as many attempts.
 */
export const CLOCK_TOLERANCE_SECONDS = 5
/** How far two instances' clocks may be apart: one is ahead of the database's and one behind. */
export const CLOCKS_APART_SECONDS = 2 * CLOCK_TOLERANCE_SECONDS

export const defaultPolicy: Policy = {
  accessTokenSeconds: 3600,
  refreshTokenSeconds: 2_592_000,
  grantSeconds: 31_536_000,
  codeSeconds: 60,
  refreshGraceSeconds: 30,
  passwordMinLength: 1,
  loginAttempts: 10,
  loginWindowSeconds: 900
}
