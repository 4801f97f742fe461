import { setImmediate } from 'node:timers/promises'
import type { Http } from '../http/http.js'

/** A second less than what the service has from the signal to its end. */
const DRAIN_MILLISECONDS = 9000
const ACCEPT_MILLISECONDS = 1000
const IDLE_MILLISECONDS = 100

/**
 * What comes back stops listening, lets every request be answered whose head has arrived, and closes the connections.
 * Who is not done after nine seconds is cut off. To be called before the server listens.
 */
export const createDrain = (http: Http): (() => Promise<void>) => {
  let accepted = 0
  http.server.on('connection', () => {
    accepted += 1
  })
  // By then every answer says that it is its connection's last, and nothing is closed yet.
  http.addHook('preClose', async () => {
    const until = performance.now() + ACCEPT_MILLISECONDS
    // libuv accepts one connection a turn: those that the kernel still holds, with their requests, would be reset.
    for (let before = -1; before < accepted && performance.now() < until; ) {
      before = accepted
      // The first turn is the present one, whose poll is over.
      await setImmediate()
      await setImmediate()
    }
  })
  return async () => {
    // An answer whose head was out before leaves its connection open once it is complete.
    const idle = setInterval(() => http.server.closeIdleConnections(), IDLE_MILLISECONDS)
    const cutOff = setTimeout(() => http.server.closeAllConnections(), DRAIN_MILLISECONDS)
    await http.close()
    clearTimeout(cutOff)
    clearInterval(idle)
  }
}
