import { DomainError } from './errors.js'
import type { Digest, User } from './model.js'
import type { Policy } from './policy.js'
import type { AttemptLimit, Ports } from './ports.js'
import { type Credentials, normalizeCredentials } from './users.js'

export interface LoginAttempt extends Credentials {
  /** Where the attempt comes from: what counts as one address is the caller's to say. */
  readonly address: string
}

/**
 * The user whose password it is, undefined for every kind of wrong. Throws
 * `too_many_attempts`, before any hashing, and `overloaded`.
 */
export type Login = (attempt: LoginAttempt) => Promise<User | undefined>

export const createLogin = (
  { users, attempts, passwords, secrets, clock }: Pick<Ports, 'users' | 'attempts' | 'passwords' | 'secrets' | 'clock'>,
  { loginAttempts, loginWindowSeconds }: Pick<Policy, 'loginAttempts' | 'loginWindowSeconds'>
): Login => {
  /** Counts the attempt, or refuses it. */
  const throttle = async (username: string, address: string): Promise<CountedAttempt> => {
    if (loginAttempts === 0) return UNCOUNTED
    // Digests: a username of any length fits the key, and the store need not know who tried.
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
    const fullUntil = await attempts.take(limits, now, loginWindowSeconds)
    if (fullUntil !== undefined) {
      const retryAfterSeconds = Math.max(1, Math.ceil((fullUntil.getTime() - now.getTime()) / 1000))
      throw new DomainError('too_many_attempts', 'too many logins were tried, wait before the next', {
        retryAfterSeconds
      })
    }
    return {
      succeed: () => attempts.giveBack([byUser, byAddress], pair),
      giveBack: () => attempts.giveBack([pair, byUser, byAddress], undefined)
    }
  }

  const rehash = async (user: User, password: string): Promise<void> => {
    try {
      await users.rehash(user.id, user.password, await passwords.hash(password))
    } catch (error) {
      // The password was right, which neither `overloaded` nor `unavailable` changes: the next login makes the hash anew.
      if (!(error instanceof DomainError)) throw error
    }
  }

  /** The user with that name, if there is one, and what the password is to it. */
  const judge = async (username: string, password: string) => {
    const user = await users.findByUsername(username)
    return { user, verdict: await passwords.verify(password, user?.password) }
  }

  return async attempt => {
    const credentials = normalizeCredentials(attempt)
    if (credentials === undefined) return undefined
    const { username, password } = credentials
    const counted = await throttle(username, attempt.address)
    const { user, verdict } = await judge(username, password).catch(async (error: unknown) => {
      // Nobody learned anything about the password. Whoever comes again when told to must not be locked out for that.
      // Where the attempt cannot be given back either, the first failure is the one to tell.
      await counted.giveBack().catch(() => {})
      throw error
    })
    if (user === undefined || verdict === 'mismatch') return undefined
    await counted.succeed()
    if (verdict === 'stale') await rehash(user, password)
    return user
  }
}

interface CountedAttempt {
  /** The password was right: the attempt is given back, and the pair of username and address is cleared. */
  succeed(): Promise<void>
  /** The attempt ended without a verdict on the password: it is given back and nothing else changes. */
  giveBack(): Promise<void>
}

const nothing = async (): Promise<void> => {}
const UNCOUNTED: CountedAttempt = { succeed: nothing, giveBack: nothing }
