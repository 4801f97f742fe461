import type { IncomingMessage } from 'node:http'
import { Readable, Transform, Writable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { DomainError } from '../../../core/index.js'
import { endConnection, whenOver } from '../protocol/connections.js'
import { TIME_LIMITS } from '../protocol/limits.js'
import { bodyRefusals } from '../refusals.js'

/** In bytes. Bodies up to this length are always read and never counted. */
const SMALL_BODY = 65_536

/**
 * Bounds what the large bodies of all requests take, together, to `bytes`. Returns a function that makes the stream from
 * which the body of a request is to be read; undefined when the body is small. A body counts what its `content-length`
 * declares, and a chunked one counts as `bodyLimit` once it turns out to be large. The stream fails with `overloaded` when
 * there is no room for that. What was counted is given back when the reply has been sent or its client has left.
 *
 * A large body is read piece by piece, with a pause between them. Node would read up to 2 MB of it before it looks at another
 * connection, and a client that sends without end would leave others a tenth of their rate.
 */
export const createBodyMemory = (bytes: number, bodyLimit: number): ((reply: FastifyReply) => Readable | undefined) => {
  let free = bytes

  /** False when there is no room. */
  const hold = (reply: FastifyReply, length: number): boolean => {
    if (length > free) return false
    free -= length
    whenOver(reply, () => {
      free += length
    })
    return true
  }

  const refusal = (reply: FastifyReply): DomainError => {
    endConnection(reply)
    return bodyRefusals.tooManyBodies()
  }

  return reply => {
    const { raw, headers } = reply.request
    const declared = headers['transfer-encoding'] === undefined ? Number(headers['content-length']) : undefined
    if (declared !== undefined && declared <= SMALL_BODY) return undefined
    if (declared !== undefined && !hold(reply, declared)) return unreadable(() => refusal(reply))
    let arrived = 0
    let counted = declared !== undefined
    const body = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        arrived += chunk.length
        if (arrived <= SMALL_BODY) return done(null, chunk)
        // A body that was refused already is read no further.
        if (!counted && !reply.sent) {
          counted = true
          if (!hold(reply, bodyLimit)) return done(refusal(reply))
        }
        setTimeout(done, TIME_LIMITS.piece, null, chunk)
      }
    })
    // Fastify no longer listens once it has refused a body for its length.
    body.on('error', () => {})
    return raw.pipe(body)
  }
}

/** A body that fails as soon as it is read. */
export const unreadable = (fail: () => Error): Readable =>
  new Readable({
    read() {
      this.destroy(fail())
    }
  })

/**
 * Reads what nobody else reads of a request's body, piece by piece, and discards it: a client that is still sending reads no
 * answer before it has sent all.
 */
export const discard = (request: IncomingMessage): void => {
  request.unpipe()
  request.pipe(
    new Writable({
      write(_chunk, _encoding, done) {
        setTimeout(done, TIME_LIMITS.piece)
      }
    })
  )
}
