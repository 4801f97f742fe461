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
   * Attempts per pair of username and address in one window; ten times as many per username and per address, a hundred
   * times per network. 0: no limit.
   */
  readonly loginAttempts: number
  /** The window of logins, and of registrations. */
  readonly loginWindowSeconds: number
  /**
   * Registrations per address in one window, those of names that are taken included; ten times as many per network. 0:
   * no limit.
   */
  readonly registerAttempts: number
  /**
   * For how long a grant stays stored after everything under it has expired, at least 60. Where no other clock than this
   * machine's is at hand it is a day, so that a clock which is hours off for a while ends nobody's login.
   */
  readonly grantRemovalDelaySeconds: number
}

/** For how long a request may be under way. A host sees to that, and the core counts on it. */
export const REQUEST_SECONDS = 5

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
  registerAttempts: 1000,
  grantRemovalDelaySeconds: 86_400
}

/** What a host decides otherwise. What is left out, or undefined, is as in {@link defaultPolicy}. */
export type PolicyChanges = { readonly [Key in keyof Policy]?: Policy[Key] | undefined }

/** Throws a RangeError that names the key of a value that is no finite number. */
export const policyWith = (changes: PolicyChanges): Policy => {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined)
  for (const [key, value] of given) {
    if (!Number.isFinite(value)) throw new RangeError(`${key} is ${value}: it must be a number`)
  }
  return { ...defaultPolicy, ...Object.fromEntries(given) }
}
