import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { addressOf } from '../client-address.js'
import { type AnswerFor, type Asker, HttpError, noSuchPath } from '../errors.js'
import { type Headers, UNCACHED } from '../headers.js'
import type { ErrorForm } from '../paths.js'
import { bodyRefusals } from '../refusals.js'
import { connectionOf, endGently, endGentlyOnceSent } from './connections.js'
import { TIME_LIMITS } from './limits.js'

const REFUSALS: Readonly<Record<string, HttpError>> = {
  ERR_HTTP_REQUEST_TIMEOUT: bodyRefusals.tooSlow(),
  HPE_HEADER_OVERFLOW: new HttpError(431, 'the address and the headers are too large: send at most 32 kB together'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: bodyRefusals.chunkExtensions()
}

/** Only pages differ by whom they are for. */
const NOBODY: Asker = { id: '', headers: {} }

/**
 * Ends connections on which nothing more can be read: with the refusal where nothing is unanswered, or where the body of an
 * unanswered request is what cannot be read, and else with the answer to the latest request.
 */
interface ParserErrors {
  /** For bytes that Node's parser refuses, and for requests that do not arrive in time. */
  refuse(error: Error & { code?: string; rawPacket?: unknown }, socket: Socket): void
  /** For `CONNECT`. Node would close the connection without an answer. */
  refuseTunnel(request: IncomingMessage): void
}

/**
 * Called once for a connection that has brought what cannot be read, or `CONNECT`, unless that is the body of a request
 * that is yet to be answered, and so to be logged and counted. The address is the connection's, undefined when it is
 * closed already.
 */
export type OnUnparsed = (refusal: { readonly status: number; readonly address: string | undefined }) => void

/** `formAt`: the form of errors at a path. */
export const createParserErrors = (
  answerFor: AnswerFor,
  formAt: (url: string) => ErrorForm,
  headers: Headers,
  onUnparsed: OnUnparsed
): ParserErrors => {
  const write = (socket: Socket, refusal: HttpError, packet: unknown): void => {
    const [, url = ''] = /^[A-Z]+ (\/[^ ]*)/.exec(String(packet)) ?? []
    const answer = answerFor(refusal, formAt(url), NOBODY)
    // The path may be unknown and one under `/auth/`, so no cache may keep the answer.
    const fields = {
      ...headers,
      date: new Date().toUTCString(),
      ...UNCACHED,
      ...answer.headers,
      'content-length': Buffer.byteLength(answer.body),
      connection: 'close'
    }
    const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}\r\n${head.join('')}\r\n${answer.body}`)
  }

  const end = (socket: Socket, refusal: HttpError, packet?: unknown): void => {
    const connection = connectionOf(socket)
    const { latest, reading } = connection
    connection.broken = refusal
    const isOfRequest = latest !== undefined && !latest.headersSent && !latest.req.complete
    if (!isOfRequest) {
      const { remoteAddress } = socket
      onUnparsed({ status: refusal.status, address: remoteAddress && addressOf(remoteAddress).address })
    }
    if (latest === undefined || latest.closed) {
      // The rest of a request that has been answered draws no second answer.
      if (latest?.req.complete !== false && socket.writable) write(socket, refusal, packet)
      endGently(socket)
      return
    }
    // Node's listener would drop answers, or end the connection before them, when the client stops sending.
    socket.removeAllListeners('end')
    endGentlyOnceSent(socket)
    latest.once('close', () => endGently(socket))
    if (latest.headersSent) return
    latest.setHeader('connection', 'close')
    if (reading?.raw === latest) reading.send(refusal)
  }

  return {
    refuse(error, socket) {
      // Node also reports connections that were reset.
      if (socket.destroyed) return
      // Node reports the error again for each further packet.
      if (connectionOf(socket).broken !== undefined) pauseBriefly(socket)
      else end(socket, REFUSALS[String(error.code)] ?? bodyRefusals.malformed(), error.rawPacket)
    },
    refuseTunnel({ socket }) {
      // For CONNECT, Node has removed its own listeners from the socket, and reads nothing more.
      socket.on('error', () => {})
      end(socket, noSuchPath())
    }
  }
}

/** A client that sends without end holds up no other. */
const pauseBriefly = (socket: Socket): void => {
  socket.pause()
  setTimeout(() => socket.resume(), TIME_LIMITS.piece)
}
