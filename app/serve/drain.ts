import { Server, type Socket } from 'node:net'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { Http } from '../http/http.js'
import { isIdle } from '../http/protocol/connections.js'

/** One second less than the ten that the service has from the signal to its end. */
const DRAIN_MILLISECONDS = 9000
const ACCEPT_MILLISECONDS = 1000
/** How long an idle connection may still bring a request: one that was under way when the client was not yet told. */
const LAST_REQUEST_MILLISECONDS = 500
const IDLE_MILLISECONDS = 100

/**
 * Returns a function that stops listening, waits until every request whose head has arrived is answered, and closes the
 * connections. Each of these answers ends its connection. Idle connections are closed half a second after the listener,
 * also those on which a head has arrived in part. A connection that is still open after nine seconds is cut off. Call it
 * before the server listens.
 */
export const createDrain = (http: Http): (() => Promise<void>) => {
  let accepted = 0
  const open = new Set<Socket>()
  let idle: NodeJS.Timeout | undefined
  http.server.on('connection', socket => {
    accepted += 1
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })

  // `closeIdleConnections` leaves out connections that have brought nothing yet, or a part of a head.
  const closeIdle = async (): Promise<void> => {
    // After a timer the server reads what has arrived meanwhile. This waits until it has.
    await setImmediate()
    for (const socket of open) if (isIdle(socket)) socket.destroy()
  }

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
    // The method of HTTP's server would close the idle connections at once.
    const closed = new Promise(resolve => Server.prototype.close.call(http.server, resolve))
    await Promise.race([closed, sleep(LAST_REQUEST_MILLISECONDS, undefined, { ref: false })])
    await closeIdle()
    // An answer whose head was sent before the drain leaves its connection open until the interval finds it idle.
    idle = setInterval(closeIdle, IDLE_MILLISECONDS)
  })
  return async () => {
    const cutOff = setTimeout(() => http.server.closeAllConnections(), DRAIN_MILLISECONDS)
    await http.close()
    clearTimeout(cutOff)
    clearInterval(idle)
  }
}
