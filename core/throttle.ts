import { type Origin, originAlone, type ThrottleReason } from './events.js'
import { latest, secondsAfter, secondsUntil } from './instants.js'
import type { User } from './model.js'
import { type Policy, REQUEST_SECONDS } from './policy.js'
import type { AllPorts, AttemptLimit, AttemptStore, FullWindow } from './ports.js'
import { tooManyLogins } from './refusals.js'

/** An attempt to log in that is counted and has no verdict yet. */
export interface CountedAttempt {
  /** Whether the user has logged in from the address within the last 30 days. */
  readonly known: boolean
  /**
   * To call after a right password: gives the attempt back, clears the pair of username and address, and stores that
   * the user has logged in from the address.
   */
  succeed(): Promise<void>
  /** To call after a wrong password: the attempt stays counted, and is no longer under way. */
  fail(): Promise<void>
  /** To call when there is no verdict on the password: gives the attempt back and changes nothing else. */
  giveBack(): Promise<void>
}

/** The limits on guessing. */
export interface Throttle {
  /**
   * Counts an attempt to log in under this username, which is that of `user` or of nobody: under username and address,
   * and unless the login is known, under the username, the address and its network. Throws `too_many_attempts`, and
   * emits `login.throttled`, when a limit is reached.
   */
  count(client: string | undefined, username: string, user: User | undefined, origin: Origin): Promise<CountedAttempt>
}

export const createThrottle = (
  { attempts, secrets, clock, events }: AllPorts,
  { loginAttempts, loginWindowSeconds }: Policy
): Throttle => ({
  async count(client, username, user, origin) {
    if (loginAttempts === 0) return UNCOUNTED
    const { address, network } = origin
    const now = clock.now()
    // By the id: a new user who has the name of a removed one is known nowhere.
    const knownKey = await secrets.digest(`known ${user?.id ?? 'nobody'} ${address}`)
    // It is looked up for a username that nobody has too, so that it takes as long.
    const knownUntil = await attempts.findKnown(knownKey)
    const known = knownUntil !== undefined && knownUntil > now
    // The keys are digests, so that a username of any length fits and the store does not learn who tried.
    const limit = async (reason: ThrottleReason, key: string, most: number): Promise<Limit> => ({
      reason,
      key: await secrets.digest(key),
      most
    })
    const pair = await limit('username_and_address', `pair ${address} ${username}`, loginAttempts)
    const others = await Promise.all(
      known
        ? []
        : [
            limit('username', `username ${username}`, 10 * loginAttempts),
            limit('address', `address ${address}`, 10 * loginAttempts),
            ...(network === undefined ? [] : [limit('network', `network ${network}`, 100 * loginAttempts)])
          ]
    )
    const limits = [pair, ...others]
    const full = await takeAttempts(attempts, limits, now, loginWindowSeconds)
    if (full === undefined) {
      const keys = limits.map(({ key }) => key)
      return {
        known,
        succeed: () => attempts.giveBack(keys.slice(1), pair.key, { key: knownKey, until: endOfKnown(now) }),
        fail: () => attempts.fail(keys),
        giveBack: () => attempts.giveBack(keys, undefined)
      }
    }
    const [{ reason } = pair] = limits.filter(({ key }) => full.some(window => window.key === key))
    events.emit({ event: 'login.throttled', ...(client !== undefined && { client }), ...originAlone(origin), reason })
    // An attempt under way may succeed at any moment and make room.
    throw tooManyLogins(secondsUntil(endOfFailures(limits, full, now), now))
  }
})

/** By so much may a window end later than it should: after a failover the server's clock may be a little behind. */
const CLOCK_SECONDS = 60

/**
 * As {@link AttemptStore.take}, but a full window that ends too late is begun anew: a clock has begun it that was put back
 * since.
 */
export const takeAttempts = async (
  attempts: AttemptStore,
  limits: readonly AttemptLimit[],
  now: Date,
  windowSeconds: number
): Promise<readonly FullWindow[] | undefined> => {
  const full = await attempts.take(limits, now, windowSeconds)
  const late = full?.filter(({ endsAt }) => endsAt > secondsAfter(now, windowSeconds + CLOCK_SECONDS)) ?? []
  if (late.length === 0) return full
  for (const { key } of late) await attempts.giveBack([], key)
  return attempts.take(limits, now, windowSeconds)
}

interface Limit extends AttemptLimit {
  readonly reason: ThrottleReason
}

const nothing = async (): Promise<void> => {}
const UNCOUNTED: CountedAttempt = { known: false, succeed: nothing, fail: nothing, giveBack: nothing }

/**
 * An attempt without a verdict for so long counts as a failure: its request was answered long ago, or its instance has
 * died.
 */
const UNDER_WAY_SECONDS = 2 * REQUEST_SECONDS

/** When the last of the windows ends that failures alone fill; `now` when attempts under way fill every window. */
const endOfFailures = (limits: readonly AttemptLimit[], full: readonly FullWindow[], now: Date): Date => {
  const oldest = secondsAfter(now, -UNDER_WAY_SECONDS)
  const filled = limits.flatMap(({ key, most }) =>
    full.filter(window => window.key === key && (window.failures >= most || window.countedAt <= oldest))
  )
  return latest(now, ...filled.map(({ endsAt }) => endsAt))
}

const DAY_SECONDS = 86_400

/** For how long an address is known after a login. */
const KNOWN_DAYS = 30

/** The first midnight after the days are over. All logins of one day give the same instant, so a store writes it once a day. */
const endOfKnown = (now: Date): Date => {
  const day = Math.floor(now.getTime() / 1000 / DAY_SECONDS)
  return new Date((day + KNOWN_DAYS + 1) * DAY_SECONDS * 1000)
}
