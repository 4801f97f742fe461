/** What the operator of a service decides. Durations are in seconds. */
export interface Policy {
  readonly accessTokenSeconds: number
  /** Counted from the issue of the refresh token itself. */
  readonly refreshTokenSeconds: number
  /** Counted from the login. No token outlives its grant. */
  readonly grantSeconds: number
  readonly codeSeconds: number
  /** For how long a repeated refresh gets the first answer again. With 0 every repeat is a theft. */
  readonly refreshGraceSeconds: number
  /** In code points, at least 1. */
  readonly passwordMinLength: number
  /**
   * Attempts per pair of username and address in one window; ten times as many per username and per address. 0: no
   * limit.
   */
  readonly loginAttempts: number
  /** The window of logins, and of registrations. */
  readonly loginWindowSeconds: number
  /** Registrations per address in one window, those of names that are taken included. 0: no limit. */
  readonly registerAttempts: number
}

/**
 * How far the clock of an instance may be from the clock of the database. Beyond this the operator is warned; within it
 * no honest user loses a login.
 *
 * One instance stores an instant and another compares it with its own clock. Where this happens, and what a difference
 * does:
 * - The nonce of a spent refresh token: if it were erased too early, an honest repeat would count as a theft.
 *   Housekeeping waits {@link MAX_CLOCK_DIFFERENCE_SECONDS} longer than the grace.
 * - The grace after a spend: see core/refresh-grant.ts. When two instances refresh one token at once, no clock decides:
 *   whoever has seen the token unspent is in the grace.
 * - Removal of expired rows: housekeeping waits a minute, far longer than clocks may differ, so that an instance whose
 *   clock is behind still finds the rows that it judges.
 * - Expiry of codes, tokens, grants and of a client's previous secret: exact by the clock of the instance that judges.
 *   They should last a minute or more: then ten seconds more or less are neither a danger nor a loss. `expires_in` is told
 *   by the same clock.
 * - The windows of attempts: a window that one clock begins and another ends is longer or shorter by the difference,
 *   and holds as many attempts.
 */
export const CLOCK_TOLERANCE_SECONDS = 5
/** How far the clocks of two instances may differ: one is ahead of the database's clock and the other behind it. */
export const MAX_CLOCK_DIFFERENCE_SECONDS = 2 * CLOCK_TOLERANCE_SECONDS

/** The policy of a service with its default settings. */
export const defaultPolicy: Policy = {
  accessTokenSeconds: 3600,
  refreshTokenSeconds: 2_592_000,
  grantSeconds: 31_536_000,
  codeSeconds: 60,
  refreshGraceSeconds: 30,
  passwordMinLength: 1,
  loginAttempts: 10,
  loginWindowSeconds: 900,
  registerAttempts: 1000
}

/** What a host decides otherwise. What is left out, or undefined, is as in {@link defaultPolicy}. */
export type PolicyChanges = { readonly [Key in keyof Policy]?: Policy[Key] | undefined }

/** Throws a RangeError that names the key of a value that is no finite number. */
export const policyWith = (changes: PolicyChanges): Policy => {
  const read = (key: keyof Policy): number => {
    const { [key]: value = defaultPolicy[key] } = changes
    if (Number.isFinite(value)) return value
    throw new RangeError(`${key} is ${value}: it must be a number`)
  }
  return {
    accessTokenSeconds: read('accessTokenSeconds'),
    refreshTokenSeconds: read('refreshTokenSeconds'),
    grantSeconds: read('grantSeconds'),
    codeSeconds: read('codeSeconds'),
    refreshGraceSeconds: read('refreshGraceSeconds'),
    passwordMinLength: read('passwordMinLength'),
    loginAttempts: read('loginAttempts'),
    loginWindowSeconds: read('loginWindowSeconds'),
    registerAttempts: read('registerAttempts')
  }
}
