import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import type { HttpError } from './errors.js'

/** What is known of a connection while it is open. */
export interface Connection {
  /**
   * The response to the latest request. Node sends a connection's answers in the order of its requests: once this one is
   * out, all are.
   */
  latest: ServerResponse | undefined
  /** True once an answer that ends the connection is decided on. */
  over: boolean
  /** True once nothing more can be read. */
  closing: boolean
  /** The replies that have a deadline, in the order of their requests. */
  due: Due[]
  /** True while the timer of the deadlines looks at the connection. */
  watched: boolean
}

export interface Due {
  readonly reply: FastifyReply
  /** By `performance.now()`. */
  readonly at: number
}

const CONNECTION = Symbol('connection')

// On the socket itself: a WeakMap that is written to at every request doubles the time of the garbage collector.
export const connectionOf = (socket: Socket & { [CONNECTION]?: Connection }): Connection => {
  const known = socket[CONNECTION]
  if (known !== undefined) return known
  const connection = { latest: undefined, over: false, closing: false, due: [], watched: false }
  socket[CONNECTION] = connection
  return connection
}

/** The replies to requests of which the body is being read. */
const reading = new WeakMap<ServerResponse, FastifyReply>()
/** What to answer to a request whose body is malformed, once the body would be read. */
const refusals = new WeakMap<ServerResponse, HttpError>()

/**
 * Notes that a request has arrived. False when an answer before it ends its connection: then it is not to be processed
 * (RFC 9112 section 9.6), as its answer would never be sent.
 */
export const arrived = ({ request, raw }: FastifyReply): boolean => {
  const connection = connectionOf(request.raw.socket)
  if (connection.over) return false
  connection.latest = raw
  return true
}

/** Ends the connection with this answer. */
export const endConnection = ({ request, raw }: FastifyReply): void => {
  connectionOf(request.raw.socket).over = true
  raw.setHeader('connection', 'close')
}

/** As {@link endConnection}, for a client that may go on sending: reset for that, it would not read its answer. */
export const endConnectionGently = (reply: FastifyReply): void => {
  const { socket } = reply.request.raw
  endConnection(reply)
  socket.destroySoon = () => endGently(socket)
}

/** Ends the connection with this answer unless a request has arrived behind it, whose answer would be lost. */
export const endConnectionIfLast = (reply: FastifyReply): void => {
  const { request, raw } = reply
  if (connectionOf(request.raw.socket).latest === raw) endConnection(reply)
  else raw.removeHeader('connection')
}

/** The body is about to be read. What comes back is a refusal if the body is known to be malformed by now. */
export const readingBegins = (reply: FastifyReply): HttpError | undefined => {
  reading.set(reply.raw, reply)
  return refusals.get(reply.raw)
}

/** The body has arrived. The reply, which holds it, is not kept for as long as its connection stays open. */
export const readingEnds = ({ raw }: FastifyReply): void => {
  reading.delete(raw)
}

/**
 * Ends a connection on which nothing more can be read. Sound requests are answered first. A request whose body breaks off is
 * answered with the refusal, unless it has been answered before; what is in the place of a next request is answered
 * by `answer`, which writes to the connection.
 */
export const breakOff = (socket: Socket, refusal: HttpError, answer: () => void): void => {
  // Node tells it again for each further packet, and of connections that were reset.
  const connection = connectionOf(socket)
  if (connection.closing || socket.destroyed) return
  connection.closing = true
  // A client that is still sending would be reset before it reads its answers.
  socket.destroySoon = () => endGently(socket)
  // Node ends a connection when its client has nothing more to send, whatever is still to be answered.
  socket.removeAllListeners('end')

  const finish = (response: ServerResponse | undefined): void => {
    // An answer of before may have been the last.
    if (socket.writable && response?.req.complete !== false) answer()
    endGently(socket)
  }
  const response = connection.latest
  if (response === undefined || response.closed) {
    finish(response)
  } else if (response.req.complete || response.writableEnded) {
    response.once('close', () => finish(response))
  } else {
    response.setHeader('connection', 'close')
    const reply = reading.get(response)
    if (reply === undefined) refusals.set(response, refusal)
    else reply.send(refusal)
  }
}

const DISCARD_MILLISECONDS = 2000

/** Says that nothing more will come, and discards what the client still sends for a while. */
const endGently = (socket: Socket): void => {
  socket.end()
  const cutOff = setTimeout(() => socket.destroy(), DISCARD_MILLISECONDS).unref()
  socket.once('close', () => clearTimeout(cutOff))
}
