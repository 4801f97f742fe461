/**
 * Lets so many pass in a span of time, and counts the rest. A span of so many seconds begins with the first that passes. At
 * its end `tell` gets the number of those that did not, if there were any.
 */
export const createLimit = (most: number, seconds: number, tell: (rest: number) => void) => {
  let asked = 0
  /** Tells at once what has been counted. */
  const end = (): void => {
    if (asked > most) tell(asked - most)
    asked = Math.min(asked, most)
  }
  const startAnew = (): void => {
    end()
    asked = 0
  }
  return {
    /** Whether one more may pass. */
    pass(): boolean {
      if (asked === 0) setTimeout(startAnew, seconds * 1000).unref()
      asked += 1
      return asked <= most
    },
    end
  }
}
