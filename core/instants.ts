/** `instant` plus `seconds`, which may be negative. */
export const secondsAfter = (instant: Date, seconds: number): Date => new Date(instant.getTime() + seconds * 1000)

/** The whole seconds from `now` until a later instant, at least 1. */
export const secondsUntil = (instant: Date, now: Date): number =>
  Math.max(1, Math.ceil((instant.getTime() - now.getTime()) / 1000))

/** The latest of the given instants. Undefined ones do not count. */
export const latest = (first: Date, ...others: readonly (Date | undefined)[]): Date =>
  others.reduce<Date>((found, other) => (other !== undefined && other > found ? other : found), first)
