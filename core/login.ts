import { DomainError } from './errors.js'
import { type Events, type Origin, originOf } from './events.js'
import type { Client, Grant, User } from './model.js'
import type { AllPorts } from './ports.js'
import type { Throttle } from './throttle.js'
import { type Credentials, normalizeCredentials } from './users.js'

export interface LoginAttempt extends Credentials, Origin {}

/**
 * The user with this username and password; undefined when either is wrong. Throws `too_many_attempts`, before any
 * hashing, and `overloaded`. Tells the events of a login that fails or is throttled.
 */
export type Login = (client: Client, attempt: LoginAttempt) => Promise<User | undefined>

/** Tells that a login began the grant; or that it did not, because the user or the client was ended meanwhile. */
export const tellLogin = (events: Events, begun: boolean, user: User, grant: Grant, origin: Origin): void => {
  const login = { client: grant.clientId, user: user.id, ...originOf(origin) }
  if (begun) events.tell({ event: 'login.succeeded', ...login, grant: grant.id })
  else events.tell({ event: 'login.failed', ...login, reason: 'ended' })
}

export const createLogin = (
  { users, passwords, events }: Pick<AllPorts, 'users' | 'passwords' | 'events'>,
  throttle: Pick<Throttle, 'count'>
): Login => {
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
    const counted = await throttle.count(client, username, attempt)
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

const throwUnlessRefused = (error: unknown): void => {
  if (!(error instanceof DomainError)) throw error
}
