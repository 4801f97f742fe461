import { CLOCKS_APART_SECONDS, type Policy } from './policy.js'
import type { Ports } from './ports.js'

export interface HousekeepingUseCases {
  /**
   * Erases what the grace no longer needs and removes what has expired, in batches, until nothing is left or `signal` says stop.
   * Any number of instances may do so at once.
   */
  sweep(signal?: { readonly aborted: boolean }): Promise<void>
}

/** Rows a statement: long enough to be worth it, short enough that no lock is felt. */
const BATCH = 1000

/**
 * A token that expires while it is being refreshed has its successor stored a moment after its end, by an instance
 * whose clock may be behind: what expired goes only after this.
 */
const SLACK_SECONDS = 60

export const createHousekeepingUseCases = (
  { tokens, attempts, clock }: Pick<Ports, 'tokens' | 'attempts' | 'clock'>,
  { refreshGraceSeconds }: Pick<Policy, 'refreshGraceSeconds'>
): HousekeepingUseCases => ({
  async sweep(signal) {
    const now = clock.now().getTime()
    // Only when no instance can be within the grace any more: an honest repeat without its nonce would count as a theft.
    await tokens.eraseNonces(new Date(now - (refreshGraceSeconds + CLOCKS_APART_SECONDS) * 1000))
    const expired = new Date(now - SLACK_SECONDS * 1000)
    for (const store of [tokens, attempts]) {
      while (!signal?.aborted && (await store.removeExpired(expired, BATCH)) === BATCH);
    }
  }
})
