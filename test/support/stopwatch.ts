// Seconds that a busy machine makes longer, for bounds on how long something takes.

let hundredths = 0
let ticking = false

/**
 * Starts to count, and returns a function that tells the seconds so far. A timer counts hundredths of a second, and one
 * that comes late is not made up for: on a busy machine the count is slower, as is everything that a test waits for.
 * A bound on these seconds is a bound on the service and not on the machine.
 */
export const startStopwatch = (): (() => number) => {
  if (!ticking) {
    setInterval(() => {
      hundredths += 1
    }, 10).unref()
    ticking = true
  }
  const start = hundredths
  return () => (hundredths - start) / 100
}
