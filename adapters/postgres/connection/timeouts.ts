import { createLinkedList } from './linked-list.js'
import { startTimer } from './timer.js'

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
  const running = createLinkedList<{ readonly endsAt: number; expire(): void }>()
  let timerSet = false

  const check = (): void => {
    timerSet = false
    for (let place = running.first; place !== undefined; place = running.first) {
      const left = place.item.endsAt - performance.now()
      if (left > 0) {
        setTimer(left)
        return
      }
      running.remove(place)
      place.item.expire()
    }
  }

  const setTimer = (left: number): void => {
    timerSet = true
    startTimer(left, check, { ref: false })
  }

  return {
    milliseconds,
    begin(expire) {
      const place = running.add({ endsAt: performance.now() + milliseconds, expire })
      if (!timerSet) setTimer(milliseconds)
      return () => running.remove(place)
    }
  }
}
