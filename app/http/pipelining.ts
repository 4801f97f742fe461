import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Connection, connectionOf, type HeldRequest, isHolding } from './connections.js'

/** What Node calls for a request whose head has arrived. */
type Handle = (request: IncomingMessage, response: ServerResponse) => void

/**
 * How many requests of one connection are begun before the first of them is answered. Few clients send a request before
 * they have the answer to the one before (RFC 9112 section 9.3.2).
 */
const AT_ONCE = 4

/** How many requests of all connections may be held back, together. Each takes about 4 kB. */
const MOST_HELD = 10_000

/**
 * Makes requests wait for their turn that a client sends without waiting for answers. Node parses 64 kB at once, which may
 * be two thousand requests, and would begin them all: one connection at 1 MB/s would hold up everybody for a second. Of a
 * connection {@link AT_ONCE} requests are begun at most, and those behind them when they are answered, one connection in
 * each turn of the event loop. Nothing more is read from it meanwhile. A connection is closed when more than
 * {@link MOST_HELD} would be held back.
 */
export const createTurns = (handle: Handle): Handle => {
  let heldInAll = 0
  const turns: (() => void)[] = []

  const takeTurn = (): void => {
    for (const turn of turns.splice(0, 1)) turn()
    if (turns.length > 0) setImmediate(takeTurn)
  }

  const beginWhenClosed = (
    response: ServerResponse,
    connection: Connection,
    held: HeldRequest[],
    socket: Socket
  ): void => {
    const beginNext = (): void => {
      // None are left when the client has gone.
      const batch = held.splice(0, AT_ONCE)
      heldInAll -= batch.length
      connection.begun = batch.length
      const last = held.length === 0 ? undefined : batch.at(-1)
      if (last === undefined) socket.resume()
      else beginWhenClosed(last.response, connection, held, socket)
      for (const { request, response, arrivedAt } of batch) {
        connection.arrivedAt = arrivedAt
        handle(request, response)
      }
      connection.arrivedAt = undefined
    }
    response.once('close', () => {
      if (turns.push(beginNext) === 1) setImmediate(takeTurn)
    })
  }

  /** What is held back of a connection. */
  const createLine = (socket: Socket, connection: Connection): HeldRequest[] => {
    const held: HeldRequest[] = []
    connection.dropHeld = () => {
      heldInAll -= held.length
      held.length = 0
      socket.resume()
    }
    // Node resumes a connection after each answer.
    socket.on('resume', () => {
      if (held.length > 0 && !connection.brokenOff) socket.pause()
    })
    socket.once('close', connection.dropHeld)
    return held
  }

  return (request, response) => {
    const { socket } = request
    const connection = connectionOf(socket)
    const { latest } = connection
    const isIdle = latest === undefined || latest.closed
    if (connection.ending) return
    if (isIdle) connection.begun = 0
    if (isIdle || (connection.begun < AT_ONCE && !isHolding(connection))) {
      connection.begun += 1
      handle(request, response)
      return
    }
    if (heldInAll >= MOST_HELD) socket.destroy()
    if (socket.destroyed) return
    connection.held ??= createLine(socket, connection)
    if (connection.held.push({ request, response, arrivedAt: performance.now() }) === 1) {
      socket.pause()
      beginWhenClosed(latest, connection, connection.held, socket)
    }
    heldInAll += 1
    connection.latest = response
  }
}
