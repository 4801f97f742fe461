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
