import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Connection, connectionOf } from './connections.js'
import { BEGUN_IN_A_TURN, UNDER_WAY, WAITING } from './limits.js'

/** What Node calls for a request whose head has arrived. */
type Handle = (request: IncomingMessage, response: ServerResponse) => void

/**
 * Begins the requests that arrive in one turn of the event loop together, when all of them have arrived: then their
 * look-ups share statements, and their answers leave one after the other.
 *
 * At most {@link BEGUN_IN_A_TURN} begin in a turn, one of each connection that has some, round after round. Of a connection
 * at most {@link UNDER_WAY} are under way; those behind them begin as these are answered, and nothing more is read meanwhile.
 * So a client that sends requests without end holds up no other. When {@link WAITING} requests are waiting already, the
 * connection that brings one more is closed.
 */
export const createScheduling = (handle: Handle): Handle => {
  /** The connections whose next request may begin, in their turn. */
  const ready = new Set<Connection>()
  let waitingInAll = 0
  let isScheduled = false

  const beginSoon = (): void => {
    if (isScheduled) return
    isScheduled = true
    setImmediate(beginSome)
  }

  const beginSome = (): void => {
    isScheduled = false
    let begun = 0
    // A copy: a connection whose next request is scheduled meanwhile has its turn in the next one.
    for (const connection of [...ready]) {
      if (begun === BEGUN_IN_A_TURN) break
      begun += 1
      ready.delete(connection)
      beginNext(connection)
    }
    if (ready.size > 0) beginSoon()
  }

  const beginNext = (connection: Connection): void => {
    const next = connection.waiting.shift()
    if (next === undefined) return
    const { request, response, at } = next
    waitingInAll -= 1
    // Behind an answer that ends the connection nothing is processed (RFC 9112 section 9.6), because its answer would never
    // be sent.
    if (connection.ending || request.socket.destroyed) {
      drop(connection)
      return
    }
    connection.underWay += 1
    if (connection.waiting.length > 0) schedule(connection)
    else if (connection.held) read(connection, request.socket)
    connection.arrivedAt = at
    handle(request, response)
  }

  const drop = ({ waiting }: Connection): void => {
    waitingInAll -= waiting.length
    waiting.length = 0
  }

  const schedule = (connection: Connection): void => {
    if (connection.underWay >= UNDER_WAY) return
    ready.add(connection)
    beginSoon()
  }

  /** Reads no more of the connection until nothing waits. */
  const hold = (connection: Connection, socket: Socket): void => {
    if (connection.held === undefined) {
      // Node resumes a connection after each answer.
      socket.on('resume', () => {
        if (connection.held) socket.pause()
      })
      socket.once('close', () => drop(connection))
    }
    connection.held = true
    socket.pause()
  }

  const read = (connection: Connection, socket: Socket): void => {
    connection.held = false
    socket.resume()
  }

  // A listener for all responses, each of which is its `this`: a closure for each request would cost more.
  function over(this: ServerResponse): void {
    const connection = connectionOf(this.req.socket)
    connection.underWay -= 1
    if (connection.reading?.raw === this) connection.reading = undefined
    // What is malformed in the rest of a body that has been answered belongs to no new request.
    if (connection.latest === this && this.req.complete) connection.latest = undefined
    if (connection.waiting.length > 0) schedule(connection)
  }

  return (request, response) => {
    const { socket } = request
    const connection = connectionOf(socket)
    if (connection.ending) return
    if (waitingInAll === WAITING) {
      socket.destroy()
      return
    }
    waitingInAll += 1
    connection.waiting.push({ request, response, at: performance.now() })
    connection.latest = response
    response.on('close', over)
    if (connection.waiting.length + connection.underWay > UNDER_WAY) hold(connection, socket)
    schedule(connection)
  }
}
