import { setImmediate } from 'node:timers/promises'
import type { Http } from '../http/http.js'

/** One second less than the ten that the service has from the signal to its end. */
const DRAIN_MILLISECONDS = 9000
const ACCEPT_MILLISECONDS = 1000
const IDLE_MILLISECONDS = 100

/**
 * Returns a function that stops listening, waits until every request whose head has arrived is answered, and closes the
 * connections. A connection that is still open after nine seconds is cut off. Call it before the server listens.
 */
export const createDrain = (http: Http): (() => Promise<void>) => {
  let accepted = 0
  http.server.on('connection', () => {
    accepted += 1
  })
  // While this hook runs, answers already end their connections, and the server still accepts new ones.
  http.addHook('preClose', async () => {
    const until = performance.now() + ACCEPT_MILLISECONDS
    // libuv accepts one connection per turn of the event loop. When the server stops listening, connections that still
    // wait in the kernel are reset together with their requests.
    for (let acceptedBefore = -1; acceptedBefore < accepted && performance.now() < until; ) {
      acceptedBefore = accepted
      // The first setImmediate ends the present turn, which has polled already. The second one waits for a whole poll.
      await setImmediate()
      await setImmediate()
    }
  })
  return async () => {
    // An answer whose head was sent before the drain leaves its connection open until the interval finds it idle.
    const idle = setInterval(() => http.server.closeIdleConnections(), IDLE_MILLISECONDS)
    const cutOff = setTimeout(() => http.server.closeAllConnections(), DRAIN_MILLISECONDS)
    await http.close()
    clearTimeout(cutOff)
    clearInterval(idle)
  }
}
