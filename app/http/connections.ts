import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { HttpError } from './errors.js'

/** What the server remembers of an open connection. */
export interface Connection {
  /**
   * The response to the latest request. Node sends the answers of a connection in the order of its requests, so when
   * this response is sent, all of them are. Undefined before the first request, and once the latest has arrived whole and is
   * answered.
   */
  latest: ServerResponse | undefined
  /** True once an answer has been chosen to end the connection. */
  ending: boolean
  /** True once {@link breakOff} was called: nothing more can be read. */
  brokenOff: boolean
  /** The deadlines of replies that are not sent. */
  deadlines: Deadline[]
  /** True while the timer of deadlines.ts checks the connection. */
  watched: boolean
  /** How many requests have begun since all before them were answered. */
  begun: number
  /** The requests that turns.ts holds back, of which {@link latest} is the last. Undefined until there was one. */
  held: Arrived[] | undefined
  /** Forgets the requests that are held back, and reads on. Undefined until there was one. */
  dropHeld: (() => void) | undefined
  /** When the request arrived that has begun last, in milliseconds, on the clock of `performance.now()`. */
  arrivedAt: number | undefined
  /** What {@link whenOver} is to call. Undefined until there has been something. */
  waiting: Set<() => void> | undefined
}

/** A request whose head has arrived. */
export interface Arrived {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** In milliseconds, on the clock of `performance.now()`. */
  readonly at: number
}

export interface Deadline {
  readonly reply: FastifyReply
  /** In milliseconds, on the clock of `performance.now()`. */
  readonly at: number
}

const CONNECTION = Symbol('connection')

// A property of the socket: a WeakMap that is written to at every request doubles the time of garbage collection.
export const connectionOf = (socket: Socket & { [CONNECTION]?: Connection }): Connection => {
  const known = socket[CONNECTION]
  if (known !== undefined) return known
  const connection = {
    latest: undefined,
    ending: false,
    brokenOff: false,
    deadlines: [],
    watched: false,
    begun: 0,
    held: undefined,
    dropHeld: undefined,
    arrivedAt: undefined,
    waiting: undefined
  }
  socket[CONNECTION] = connection
  return connection
}

/**
 * The replies to requests whose body is being read. A connection may have several: of two requests that arrive together the
 * later one may begin to be read first, while the token of the earlier one is checked.
 */
const reading = new WeakMap<ServerResponse, FastifyReply>()
/** The refusals of bodies that turned out to be malformed before the server began to read them. */
const refusals = new WeakMap<ServerResponse, HttpError>()

/**
 * Notes the response to the latest request, and forgets it when it is over. Otherwise each quick garbage collection would
 * copy the last request of each connection that is open and quiet: beside 320 of them that took a twelfth of the core.
 */
export const setLatest = (connection: Connection, response: ServerResponse): void => {
  connection.latest = response
  response.on('close', forget)
}

function forget(this: ServerResponse): void {
  const connection = connectionOf(this.req.socket)
  // What is broken in a body that has been answered belongs to no new request, see breakOff.
  if (connection.latest === this && this.req.complete) connection.latest = undefined
}

/** True while requests are held back. */
export const isHolding = ({ held }: Connection): boolean => held !== undefined && held.length > 0

/** Ends the connection with this answer. */
const endConnection = ({ request, raw }: FastifyReply): void => {
  const connection = connectionOf(request.raw.socket)
  connection.ending = true
  connection.latest = raw
  raw.setHeader('connection', 'close')
  if (isHolding(connection)) connection.dropHeld?.()
}

/** As {@link endConnection}, for a client that may still be sending and would be reset before it reads the answer. */
export const endConnectionGently = (reply: FastifyReply): void => {
  const { socket } = reply.request.raw
  endConnection(reply)
  socket.destroySoon = () => endGently(socket)
}

/**
 * Lets the rest of the body arrive before the connection ends, where this answer or a later one ends it. A client that is
 * still sending would be reset before it reads the answer.
 */
export const letBodyArrive = ({ request: { raw } }: FastifyReply): void => {
  const { socket } = raw
  const { ending, brokenOff } = connectionOf(socket)
  // An answer that was chosen to end the connection waits for nobody so long. Of a body that is malformed or has taken too
  // long no end arrives, and the client could keep the connection for ever.
  if (ending || brokenOff) return
  socket.destroySoon = () => {
    socket.end()
    if (raw.readableEnded) endGently(socket)
    else raw.once('end', () => endGently(socket))
  }
}

/** As {@link endConnection}, unless a later request has arrived on the connection, whose answer would be lost. */
export const endConnectionIfLast = (reply: FastifyReply): void => {
  const { request, raw } = reply
  if (connectionOf(request.raw.socket).latest === raw) endConnection(reply)
  else raw.removeHeader('connection')
}

/** Notes that the body is about to be read. Returns a refusal when the body is already known to be malformed. */
export const beginReading = (reply: FastifyReply): HttpError | undefined => {
  reading.set(reply.raw, reply)
  return refusals.get(reply.raw)
}

/** Notes that the body has arrived. Otherwise the reply and its body would be kept while the connection is open. */
export const endReading = ({ raw }: FastifyReply): void => {
  reading.delete(raw)
}

/**
 * Calls back once, with the response as `this`: when the reply has been sent, or when it can no longer be, because its
 * connection has closed.
 */
export const whenOver = ({ request, raw }: FastifyReply, callback: (this: ServerResponse) => void): void => {
  const { socket } = request.raw
  if (socket.destroyed || raw.closed) {
    callback.call(raw)
    return
  }
  // Node closes with the connection the response that is being sent, but not those that wait behind it without a socket.
  if (raw.socket !== null) {
    raw.on('close', callback)
    return
  }
  const connection = connectionOf(socket)
  if (connection.waiting === undefined) {
    const waiting = new Set<() => void>()
    connection.waiting = waiting
    socket.once('close', () => {
      for (const end of waiting) end()
    })
  }
  const { waiting } = connection
  const end = (): void => {
    if (waiting.delete(end)) callback.call(raw)
  }
  waiting.add(end)
  raw.once('close', end)
}

/**
 * True when the client of a request that is over has left before its answer. A client that closes the connection amid a
 * body has left too, although the refusal of that body is written: only one that ends its sending side alone reads it.
 */
export const hasLeft = ({ writableEnded }: ServerResponse, { raw }: Pick<FastifyRequest, 'raw'>): boolean =>
  !writableEnded || (!raw.complete && raw.socket.readableEnded)

/** nginx's status for a client that left before its answer: what logs and figures have for it. */
export const CLIENT_LEFT = 499

/** True once {@link breakOff} was called. */
export const isBrokenOff = (socket: Socket): boolean => connectionOf(socket).brokenOff

/**
 * Ends a connection on which nothing more can be read, after the answers to the requests that have arrived whole. When
 * the malformed bytes are the body of a request, its answer is the refusal, unless it has an answer already. When they
 * stand in the place of a new request, `writeRefusal` is called, which writes the refusal to the connection.
 */
export const breakOff = (socket: Socket, refusal: HttpError, writeRefusal: () => void): void => {
  const connection = connectionOf(socket)
  connection.brokenOff = true
  // Otherwise a client that is still sending would be reset before it reads its answers.
  socket.destroySoon = () => endGently(socket)
  // Node's listener would close the connection when the client stops sending, even before requests are answered.
  socket.removeAllListeners('end')

  const finish = (response: ServerResponse | undefined): void => {
    // No refusal when an earlier answer has ended the connection, or when the malformed body is of an answered request.
    if (socket.writable && response?.req.complete !== false) writeRefusal()
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

/** Tells the client that no more answers come, and discards what it still sends until it closes or the time is up. */
const endGently = (socket: Socket): void => {
  socket.end()
  const cutOff = setTimeout(() => socket.destroy(), DISCARD_MILLISECONDS).unref()
  socket.once('close', () => clearTimeout(cutOff))
}
