import { latest, secondsAfter } from './instants.js'
import type { Token } from './model.js'
import { type Policy, REQUEST_SECONDS } from './policy.js'
import type { AllPorts, GrantStore } from './ports.js'

/** Removing what has expired. */
export interface HousekeepingUseCases {
  /**
   * Erases the nonces that no grace needs and removes grants, spent refresh tokens and attempts that have expired, in
   * batches, until none is left or `signal` is aborted. While that takes long, it erases nonces every half minute. Any
   * number of instances may sweep at once. When one of these fails, the others are done nevertheless, and the promise
   * rejects with the first failure.
   */
  sweep(signal?: { readonly aborted: boolean }): Promise<void>
}

/** Rows per statement: enough to be worth a statement, and few enough that nobody waits noticeably while it runs. */
const BATCH = 100

/** A nonce is erased within a minute of the end of its grace, however many rows are to be removed. */
const ERASE_SECONDS = 30

/**
 * A window of attempts, or a known login, is removed this long after its end, so that no request under way still counts
 * on it.
 */
const ATTEMPTS_DELAY_SECONDS = 60

/** A spent refresh token is kept for so long from its issue, so that a second use is seen. */
export const SPENT_TOKEN_SECONDS = 30 * 86_400

/** From when on nobody can count on a spent refresh token: it is removed, and a second use is that of an unknown token. */
export const endOfSpent = ({ issuedAt, refreshExpiresAt }: Pick<Token, 'issuedAt' | 'refreshExpiresAt'>): Date =>
  latest(secondsAfter(issuedAt, SPENT_TOKEN_SECONDS), refreshExpiresAt)

export const createHousekeepingUseCases = (
  { grants, tokens, attempts, clock }: AllPorts,
  { refreshGraceSeconds, grantRemovalDelaySeconds }: Policy
): HousekeepingUseCases => ({
  async sweep(signal) {
    const now = clock.now()
    let erasedAt = now
    const failures: unknown[] = []
    const noteFailure = (work: Promise<void>): Promise<unknown> => work.catch((error: unknown) => failures.push(error))
    const eraseNonces = async (): Promise<void> => {
      erasedAt = clock.now()
      // A repeat that was begun within the grace may still be under way. Without the nonce it would count as a theft.
      await tokens.eraseNonces(secondsAfter(erasedAt, -refreshGraceSeconds - 2 * REQUEST_SECONDS))
    }
    const removeAll = async (store: Pick<GrantStore, 'removeExpired'>, delaySeconds: number): Promise<void> => {
      const expired = secondsAfter(now, -delaySeconds)
      while (!signal?.aborted && (await store.removeExpired(expired, BATCH)) === BATCH) {
        if (clock.now() >= secondsAfter(erasedAt, ERASE_SECONDS)) await noteFailure(eraseNonces())
      }
    }
    await noteFailure(eraseNonces())
    await noteFailure(removeAll(grants, grantRemovalDelaySeconds))
    await noteFailure(removeAll(attempts, ATTEMPTS_DELAY_SECONDS))
    if (failures.length > 0) throw failures[0]
  }
})
