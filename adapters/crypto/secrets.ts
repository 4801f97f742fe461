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

const draw = (block: (counter: number) => Uint8Array): string => {
  let text = ''
  for (let counter = 0; text.length < LENGTH; counter++) {
    for (const byte of block(counter)) {
      if (byte < BOUND && text.length < LENGTH) text += ALPHABET.charAt(byte % ALPHABET.length)
    }
  }
  return text
}

export const createSecrets = (): Secrets => {
  const random = createRandom()

  return {
    async random() {
      return draw(() => random(BLOCK))
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
            .digest()
        )
      return { accessToken: derive('heroes/1 access'), refreshToken: derive('heroes/1 refresh') }
    }
  }
}
