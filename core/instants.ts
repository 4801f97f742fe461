/** `instant` plus `seconds`, which may be negative. */
export const secondsAfter = (instant: Date, seconds: number): Date => new Date(instant.getTime() + seconds * 1000)

/** The latest of the given instants. Undefined ones do not count. */
export const latest = (first: Date, ...others: readonly (Date | undefined)[]): Date =>
  others.reduce<Date>((found, other) => (other !== undefined && other > found ? other : found), first)
