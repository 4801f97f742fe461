import { DomainError } from './errors.js'
import { type Origin, originOf } from './events.js'
import { latest, secondsAfter, secondsUntil } from './instants.js'
import type { Client, Digest, User } from './model.js'
import type { Policy } from './policy.js'
import type { AllPorts, AttemptLimit, FullWindow } from './ports.js'
import { createRecent } from './recent.js'

/** An attempt to log in that is counted and has no verdict yet. */
export interface CountedAttempt {
  /**
   * To call after a right password: gives the attempt back, clears the pair of username and address, and stores that
   * the user has logged in from the address.
   */
  succeed(user: User): Promise<void>
  /** To call after a wrong password: the attempt stays counted, and is no longer under way. */
  fail(): Promise<void>
  /** To call when there is no verdict on the password: gives the attempt back and changes nothing else. */
  giveBack(): Promise<void>
}

/**
 * The limits on guessing. `count` and `refuseAgain` throw `too_many_attempts`, and tell `login.throttled`, when one is
 * reached.
 */
export interface Throttle {
  /** Counts an attempt. */
  count(client: Client, username: string, origin: Origin): Promise<CountedAttempt>
  /** Counts nothing, and refuses only what this process remembers as refused. */
  refuseAgain(client: Client, username: string, origin: Origin): Promise<void>
  /** Whether this process remembers that such an attempt was refused. */
  remembers(username: string, origin: Origin): Promise<boolean>
}

export const createThrottle = (
  { users, attempts, secrets, clock, events }: Pick<AllPorts, 'users' | 'attempts' | 'secrets' | 'clock' | 'events'>,
  { loginAttempts, loginWindowSeconds }: Pick<Policy, 'loginAttempts' | 'loginWindowSeconds'>
): Throttle => {
  /** By the pair, so that a flood of attempts on a full count asks the store for next to nothing. */
  const refusals = createRecent<Refusal>()

  /** The key under which it is known that the user has logged in from the address. */
  const knownKey = (user: User | undefined, address: string): Promise<Digest> =>
    // By the id: a new user who has the name of a removed one is known nowhere.
    secrets.digest(`known ${user?.id ?? 'nobody'} ${address}`)

  const isKnown = async (username: string, address: string, now: Date): Promise<boolean> => {
    // The second look-up is made for a username that nobody has too: it takes as long.
    const until = await attempts.findKnown(await knownKey(await users.findByUsername(username), address))
    return until !== undefined && until > now
  }

  // The keys are digests, so that a username of any length fits and the store does not learn who tried.
  const pairOf = (username: string, { address }: Origin): Promise<Digest> =>
    secrets.digest(`pair ${address} ${username}`)

  const refuse = (client: Client, origin: Origin, { reason, until }: Refusal, now: Date): DomainError => {
    events.tell({ event: 'login.throttled', client: client.id, ...originOf(origin), reason })
    // An attempt under way may succeed at any moment and make room.
    return new DomainError('too_many_attempts', 'too many logins were tried: wait before the next', {
      retryAfterSeconds: secondsUntil(until ?? now, now)
    })
  }

  /** Throws a refusal that is remembered. */
  const refuseRemembered = (client: Client, pair: Digest, origin: Origin, now: Date): void => {
    const remembered = refusals.recall(pair, now)
    if (remembered !== undefined) throw refuse(client, origin, remembered, now)
  }

  return {
    async refuseAgain(client, username, origin) {
      refuseRemembered(client, await pairOf(username, origin), origin, clock.now())
    },

    async remembers(username, origin) {
      const now = clock.now()
      return refusals.holdsAny(now) && refusals.recall(await pairOf(username, origin), now) !== undefined
    },

    async count(client, username, origin) {
      if (loginAttempts === 0) return UNCOUNTED
      const { address } = origin
      const pair = await pairOf(username, origin)
      const now = clock.now()

      const take = (limits: readonly AttemptLimit[]) => attempts.take(limits, now, loginWindowSeconds)
      const counted = (others: readonly Digest[]): CountedAttempt => ({
        async succeed(user) {
          await attempts.giveBack(others, pair, { key: await knownKey(user, address), until: knownUntil(now) })
          refusals.forget(pair)
        },
        fail: () => attempts.fail([pair, ...others]),
        giveBack: () => attempts.giveBack([pair, ...others], undefined)
      })

      refuseRemembered(client, pair, origin, now)
      const [byUser, byAddress] = await Promise.all([
        secrets.digest(`username ${username}`),
        secrets.digest(`address ${address}`)
      ])
      const pairLimit: AttemptLimit = { key: pair, most: loginAttempts }
      const limits = [
        pairLimit,
        { key: byUser, most: 10 * loginAttempts },
        { key: byAddress, most: 10 * loginAttempts }
      ]
      let full = await take(limits)
      if (full === undefined) return counted([byUser, byAddress])
      if (full.some(({ key }) => key !== pair) && (await isKnown(username, address, now))) {
        full = has(full, pair) ? full.filter(({ key }) => key === pair) : await take([pairLimit])
        if (full === undefined) return counted([])
      }
      const refusal: Refusal = {
        reason: has(full, pair) ? 'username_and_address' : has(full, byUser) ? 'username' : 'address',
        until: endOfFailures(limits, full, now)
      }
      if (refusal.until !== undefined) refusals.remember(pair, refusal, now, refusal.until)
      throw refuse(client, origin, refusal, now)
    }
  }
}

const nothing = async (): Promise<void> => {}
const UNCOUNTED: CountedAttempt = { succeed: nothing, fail: nothing, giveBack: nothing }

const has = (windows: readonly FullWindow[], key: Digest): boolean => windows.some(window => window.key === key)

/**
 * An attempt without a verdict for so long counts as a failure: its request was answered long ago, or its instance has
 * died. A request takes five seconds at most, and another five are for clocks that differ.
 */
const UNDER_WAY_SECONDS = 10

/** When the last of the windows ends that failures alone fill; undefined when attempts under way fill every window. */
const endOfFailures = (limits: readonly AttemptLimit[], full: readonly FullWindow[], now: Date): Date | undefined => {
  const oldest = secondsAfter(now, -UNDER_WAY_SECONDS)
  const [first, ...others] = limits
    .flatMap(({ key, most }) =>
      full.filter(window => window.key === key && (window.failures >= most || window.countedAt <= oldest))
    )
    .map(({ endsAt }) => endsAt)
  return first && latest(first, ...others)
}

const DAY_SECONDS = 86_400

/** For how long an address is known after a login. */
const KNOWN_DAYS = 30

/** The first midnight after the days are over: all logins of one day give one instant, so that one of them is stored. */
const knownUntil = (now: Date): Date => {
  const day = Math.floor(now.getTime() / 1000 / DAY_SECONDS)
  return new Date((day + KNOWN_DAYS + 1) * DAY_SECONDS * 1000)
}

interface Refusal {
  /** The first count that is full. */
  readonly reason: 'username_and_address' | 'username' | 'address'
  /** When the count has room again; undefined where that may be at any moment. */
  readonly until: Date | undefined
}
