import { secondsAfter } from './instants.js'
import { MAX_CLOCK_DIFFERENCE_SECONDS, type Policy } from './policy.js'
import type { GrantStore, Ports } from './ports.js'

/** Removing what has expired. */
export interface HousekeepingUseCases {
  /**
   * Erases the nonces that no grace needs and removes grants and attempts that have expired, in batches, until none is
   * left or `signal` is aborted. While that takes long, it erases nonces every half minute. Any number of instances may
   * sweep at once. When one of these fails, the others are done nevertheless, and the promise rejects with the first
   * failure.
   */
  sweep(signal?: { readonly aborted: boolean }): Promise<void>
}

/** Rows per statement: enough to be worth a statement, and few enough that nobody waits noticeably while it runs. */
const BATCH = 100

/** A nonce is erased within a minute of the end of its grace, however many rows are to be removed. */
const ERASE_SECONDS = 30

/**
 * Rows are removed this long after they have expired. The successor of a token that expires during its refresh is
 * stored a moment after that expiry, by an instance whose clock may be behind.
 */
const SLACK_SECONDS = 60

export const createHousekeepingUseCases = (
  { grants, tokens, attempts, clock }: Pick<Ports, 'grants' | 'tokens' | 'attempts' | 'clock'>,
  { refreshGraceSeconds }: Pick<Policy, 'refreshGraceSeconds'>
): HousekeepingUseCases => ({
  async sweep(signal) {
    const now = clock.now()
    const expired = secondsAfter(now, -SLACK_SECONDS)
    let erasedAt = now
    const failures: unknown[] = []
    const attempt = (work: Promise<void>): Promise<unknown> => work.catch((error: unknown) => failures.push(error))
    const eraseNonces = async (): Promise<void> => {
      erasedAt = clock.now()
      // The clocks of all instances must be past the grace: an honest repeat that finds no nonce counts as a theft.
      await tokens.eraseNonces(secondsAfter(erasedAt, -refreshGraceSeconds - MAX_CLOCK_DIFFERENCE_SECONDS))
    }
    const removeAll = async (store: Pick<GrantStore, 'removeExpired'>): Promise<void> => {
      while (!signal?.aborted && (await store.removeExpired(expired, BATCH)) === BATCH) {
        if (clock.now() >= secondsAfter(erasedAt, ERASE_SECONDS)) await attempt(eraseNonces())
      }
    }
    await attempt(eraseNonces())
    await attempt(removeAll(grants))
    await attempt(removeAll(attempts))
    if (failures.length > 0) throw failures[0]
  }
})
