import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { replyToArriving } from './bodies.js'
import { type AnswerFor, HttpError } from './errors.js'
import type { Headers } from './headers.js'

const REFUSALS: Readonly<Record<string, HttpError>> = {
  ERR_HTTP_REQUEST_TIMEOUT: new HttpError(408, 'the request took too long to arrive'),
  HPE_HEADER_OVERFLOW: new HttpError(431, 'the headers are too large'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: new HttpError(413, 'the chunk extensions are too large')
}
const MALFORMED = new HttpError(400, 'the request is malformed')

/** Answers what Node's parser refuses, and requests that do not arrive in time: no route, no hook, no reply knows of them. */
export const createParserErrorHandler =
  (answerFor: AnswerFor, headers: Headers) =>
  (error: Error & { code?: string }, socket: Socket): void => {
    const refusal = REFUSALS[String(error.code)] ?? MALFORMED
    const reply = replyToArriving(socket)
    if (reply !== undefined) {
      reply.raw.setHeader('connection', 'close')
      reply.send(refusal)
      return
    }
    const answer = answerFor(refusal, '')
    const fields = { ...headers, ...answer.headers, 'content-length': answer.body.length, connection: 'close' }
    const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
    // To a connection that was reset, or that has been answered and goes on sending, this writes nothing.
    socket.write(`HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}\r\n${head.join('')}\r\n${answer.body}`)
    socket.destroySoon()
  }
