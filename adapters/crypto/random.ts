import { randomFillSync } from 'node:crypto'

/** In bytes: one call to the system's random generator, which takes as long for 16 bytes, serves a hundred draws. */
const POOL = 4000

/**
 * A function that draws so many random bytes, of {@link POOL} at most. They lie in memory that later draws write to: who
 * keeps them copies them.
 */
export const createRandom = (): ((count: number) => Buffer) => {
  const pool = Buffer.alloc(POOL)
  let used = POOL
  return count => {
    if (used + count > POOL) {
      randomFillSync(pool)
      used = 0
    }
    used += count
    return pool.subarray(used - count, used)
  }
}
