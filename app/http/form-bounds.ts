import { type Readable, Transform } from 'node:stream'
import type { RequestPayload } from 'fastify'
import { MOST_BYTES, MOST_PARAMETERS } from './forms.js'

/**
 * Passes on the bytes of a form. Of what follows once there are more parameters, or a longer one, than a form may have,
 * only one byte of each chunk is passed on: the parser refuses the form in any case, and to decode 10 MB for that would hold
 * the event loop for more than a tenth of a second. Fastify compares the length of what arrived with its limit and with
 * `content-length`.
 */
export const withinFormBounds = (body: Readable): RequestPayload => {
  const isBeyondBounds = createBoundsCheck()
  let beyond = false
  const bounded: Transform & RequestPayload = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bounded.receivedEncodedLength = (bounded.receivedEncodedLength ?? 0) + chunk.length
      const passed = beyond ? chunk.subarray(0, 1) : chunk
      beyond ||= isBeyondBounds(chunk)
      done(null, passed)
    }
  })
  body.once('error', error => bounded.destroy(error))
  // Fastify no longer listens once it has refused a body for its length.
  bounded.on('error', () => {})
  return body.pipe(bounded)
}

const AMPERSAND = 0x26
const EQUALS = 0x3d

/** Gets the chunks of a form in their order. True from the one on in which the form goes beyond the bounds. */
const createBoundsCheck = (): ((chunk: Buffer) => boolean) => {
  let parameters = 1
  /** In bytes, of the name or the value that the chunks so far end in. */
  let length = 0
  let inValue = false

  /** True when the name or the value has become too long. */
  const addPart = (part: Buffer): boolean => {
    const equals = inValue ? -1 : part.indexOf(EQUALS)
    if (equals === -1) {
      length += part.length
      return length > MOST_BYTES
    }
    if (length + equals > MOST_BYTES) return true
    inValue = true
    length = part.length - equals - 1
    return length > MOST_BYTES
  }

  return chunk => {
    for (let start = 0; start <= chunk.length; ) {
      const ampersand = chunk.indexOf(AMPERSAND, start)
      const end = ampersand === -1 ? chunk.length : ampersand
      if (addPart(chunk.subarray(start, end))) return true
      if (ampersand === -1) break
      parameters += 1
      if (parameters > MOST_PARAMETERS) return true
      length = 0
      inValue = false
      start = end + 1
    }
    return false
  }
}
