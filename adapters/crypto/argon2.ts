import { timingSafeEqual } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { hash, hashSync, verify } from '@node-rs/argon2'
import { DomainError } from '../../core/errors.js'
import type { PasswordHash } from '../../core/model.js'
import type { PasswordHasher } from '../../core/ports.js'
import { createGate } from './gate.js'
import { createLimit } from './limit.js'
import { hashAsPredecessor, joinAdopted, splitAdopted } from './predecessor.js'
import { createRandom } from './random.js'

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

/** In milliseconds. How long an import waits before it asks for a place again. */
const PAUSE = 50

/** In KiB, times the passes: after a hash up to this cost, which takes half a millisecond, nothing rests. */
const SHORT = 2048

/**
 * In KiB, times the passes: a hash up to this cost is made at once. To have a thread make it takes longer than the hash
 * itself, which is over in a fortieth of a millisecond. Only tests have hashes so cheap.
 */
const TINY = 64

/** The most passes, and KiB, by RFC 9106 section 3.1. */
const MOST = 2 ** 32 - 1
const MOST_LANES = 2 ** 24 - 1

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
  // The package refuses costs that are too low at each hash, and cuts off fractions and what is beyond 32 bits, which would
  // make every hash stale.
  requireInteger('parallelism', parallelism, 1, MOST_LANES)
  requireInteger('memoryCost', memoryCost, 8 * parallelism, MOST)
  requireInteger('timeCost', timeCost, 1, MOST)
  const rests = memoryCost * timeCost > SHORT
  const isTiny = memoryCost * timeCost <= TINY
  const pass = createGate(concurrency, queue, { rests, onBegin: onHash && (waited => onHash(waited / 1000)) })
  const random = createRandom()
  const current = `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$`
  // The hash to compare with when there is none; nobody knows a password for it. It is made of random bytes and not
  // computed, so that the first comparison takes as long as every other.
  const dummy = `${current}${phcBase64(random(SALT_BYTES))}$${phcBase64(random(HASH_BYTES))}`

  // The package has const enums for algorithm and version, which `isolatedModules` cannot read. Its default is argon2id,
  // version 19. One lane is its default as well. Whenever lanes are given, it reads from files how many cores it may use,
  // which takes longer than a tiny hash.
  const costs = { memoryCost, timeCost, outputLen: HASH_BYTES, ...(parallelism > 1 && { parallelism }) }

  const makeHash = async (secret: string): Promise<PasswordHash> => {
    const salt = Buffer.from(random(SALT_BYTES))
    const options = { ...costs, salt }
    const phc = await (isTiny ? atOnce(() => hashSync(secret, options)) : hash(secret, options))
    return { hash: phc, salt: salt.toString('base64') }
  }

  /**
   * A stored hash may cost more than the hashes that are made now. A tiny one is made once more, because the package's own
   * comparison gives lanes.
   */
  const compare = (phc: string, secret: string): Promise<boolean> => {
    const end = dummy.lastIndexOf('$')
    const isLikeOurs = phc.startsWith(current) && phc.lastIndexOf('$') === end && phc.length === dummy.length
    if (!isTiny || !isLikeOurs) return verify(phc, secret)
    const options = { ...costs, salt: Buffer.from(phc.slice(current.length, end), 'base64') }
    return atOnce(() => timingSafeEqual(Buffer.from(hashSync(secret, options)), Buffer.from(phc)))
  }

  /** False as well, after the work of a comparison, without a hash and for a text that is none. */
  const matches = async (phc: string | undefined, secret: string): Promise<boolean> => {
    try {
      if (phc !== undefined) return await compare(phc, secret)
    } catch {
      // The text is malformed, which the package sees before it does any work.
    }
    await compare(dummy, secret)
    return false
  }

  const limited = createLimit(concurrency)
  /** Waits until nobody else wants the place. */
  const inSpareTime = async <T>(work: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await pass(work, { priority: 'rehash' })
      } catch (error) {
        if (!(error instanceof DomainError)) throw error
        await sleep(PAUSE)
      }
    }
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
    hash: (password, caller) => pass(() => makeHash(password), caller),

    verify: (password, stored, caller) => pass(() => judge(password, stored), caller),

    async adopt(old) {
      const { hash: inner, salt } = await limited(() => inSpareTime(() => makeHash(old.hashedPassword)))
      return { hash: joinAdopted({ salt: old.salt, inner }), salt }
    },

    waiting: pass.waiting
  }
}

const requireInteger = (name: string, value: number, least: number, most?: number): void => {
  if (Number.isSafeInteger(value) && value >= least && (most === undefined || value <= most)) return
  const range = `from ${least} ${most === undefined ? 'on' : `to ${most}`}`
  throw new RangeError(`${name} is ${value}: it must be an integer ${range}`)
}

/** Runs `work` now. It counts as under way for the rest of this turn of the event loop, as work in a thread does. */
const atOnce = <T>(work: () => T): Promise<T> =>
  new Promise(resolve => {
    setImmediate(resolve, work())
  })

const phcBase64 = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')
