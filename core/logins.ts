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
  /** Counts the attempt; what comes back gives it back. */
  const throttle = async (username: string, address: string): Promise<() => Promise<void>> => {
    if (loginAttempts === 0) return async () => {}
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
    return () => attempts.giveBack([byUser, byAddress], pair)
  }

  const rehash = async (user: User, password: string): Promise<void> => {
    try {
      await users.rehash(user.id, user.password, await passwords.hash(password))
    } catch (error) {
      // The password was right: there will be another login to make the hash anew.
      if (!(error instanceof DomainError) || error.code !== 'overloaded') throw error
    }
  }

  return async attempt => {
    const credentials = normalizeCredentials(attempt)
    if (credentials === undefined) return undefined
    const { username, password } = credentials
    const giveBack = await throttle(username, attempt.address)
    const user = await users.findByUsername(username)
    const verdict = await passwords.verify(password, user?.password)
    if (user === undefined || verdict === 'mismatch') return undefined
    await giveBack()
    if (verdict === 'stale') await rehash(user, password)
    return user
  }
}
