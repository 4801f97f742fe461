import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { hash as argon2id, parseOptions, verify as verifyArgon2id } from '@node-rs/argon2'
import type { PasswordHasher } from '../../core/ports.js'
import { createGate } from './gate.js'

export interface Argon2Parameters {
  /** In KiB. */
  readonly memoryCost: number
  /** Passes. */
  readonly timeCost: number
  /** Lanes. */
  readonly parallelism: number
}

export interface PasswordHasherOptions {
  /** Hashes at once; by default one less than the cores, at least 1 and at most 3: zlib and DNS share libuv's four threads. */
  readonly concurrency?: number | undefined
  /** Hashes that may wait beside those; 64 by default. */
  readonly queue?: number | undefined
  /** 19 MiB, 2 passes and 1 lane by default, as OWASP has it. */
  readonly parameters?: Argon2Parameters | undefined
}

const SALT_BYTES = 16
const HASH_BYTES = 32

export const createPasswordHasher = ({
  concurrency = Math.min(3, Math.max(1, availableParallelism() - 1)),
  queue = 64,
  parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
}: PasswordHasherOptions = {}): PasswordHasher => {
  const pass = createGate(concurrency, queue)
  const { memoryCost, timeCost, parallelism } = parameters
  const current = `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$`
  // Written, not computed: the first comparison with it takes as long as every other. No password is known to hash to it.
  const dummy = `${current}${phcBase64(randomBytes(SALT_BYTES))}$${phcBase64(randomBytes(HASH_BYTES))}`

  return {
    async hash(password) {
      const salt = randomBytes(SALT_BYTES)
      // The package's algorithm and version are const enums, which `isolatedModules` cannot read: argon2id, version 19, is its default.
      const hash = await pass(() =>
        argon2id(password, { memoryCost, timeCost, parallelism, outputLen: HASH_BYTES, salt })
      )
      return { hash, salt: salt.toString('base64') }
    },

    async verify(password, stored) {
      if (stored === undefined || !isWellFormed(stored.hash)) {
        await pass(() => verifyArgon2id(dummy, password))
        return 'mismatch'
      }
      if (!(await pass(() => verifyArgon2id(stored.hash, password)))) return 'mismatch'
      return stored.hash.startsWith(current) ? 'match' : 'stale'
    }
  }
}

const phcBase64 = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')

const isWellFormed = (hash: string): boolean => {
  try {
    parseOptions(hash)
    return true
  } catch {
    return false
  }
}
