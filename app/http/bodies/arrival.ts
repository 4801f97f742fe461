import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Readable, Transform, Writable } from 'node:stream'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import type { DomainError } from '../../../core/index.js'
import { endConnection, whenOver } from '../protocol/connections.js'
import { TIME_LIMITS } from '../protocol/limits.js'
import { bodyRefusals } from '../refusals.js'

/** In bytes. Bodies up to this length are always read and never counted. */
const SMALL_BODY = 65_536
/** In bytes: what is handed on at a time. */
const PIECE = 65_536
/** In bytes: what a chunk counts beside its content, as it takes time however short it is. */
const CHUNK = 32

/**
 * Calls back one caller after the other. After each call comes a pause, for as long as the call and what followed from it held
 * the event loop: at least half of its time is left to everything else. A caller whose connection has closed gets no turn, and
 * what it holds is let go.
 */
type Pace = (go: () => void, socket: Pick<Socket, 'destroyed'>) => void

const createPace = (): Pace => {
  let last = sleep(0)
  const callAndPause = async (go: () => void): Promise<void> => {
    const startedAt = performance.now()
    go()
    // The event loop comes back when everything is done that has been called back for.
    await turn()
    await sleep(Math.max(TIME_LIMITS.piece, performance.now() - startedAt))
  }
  return (go, socket) => {
    last = last.then(() => (socket.destroyed ? undefined : callAndPause(go)))
  }
}

/**
 * Bounds what the large bodies of all requests take, together, to `bytes`. Returns a function that makes the stream from
 * which the body of a request is to be read; undefined when the body is small. A body counts what its `content-length`
 * declares, and a chunked one counts as `bodyLimit` once it turns out to be large. The stream fails with `overloaded` when
 * there is no room for that. What was counted is given back when the reply has been sent or its client has left.
 *
 * Bodies are read in pieces of {@link PIECE}, one piece after the other. Node would read up to 2 MB of one before it looks at
 * another connection, and a client that sends without end would leave others a tenth of their rate.
 */
export const createBodyMemory = (bytes: number, bodyLimit: number): ((reply: FastifyReply) => Readable | undefined) => {
  let free = bytes
  const pace = createPace()

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
    const chunks: Buffer[] = []
    const endsPiece = createPieces()
    const takePiece = (): Buffer => Buffer.concat(chunks.splice(0))
    const body = new Transform({
      // Nothing more is taken while a piece waits: 16 kB can be as many chunks.
      writableHighWaterMark: 1,
      transform(chunk: Buffer, _encoding, done) {
        arrived += chunk.length
        chunks.push(chunk)
        // A body that was refused already is read no further.
        if (arrived > SMALL_BODY && !counted && !reply.sent) {
          counted = true
          if (!hold(reply, bodyLimit)) return done(refusal(reply))
        }
        if (endsPiece(chunk)) pace(() => done(null, takePiece()), raw.socket)
        else done()
      },
      flush: done => done(null, takePiece())
    })
    // Fastify no longer listens once it has refused a body for its length.
    body.on('error', () => {})
    return raw.pipe(body)
  }
}

/** Tells of each chunk of a body whether a piece ends with it. */
const createPieces = (): ((chunk: Buffer) => boolean) => {
  let length = 0
  return chunk => {
    length += chunk.length + CHUNK
    if (length < PIECE) return false
    length = 0
    return true
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
 * Makes what reads the rest of a request's body that nobody else reads, piece by piece, and discards it: a client that
 * is still sending reads no answer before it has sent all.
 */
export const createDiscard = (): ((request: IncomingMessage) => void) => {
  const pace = createPace()
  return request => {
    const endsPiece = createPieces()
    request.unpipe()
    request.pipe(
      new Writable({
        write(chunk: Buffer, _encoding, done) {
          if (endsPiece(chunk)) pace(done, request.socket)
          else done()
        }
      })
    )
  }
}
