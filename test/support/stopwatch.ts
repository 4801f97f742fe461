let hundredths = 0
let ticking = false

/**
 * Begins to count, and returns what says how many seconds have been counted: in hundredths of a second, none of which is
 * made up for. A machine that is busy with other things stretches them, as it stretches what a test waits for,
 * so that a bound in them is one on the service and not on the machine.
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
