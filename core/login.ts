import { DomainError } from './errors.js'
import { aboutGrant, type Events, type Origin, originOf } from './events.js'
import { latest, secondsAfter, secondsUntil } from './instants.js'
import type { Client, Digest, Grant, User } from './model.js'
import type { Policy } from './policy.js'
import type { AllPorts, AttemptLimit, FullWindow } from './ports.js'
import { type Credentials, normalizeCredentials } from './users.js'

export interface LoginAttempt extends Credentials, Origin {}

/**
 * The user with this username and password; undefined when either is wrong. Throws `too_many_attempts`, before any
 * hashing, and `overloaded`. Tells the events of a login that fails or is throttled.
 */
export type Login = (client: Client, attempt: LoginAttempt) => Promise<User | undefined>

/** Tells that a login began the grant; or that it did not, because the user or the client was ended meanwhile. */
export const tellLogin = (events: Events, begun: boolean, grant: Grant, origin: Origin): void => {
  const { grant: id, ...login } = aboutGrant(grant, origin)
  if (begun) events.tell({ event: 'login.succeeded', ...login, grant: id })
  else events.tell({ event: 'login.failed', ...login, reason: 'ended' })
}

export const createLogin = (
  {
    users,
    attempts,
    passwords,
    secrets,
    clock,
    events
  }: Pick<AllPorts, 'users' | 'attempts' | 'passwords' | 'secrets' | 'clock' | 'events'>,
  { loginAttempts, loginWindowSeconds }: Pick<Policy, 'loginAttempts' | 'loginWindowSeconds'>
): Login => {
  /** Counts the attempt. Throws `too_many_attempts` when a limit is reached. */
  const throttle = async (client: Client, username: string, origin: Origin): Promise<CountedAttempt> => {
    const { address } = origin
    if (loginAttempts === 0) return UNCOUNTED
    // The keys are digests, so that a username of any length fits and the store does not learn who tried.
    const key = (text: string): Promise<Digest> => secrets.digest(text)
    const [pair, byUser, byAddress] = await Promise.all([
      key(`pair ${address} ${username}`),
      key(`username ${username}`),
      key(`address ${address}`)
    ])
    const limits: AttemptLimit[] = [
      { key: pair, most: loginAttempts },
      { key: byUser, most: 10 * loginAttempts },
      { key: byAddress, most: 10 * loginAttempts }
    ]
    const now = clock.now()
    const take = (limits: readonly AttemptLimit[]) => attempts.take(limits, now, loginWindowSeconds)
    const counted = (alone: readonly Digest[]): CountedAttempt => ({
      async succeed(user) {
        await attempts.giveBack(alone, pair, { key: await knownKey(user, address), until: knownUntil(now) })
      },
      fail: () => attempts.fail([pair, ...alone]),
      giveBack: () => attempts.giveBack([pair, ...alone], undefined)
    })

    let full = await take(limits)
    if (full === undefined) return counted([byUser, byAddress])
    if (!has(full, pair) && (await isKnown(username, address, now))) {
      full = await take(limits.slice(0, 1))
      if (full === undefined) return counted([])
    }
    const reason = has(full, pair) ? 'username_and_address' : has(full, byUser) ? 'username' : 'address'
    events.tell({ event: 'login.throttled', client: client.id, ...originOf(origin), reason })
    throw tooMany(limits, full, now)
  }

  /** The key under which it is known that the user has logged in from the address. */
  const knownKey = (user: User | undefined, address: string): Promise<Digest> =>
    // By the id: a new user who has the name of a removed one is known nowhere.
    secrets.digest(`known ${user?.id ?? 'nobody'} ${address}`)

  const isKnown = async (username: string, address: string, now: Date): Promise<boolean> => {
    // The second look-up is made for a username that nobody has too: it takes as long.
    const until = await attempts.findKnown(await knownKey(await users.findByUsername(username), address))
    return until !== undefined && until > now
  }

  const rehash = async (user: User, password: string, address: string): Promise<void> => {
    try {
      await users.rehash(user.id, user.password, await passwords.hash(password, { address, priority: 'rehash' }))
    } catch (error) {
      // The password was right, so the login succeeds even if the new hash is not stored (`overloaded`, `unavailable`).
      // The next login makes the hash again.
      throwUnlessRefused(error)
    }
  }

  /** The user with this name, if there is one, and the verdict on the password. */
  const judge = async (username: string, password: string, address: string) => {
    const user = await users.findByUsername(username)
    return { user, verdict: await passwords.verify(password, user?.password, { address, priority: 'login' }) }
  }

  return async (client, attempt) => {
    const origin = originOf(attempt)
    const credentials = normalizeCredentials(attempt)
    if (credentials === undefined) {
      events.tell({ event: 'login.failed', client: client.id, ...origin, reason: 'impossible' })
      return undefined
    }
    const { username, password } = credentials
    const counted = await throttle(client, username, attempt)
    const { user, verdict } = await judge(username, password, attempt.address).catch(async (error: unknown) => {
      // The caller has learned nothing about the password, so this attempt must not lock out a user who tries again
      // after `retryAfterSeconds`. When the attempt cannot be given back either, the first error is the one that is
      // thrown.
      await counted.giveBack().catch(() => {})
      throw error
    })
    if (user === undefined || verdict === 'mismatch') {
      // The verdict stands even when its note cannot be stored: the attempt is counted, and passes for a failure soon.
      await counted.fail().catch(throwUnlessRefused)
      const failed = { event: 'login.failed', client: client.id, ...origin } as const
      if (user === undefined) events.tell({ ...failed, reason: 'unknown_user' })
      else events.tell({ ...failed, user: user.id, reason: 'wrong_password' })
      return undefined
    }
    await counted.succeed(user)
    if (verdict === 'stale') await rehash(user, password, attempt.address)
    return user
  }
}

interface CountedAttempt {
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

const nothing = async (): Promise<void> => {}
const UNCOUNTED: CountedAttempt = { succeed: nothing, fail: nothing, giveBack: nothing }

const has = (windows: readonly FullWindow[], key: Digest): boolean => windows.some(window => window.key === key)

const DAY_SECONDS = 86_400

/** For how long an address is known after a login. */
const KNOWN_DAYS = 30

/** The first midnight after the days are over: all logins of one day give one instant, so that one of them is stored. */
const knownUntil = (now: Date): Date => {
  const day = Math.floor(now.getTime() / 1000 / DAY_SECONDS)
  return new Date((day + KNOWN_DAYS + 1) * DAY_SECONDS * 1000)
}

const throwUnlessRefused = (error: unknown): void => {
  if (!(error instanceof DomainError)) throw error
}

/**
 * An attempt without a verdict for so long counts as a failure: its request was answered long ago, or its instance has
 * died. A request takes five seconds at most, and another five are for clocks that differ.
 */
const UNDER_WAY_SECONDS = 10

/** The refusal of an attempt that finds these windows full. */
const tooMany = (limits: readonly AttemptLimit[], full: readonly FullWindow[], now: Date): DomainError => {
  const oldest = secondsAfter(now, -UNDER_WAY_SECONDS)
  const byFailures = limits.flatMap(({ key, most }) =>
    full.filter(window => window.key === key && (window.failures >= most || window.countedAt <= oldest))
  )
  // Where attempts under way fill every full window, one of them may succeed at any moment and make room.
  const until = latest(now, ...byFailures.map(({ endsAt }) => endsAt))
  return new DomainError('too_many_attempts', 'too many logins were tried, wait before the next', {
    retryAfterSeconds: secondsUntil(until, now)
  })
}
