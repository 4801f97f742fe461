import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { breakOff, isBrokenOff } from './connections.js'
import { type AnswerFor, type Asker, HttpError, MALFORMED, noSuchPath } from './errors.js'
import { type Headers, UNCACHED } from './headers.js'
import { createPace, pauseFor } from './pace.js'

const REFUSALS: Readonly<Record<string, HttpError>> = {
  ERR_HTTP_REQUEST_TIMEOUT: new HttpError(
    408,
    'the request took too long to arrive: send its headers within 20 seconds and all of it within 120'
  ),
  HPE_HEADER_OVERFLOW: new HttpError(431, 'the headers are too large: send at most 32 kB'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: new HttpError(
    413,
    'the chunk extensions are too large: send chunks without extensions'
  )
}
/** Only pages differ by whom they are for. */
const NOBODY: Asker = { id: '', headers: {} }

const MALFORMED_REQUEST = new HttpError(400, MALFORMED)

/** Answers requests that never reach a route or a hook. Each of these answers ends its connection. */
export interface ParserErrors {
  /** For bytes that Node's parser refuses, and for requests that do not arrive in time. */
  refuse(error: Error & { code?: string }, socket: Socket): void
  /** For `CONNECT`. Node would close the connection without an answer, even before earlier requests are answered. */
  refuseTunnel(request: IncomingMessage): void
}

export const createParserErrors = (answerFor: AnswerFor, headers: Headers): ParserErrors => {
  const write = (socket: Socket, refusal: HttpError): void => {
    const answer = answerFor(refusal, 'json', NOBODY)
    // Which path was asked for is not known.
    const fields = {
      ...headers,
      date: new Date().toUTCString(),
      ...UNCACHED,
      ...answer.headers,
      'content-length': answer.body.length,
      connection: 'close'
    }
    const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}\r\n${head.join('')}\r\n${answer.body}`)
  }

  const pace = createPace()

  return {
    refuse(error, socket) {
      // Node also reports connections that were reset.
      if (socket.destroyed) return
      // Node reports the error again for each further packet.
      if (isBrokenOff(socket)) return pauseFor(socket, pace)
      const refusal = REFUSALS[String(error.code)] ?? MALFORMED_REQUEST
      breakOff(socket, refusal, () => write(socket, refusal))
    },
    refuseTunnel({ socket }) {
      // For CONNECT, Node has removed its own listeners from the socket.
      socket.on('error', () => {}).on('timeout', () => socket.destroy())
      // Among them are those that stop and begin reading: a connection that is paused would never be read again.
      socket._read(0)
      socket.on('data', () => pauseFor(socket, pace))
      const refusal = noSuchPath()
      breakOff(socket, refusal, () => write(socket, refusal))
    }
  }
}
