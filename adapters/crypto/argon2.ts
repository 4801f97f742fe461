import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'
import type { PasswordHash } from '../../core/model.js'
import type { PasswordHasher } from '../../core/ports.js'
import { createHashQueue } from './hash-queue.js'
import { hashAsPredecessor, joinAdopted, splitAdopted } from './predecessor.js'

/** What a hash costs (RFC 9106). */
export interface Argon2Parameters {
  /** In KiB, at least 8 for each lane. */
  readonly memoryCost: number
  /** Passes. */
  readonly timeCost: number
  /** Lanes. */
  readonly parallelism: number
}

/**
 * How passwords are hashed. Everything has a default. A RangeError refuses a `concurrency` that is no integer from 1 on,
 * a `queue` that is none from 0 on, and `parameters` that no hash can have.
 */
export interface PasswordHasherOptions {
  /**
   * How many hashes run at once. By default one less than the cores, at least 1 and at most 3, because zlib and DNS
   * share libuv's four threads.
   */
  readonly concurrency?: number | undefined
  /** How many more hashes may wait; 64 by default. */
  readonly queue?: number | undefined
  /** By default 19 MiB, 2 passes and 1 lane, as OWASP recommends. */
  readonly parameters?: Argon2Parameters | undefined
  /** Gets the seconds that a hash has waited for its turn. Must not throw, and must not take long. */
  readonly onHash?: ((waitedSeconds: number) => void) | undefined
}

export interface Argon2Hasher extends PasswordHasher {
  /** How many hashes wait for their turn. */
  waiting(): number
}

/** In KiB, times the passes: after a hash up to this cost, which takes half a millisecond, nothing pauses. */
const SHORT = 2048

/** The most passes, and KiB, by RFC 9106 section 3.1. */
const MOST = 2 ** 32 - 1
const MOST_LANES = 2 ** 24 - 1

/** In KiB, times the passes: a hash beyond it, which others may have stored, would take a core for seconds or for ever. */
const LONG = 2 ** 22

const SALT_BYTES = 16
const HASH_BYTES = 32

export const createPasswordHasher = ({
  concurrency = Math.min(3, Math.max(1, availableParallelism() - 1)),
  queue = 64,
  parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 },
  onHash
}: PasswordHasherOptions = {}): Argon2Hasher => {
  requireInteger('concurrency', concurrency, 1)
  requireInteger('queue', queue, 0)
  const { memoryCost, timeCost, parallelism } = parameters
  // The package cuts off fractions and what is beyond 32 bits, which would make every hash stale.
  requireInteger('parallelism', parallelism, 1, MOST_LANES)
  requireInteger('memoryCost', memoryCost, 8 * parallelism, MOST)
  requireInteger('timeCost', timeCost, 1, MOST)
  const hashes = createHashQueue({
    concurrency,
    capacity: queue,
    pauses: memoryCost * timeCost > SHORT,
    onBegin: onHash
  })
  const current = `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$`
  // The hash to compare with when there is none; nobody knows a password for it. It is made of random bytes and not
  // computed, so that the first comparison takes as long as every other.
  const dummy = `${current}${phcBase64(randomBytes(SALT_BYTES))}$${phcBase64(randomBytes(HASH_BYTES))}`

  const makeHash = async (secret: string): Promise<PasswordHash> => {
    const salt = randomBytes(SALT_BYTES)
    // The package has const enums for algorithm and version, which `isolatedModules` cannot read. Its default is argon2id,
    // version 19.
    const phc = await hash(secret, { ...parameters, outputLen: HASH_BYTES, salt })
    return { hash: phc, salt: salt.toString('base64') }
  }

  /** The package takes parameters in other orders and repeated ones too, so of other texts nobody knows how long they take. */
  const isTooLong = (phc: string): boolean => {
    const [, memory = LONG, passes = LONG] =
      /^\$argon2(?:d|i|id)\$(?:v=\d+\$)?m=(\d+),t=(\d+),p=\d+(?:,keyid=[^,$=]*)?(?:,data=[^,$=]*)?\$[^$]+\$[^$]+$/.exec(
        phc
      ) ?? []
    return !phc.startsWith(current) && Number(memory) * Number(passes) > LONG
  }

  /**
   * Whether the secret fits the hash. Also false when there is no hash, when its check would take too long, and when the text
   * is no hash: each of these takes the work of one comparison.
   */
  const matches = async (phc: string | undefined, secret: string): Promise<boolean> => {
    try {
      if (phc !== undefined && !isTooLong(phc)) return await verify(phc, secret)
    } catch {
      // The text is malformed, which the package sees before it does any work.
    }
    await verify(dummy, secret)
    return false
  }

  /** What the password is to `stored`. Every mismatch takes the same work. */
  const judge = async (password: string, stored: PasswordHash | undefined): Promise<'match' | 'stale' | 'mismatch'> => {
    const adopted = stored && splitAdopted(stored)
    const phc = adopted?.inner ?? stored?.hash
    const secret = adopted === undefined ? password : await hashAsPredecessor(password, adopted.salt)
    if (await matches(phc, secret)) {
      return phc === stored?.hash && phc?.startsWith(current) ? 'match' : 'stale'
    }
    // Without this a mismatch would tell who came from the predecessor and has not logged in since.
    if (adopted === undefined) await hashAsPredecessor(password, dummy)
    return 'mismatch'
  }

  return {
    hash: (password, caller) => hashes.run(() => makeHash(password), caller),

    verify: (password, stored, caller) => hashes.run(() => judge(password, stored), caller),

    async adopt(old) {
      const { hash: inner, salt } = await hashes.runInSpareTime(() => makeHash(old.hashedPassword))
      return { hash: joinAdopted({ salt: old.salt, inner }), salt }
    },

    waiting: hashes.waiting
  }
}

const requireInteger = (name: string, value: number, least: number, most?: number): void => {
  if (Number.isSafeInteger(value) && value >= least && (most === undefined || value <= most)) return
  const range = `from ${least} ${most === undefined ? 'on' : `to ${most}`}`
  throw new RangeError(`${name} is ${value}: it must be an integer ${range}`)
}

const phcBase64 = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')
