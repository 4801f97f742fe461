import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import type { HttpError } from '../errors.js'
import { TIME_LIMITS } from './limits.js'

/** What the server remembers of an open connection. */
export class Connection {
  /**
   * The response to the latest request. Node sends the answers of a connection in the order of its requests, so when
   * this response is sent, all of them are. Undefined before the first request, and once the latest has arrived whole and is
   * answered: kept for longer, it would be copied at each minor garbage collection.
   */
  latest: ServerResponse | undefined = undefined
  /** The reply to the request whose body is being read, if some of the body has not arrived. */
  reading: FastifyReply | undefined = undefined
  /** True once the connection is to end: nothing that arrives behind is served. */
  ending = false
  /** The refusal of something malformed that has arrived: nothing more can be read. */
  broken: HttpError | undefined = undefined
  /** The requests that have not begun, in their order. */
  readonly waiting: Arrived[] = []
  /** How many requests have begun and are not answered. */
  underWay = 0
  /** True while nothing more is read, because too many requests are waiting. Undefined until that happens. */
  held: boolean | undefined = undefined
  /** When the time of each reply that is not being sent is over, on the clock of `performance.now()`. */
  readonly deadlines: { readonly reply: FastifyReply; at: number }[] = []
  /** When the request arrived that has begun last, in milliseconds, on the clock of `performance.now()`. */
  arrivedAt: number | undefined = undefined
}

/** A request whose head has arrived. */
interface Arrived {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** In milliseconds, on the clock of `performance.now()`. */
  readonly at: number
}

const CONNECTION = Symbol('connection')

// A property of the socket: a WeakMap that is written to at every request doubles the time of garbage collection.
export const connectionOf = (socket: Socket & { [CONNECTION]?: Connection }): Connection => {
  socket[CONNECTION] ??= new Connection()
  return socket[CONNECTION]
}

/**
 * Closes connections beyond so many at once. The first is warned of at once, and those that follow once a minute, with their
 * number.
 */
export const boundConnections = (server: Server, most: number, logger: Pick<FastifyBaseLogger, 'warn'>): void => {
  let closed = 0
  let isSilent = false
  const warn = (): void => {
    isSilent = closed > 0
    if (!isSilent) return
    logger.warn({ closed, maxConnections: most }, 'there were too many connections, and new ones were closed')
    closed = 0
    setTimeout(warn, TIME_LIMITS.connectionWarning).unref()
  }
  server.maxConnections = most
  server.on('drop', () => {
    closed += 1
    if (!isSilent) warn()
  })
}

/**
 * True when each request whose head has arrived is answered and has arrived as a whole. One that is ending is not idle:
 * it closes by itself, when its client has had the time to read its last answer.
 */
export const isIdle = (socket: Socket): boolean => {
  const { latest, ending, broken } = connectionOf(socket)
  return !ending && broken === undefined && (latest === undefined || (latest.closed && latest.req.complete))
}

/** Ends the connection with this answer. */
export const endConnection = ({ request, raw }: FastifyReply): void => {
  const connection = connectionOf(request.raw.socket)
  connection.ending = true
  connection.latest = raw
  raw.setHeader('connection', 'close')
}

/** As {@link endConnection}, unless a later request has arrived on the connection, whose answer would be lost. */
export const endConnectionIfLast = (reply: FastifyReply): void => {
  const { request, raw } = reply
  if (connectionOf(request.raw.socket).latest === raw) endConnection(reply)
  else raw.removeHeader('connection')
}

/**
 * Where an answer ends the connection, discards what the client still sends, for a while. Otherwise a client that is
 * sending would be reset before it reads the answer.
 */
export const endGentlyOnceSent = (socket: Socket): void => {
  socket.destroySoon = () => endGently(socket)
}

/** Tells the client that no more answers come, and closes the connection when the client does, or after a while. */
export const endGently = (socket: Socket): void => {
  socket.end()
  const cutOff = setTimeout(() => socket.destroy(), TIME_LIMITS.discard)
  socket.once('close', () => clearTimeout(cutOff))
}

/** Calls back once: when the reply has been sent, or when it can no longer be, because its connection has closed. */
export const whenOver = ({ request, raw }: FastifyReply, callback: () => void): void => {
  const { socket } = request.raw
  if (socket.destroyed || raw.closed) {
    callback()
  } else if (raw.socket !== null) {
    raw.once('close', callback)
  } else {
    // Node closes with the connection the response that is being sent, but not those that wait behind it without a socket.
    const end = (): void => {
      raw.off('close', end)
      socket.off('close', end)
      callback()
    }
    raw.once('close', end)
    socket.setMaxListeners(0).once('close', end)
  }
}

/**
 * True when the client of a request that is over has left before its answer. A client that closes the connection amid a
 * body has left too, although the refusal of that body is written: only one that ends its sending side alone reads it.
 */
export const hasLeft = ({ writableEnded }: ServerResponse, { raw }: Pick<FastifyRequest, 'raw'>): boolean =>
  !writableEnded || (!raw.complete && raw.socket.readableEnded)

/** nginx's status for a client that left before its answer: what logs and metrics have for it. */
export const CLIENT_LEFT = 499
