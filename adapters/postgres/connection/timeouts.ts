/** Timeouts of one length. They do not keep the process alive. */
export interface Timeouts {
  readonly milliseconds: number
  /** Calls `expire` after `milliseconds`, unless the returned function is called before. */
  begin(expire: () => void): () => void
}

/**
 * All timeouts share one timer. To set and clear one for each statement takes a twentieth of what Node spends on a
 * single look-up.
 */
export const createTimeouts = (milliseconds: number): Timeouts => {
  // In the order in which they end.
  const running = new Set<{ readonly endsAt: number; expire(): void }>()
  let timerSet = false

  const check = (): void => {
    timerSet = false
    for (const timeout of running) {
      const left = timeout.endsAt - performance.now()
      if (left > 0) {
        setTimer(left)
        return
      }
      running.delete(timeout)
      timeout.expire()
    }
  }

  const setTimer = (left: number): void => {
    timerSet = true
    setTimeout(check, left).unref()
  }

  return {
    milliseconds,
    begin(expire) {
      const timeout = { endsAt: performance.now() + milliseconds, expire }
      running.add(timeout)
      if (!timerSet) setTimer(milliseconds)
      return () => running.delete(timeout)
    }
  }
}
