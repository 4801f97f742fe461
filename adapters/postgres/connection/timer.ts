/**
 * Calls `expire` after so many milliseconds, unless the returned function is called before. What has arrived until then is
 * read first: after the whole process stood still, as a machine does that is moved to another host, timers come before
 * the answers that wait in the sockets. `ref`: the timer keeps the process alive.
 */
export const startTimer = (milliseconds: number, expire: () => void, { ref = true } = {}): (() => void) => {
  let reading: NodeJS.Immediate | undefined
  const timer = setTimeout(() => {
    // An immediate comes behind the reading of sockets.
    reading = setImmediate(expire)
  }, milliseconds)
  if (!ref) timer.unref()
  return () => {
    clearTimeout(timer)
    clearImmediate(reading)
  }
}
