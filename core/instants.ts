/** The instant so many seconds after another, or before it where they are negative. */
export const secondsAfter = (instant: Date, seconds: number): Date => new Date(instant.getTime() + seconds * 1000)

/** The latest of those that are there. */
export const latest = (first: Date, ...others: readonly (Date | undefined)[]): Date =>
  others.reduce<Date>((found, other) => (other !== undefined && other > found ? other : found), first)
