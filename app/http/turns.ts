import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Arrived, type Connection, connectionOf, isHolding, setLatest } from './connections.js'
import { hasBody } from './framing.js'

/** What Node calls for a request whose head has arrived. */
type Handle = (request: IncomingMessage, response: ServerResponse) => void

/**
 * How many requests of one connection are begun before the first of them is answered. Few clients send a request before
 * they have the answer to the one before (RFC 9112 section 9.3.2).
 */
const AT_ONCE = 4

/** How many requests of all connections may be held back, together. Each takes about 4 kB. */
const MOST_HELD = 10_000

/** A connection that has sent so many requests in succession is taken for the only one that is sending. */
const ALONE_FROM = 8

/**
 * Begins the requests that arrive in one turn of the event loop together, when all of them have arrived: then their
 * look-ups share statements, and their answers leave one after the other. A client that gets each answer by itself is
 * woken for each, which takes a third of the time that a read in memory takes. The request of a connection that seems to
 * be alone has nobody to wait for and begins at once, unless it has a body: that saves a fiftieth of the time of a read. A
 * body that came along with its head is only read behind the head, and a request whose body is there may be served faster.
 *
 * Makes requests wait for their turn that a client sends without waiting for answers. Node parses 64 kB at once, which may
 * be two thousand requests, and would begin them all: one connection at 1 MB/s would hold up everybody for a second. Of a
 * connection {@link AT_ONCE} requests are begun at most, and those behind them when they are answered, one connection in
 * each turn of the event loop. Nothing more is read from it meanwhile. A connection is closed when more than
 * {@link MOST_HELD} would be held back.
 */
export const createTurns = (handle: Handle): Handle => {
  let arrived: Arrived[] = []
  /** The connection of the latest request, and how many requests it has sent since another one has sent any. */
  let latestConnection: Connection | undefined
  let inSuccession = 0
  let heldInAll = 0
  const turns: (() => void)[] = []

  /**
   * Behind an answer that ends the connection nothing is processed (RFC 9112 section 9.6), because its answer would never
   * be sent.
   */
  const begin = ({ request, response, at }: Arrived): void => {
    const { socket } = request
    const connection = connectionOf(socket)
    if (connection.ending || socket.destroyed) return
    connection.arrivedAt = at
    handle(request, response)
  }

  const beginArrived = (): void => {
    const all = arrived
    arrived = []
    for (const each of all) begin(each)
  }

  const takeTurn = (): void => {
    for (const turn of turns.splice(0, 1)) turn()
    if (turns.length > 0) setImmediate(takeTurn)
  }

  const beginWhenClosed = (response: ServerResponse, connection: Connection, held: Arrived[], socket: Socket): void => {
    const beginNext = (): void => {
      // None are left when the client has gone.
      const batch = held.splice(0, AT_ONCE)
      heldInAll -= batch.length
      connection.begun = batch.length
      const last = held.length === 0 ? undefined : batch.at(-1)
      if (last === undefined) socket.resume()
      else beginWhenClosed(last.response, connection, held, socket)
      for (const each of batch) begin(each)
    }
    response.once('close', () => {
      if (turns.push(beginNext) === 1) setImmediate(takeTurn)
    })
  }

  /** What is held back of a connection. */
  const createLine = (socket: Socket, connection: Connection): Arrived[] => {
    const held: Arrived[] = []
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

  const holdBack = (each: Arrived, socket: Socket, connection: Connection, latest: ServerResponse): void => {
    connection.held ??= createLine(socket, connection)
    if (connection.held.push(each) === 1) {
      socket.pause()
      beginWhenClosed(latest, connection, connection.held, socket)
    }
    heldInAll += 1
  }

  return (request, response) => {
    const { socket } = request
    const connection = connectionOf(socket)
    const { latest } = connection
    if (connection.ending) return
    setLatest(connection, response)
    inSuccession = connection === latestConnection ? inSuccession + 1 : 1
    latestConnection = connection
    const each = { request, response, at: performance.now() }
    const isIdle = latest === undefined || latest.closed
    if (isIdle) connection.begun = 0
    if (isIdle || (connection.begun < AT_ONCE && !isHolding(connection))) {
      connection.begun += 1
      if (isIdle && inSuccession >= ALONE_FROM && !hasBody(request)) begin(each)
      else if (arrived.push(each) === 1) setImmediate(beginArrived)
    } else if (heldInAll < MOST_HELD) {
      holdBack(each, socket, connection, latest)
    } else {
      socket.destroy()
    }
  }
}
