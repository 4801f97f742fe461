import { secondsAfter } from './instants.js'
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
  { grants, tokens, attempts, clock }: Pick<Ports, 'grants' | 'tokens' | 'attempts' | 'clock'>,
  { refreshGraceSeconds }: Pick<Policy, 'refreshGraceSeconds'>
): HousekeepingUseCases => ({
  async sweep(signal) {
    const now = clock.now()
    // Only when no instance can be within the grace any more: an honest repeat without its nonce would count as a theft.
    await tokens.eraseNonces(secondsAfter(now, -refreshGraceSeconds - CLOCKS_APART_SECONDS))
    const expired = secondsAfter(now, -SLACK_SECONDS)
    for (const store of [grants, attempts]) {
      while (!signal?.aborted && (await store.removeExpired(expired, BATCH)) === BATCH);
    }
  }
})
