import { createHmac, hash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import type { Secrets } from '../../core/ports.js'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const LENGTH = 32
/** The greatest multiple of 62 that a byte can hold. Bytes below it favour no character when they are taken mod 62. */
const BOUND = 248

/** Bytes per block: enough for 32 characters in all but three of a million draws, which take a second block. */
const BLOCK = 40

/** In bytes. */
const NONCE = 32

const draw = (block: (counter: number) => Uint8Array): string => {
  let drawn = ''
  for (let counter = 0; drawn.length < LENGTH; counter++) {
    for (const byte of block(counter)) if (byte < BOUND) drawn += ALPHABET[byte % ALPHABET.length]
  }
  return drawn.slice(0, LENGTH)
}

export const createSecrets = (): Secrets => ({
  async random() {
    return draw(() => randomBytes(BLOCK))
  },

  async nonce() {
    return randomBytes(NONCE).toString('base64url')
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
          .digest()
      )
    return { accessToken: derive('heroes/1 access'), refreshToken: derive('heroes/1 refresh') }
  }
})
