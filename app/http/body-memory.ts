import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { DomainError } from '../../core/index.js'
import { endConnectionGently, whenOver } from './connections.js'
import { createPace, pauseFor } from './pace.js'

/** In bytes. Bodies up to this length are always read and never counted. A chunked body is counted in steps of it. */
export const SMALL_BODY = 65_536

/**
 * Bounds what the large bodies of all requests take, together, to `bytes`. Returns a function that makes the stream from
 * which the body of a request is to be read; undefined when the body is small. When the stream is first read, it counts
 * what `content-length` declares, or else what arrives. It fails with `overloaded` when there is no room for that. What
 * it counted is given back when the reply has been sent or its client has left.
 */
export const createBodyMemory = (bytes: number, bodyLimit: number): ((reply: FastifyReply) => Readable | undefined) => {
  let free = bytes
  const pace = createPace()

  const countedBody = (reply: FastifyReply, declared: number | undefined): Readable => {
    const { raw } = reply.request
    let begun = false
    let arrived = 0
    let held = 0
    let over = false

    /** False when there is no room. */
    const hold = (length: number): boolean => {
      if (over) return true
      if (length > free) return false
      const isFirst = held === 0
      free -= length
      held += length
      if (isFirst) whenOver(reply, giveBack)
      return true
    }

    const giveBack = (): void => {
      over = true
      free += held
    }

    const holdArrived = (): boolean => {
      // Fastify refuses a body that is longer than the limit, so that it takes no more than that.
      const wanted = Math.min(Math.ceil(arrived / SMALL_BODY) * SMALL_BODY, bodyLimit)
      return arrived <= SMALL_BODY || hold(wanted - held)
    }

    const refuse = (): void => {
      raw.off('data', take)
      endConnectionGently(reply)
      body.destroy(new DomainError('overloaded', 'too many large bodies are being read', { retryAfterSeconds: 1 }))
    }

    const take = (chunk: Buffer): void => {
      arrived += chunk.length
      // The end of a large body waits for its turn as well, and so does its decoding.
      if (arrived > SMALL_BODY) pauseFor(raw, pace)
      // The rest of a body that was refused for its length, or that took too long, is discarded.
      if (reply.sent) return
      if (declared !== undefined || holdArrived()) body.push(chunk)
      else refuse()
    }

    const body = new Readable({
      read() {
        if (begun) return
        begun = true
        if (declared !== undefined && !hold(declared)) return refuse()
        raw.on('data', take)
        raw.once('end', () => body.push(null))
      }
    })
    // Fastify no longer listens once it has refused a body for its length.
    body.on('error', () => {})
    return body
  }

  return reply => {
    const { headers } = reply.request
    if (headers['transfer-encoding'] !== undefined) return countedBody(reply, undefined)
    const declared = Number(headers['content-length'])
    return declared > SMALL_BODY ? countedBody(reply, declared) : undefined
  }
}

/**
 * Returns a function that reads what nobody else reads of a request's body, and discards it: a client that is still
 * sending reads no answer before it has sent all.
 */
export const createDiscard = (): ((request: IncomingMessage) => void) => {
  const pace = createPace()
  return request => {
    if (request.listenerCount('data') > 0) return
    let arrived = 0
    request.on('data', (chunk: Buffer) => {
      arrived += chunk.length
      if (arrived > SMALL_BODY) pauseFor(request, pace)
    })
    request.resume()
  }
}
