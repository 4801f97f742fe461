import { createHmac, hash, randomUUID, timingSafeEqual } from 'node:crypto'
import type { Secrets } from '../../core/ports.js'
import { createRandom } from './random.js'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const LENGTH = 32
/** The greatest multiple of 62 that a byte can hold. Bytes below it favour no character when they are taken mod 62. */
const BOUND = 248

/** Bytes per block: enough for 32 characters in all but three of a million draws, which take a second block. */
const BLOCK = 40

/** In bytes. */
const NONCE = 32

/** A block is a text with a character for each byte, which Node calls `binary` or `latin1`. */
const draw = (block: (counter: number) => string): string => {
  // A text that grows by a character at a time leaves a piece for each of them to the garbage collector.
  const drawn = Buffer.allocUnsafe(LENGTH)
  let length = 0
  for (let counter = 0; length < LENGTH; counter++) {
    const bytes = block(counter)
    for (let index = 0; index < bytes.length && length < LENGTH; index++) {
      const byte = bytes.charCodeAt(index)
      if (byte < BOUND) drawn[length++] = ALPHABET.charCodeAt(byte % ALPHABET.length)
    }
  }
  return drawn.toString('latin1')
}

export const createSecrets = (): Secrets => {
  const random = createRandom()

  return {
    async random() {
      return draw(() => random(BLOCK).toString('latin1'))
    },

    async nonce() {
      return random(NONCE).toString('base64url')
    },

    async grantId() {
      return randomUUID()
    },

    async digest(text) {
      return hash('sha256', text, 'base64url')
    },

    async equal(a, b) {
      const [left, right] = [Buffer.from(a), Buffer.from(b)]
      return left.length === right.length && timingSafeEqual(left, right)
    },

    async successor(refreshToken, nonce) {
      const derive = (label: string): string =>
        draw(counter =>
          createHmac('sha256', refreshToken)
            .update(nonce, 'base64url')
            .update(label, 'ascii')
            .update(Uint8Array.of(counter))
            // A digest as a buffer takes as long as the rest of the HMAC, as Node asks the system for its memory.
            .digest('binary')
        )
      return { accessToken: derive('heroes/1 access'), refreshToken: derive('heroes/1 refresh') }
    }
  }
}
