import { early } from './early.js'
import { DomainError } from './errors.js'
import { type Events, type Origin, originOf } from './events.js'
import type { Client, Grant, User } from './model.js'
import type { AllPorts } from './ports.js'
import type { Throttle } from './throttle.js'
import { type Credentials, normalizeCredentials } from './users.js'

export interface LoginAttempt extends Credentials, Origin {}

/** A user who has shown the right password. */
export interface Admission {
  readonly user: User
  /**
   * Resolves when it is stored that the login succeeded: to be awaited before the answer, and meanwhile the grant can be
   * stored. Rejects with `unavailable`.
   */
  readonly noted: Promise<void>
}

/**
 * Looks the user up, and returns a function that judges the password for an authenticated client: it resolves to undefined
 * when the username or the password is wrong. It throws `too_many_attempts`, before any hashing, and `overloaded`, and tells
 * the events of a login that fails or is throttled.
 */
export type Login = (attempt: LoginAttempt) => (client: Client) => Promise<Admission | undefined>

/** Tells that a login began the grant; or that it did not, because the user or the client was ended meanwhile. */
export const tellLogin = (events: Events, begun: boolean, user: User, grant: Grant, origin: Origin): void => {
  const login = { client: grant.clientId, user: user.id, ...originOf(origin) }
  if (begun) events.tell({ event: 'login.succeeded', ...login, grant: grant.id })
  else events.tell({ event: 'login.failed', ...login, reason: 'ended' })
}

export const createLogin = (
  { users, passwords, events }: Pick<AllPorts, 'users' | 'passwords' | 'events'>,
  throttle: Pick<Throttle, 'count' | 'remembers'>
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

  /** Undefined, without a look-up, while a refusal of this login is remembered. */
  const lookUp = async (username: string, origin: Origin): Promise<Found | undefined> =>
    (await throttle.remembers(username, origin)) ? undefined : { user: await users.findByUsername(username) }

  /** The user, if there is one, and the verdict on the password. */
  const judge = async ({ username, password }: Credentials, { address }: Origin, found: Promise<Found | undefined>) => {
    const { user } = (await found) ?? { user: await users.findByUsername(username) }
    return { user, verdict: await passwords.verify(password, user?.password, { address, priority: 'login' }) }
  }

  const admit = async (
    client: Client,
    attempt: LoginAttempt,
    credentials: Credentials,
    found: Promise<Found | undefined>
  ): Promise<Admission | undefined> => {
    const counted = await throttle.count(client, credentials.username, attempt)
    const { user, verdict } = await judge(credentials, attempt, found).catch(async (error: unknown) => {
      // The caller has learned nothing about the password, so this attempt must not lock out a user who tries again
      // after `retryAfterSeconds`. When the attempt cannot be given back either, the first error is the one that is
      // thrown.
      await counted.giveBack().catch(() => {})
      throw error
    })
    if (user === undefined || verdict === 'mismatch') {
      // The verdict stands even when its note cannot be stored: the attempt is counted, and passes for a failure soon.
      await counted.fail().catch(throwUnlessRefused)
      const failed = { event: 'login.failed', client: client.id, ...originOf(attempt) } as const
      if (user === undefined) events.tell({ ...failed, reason: 'unknown_user' })
      else events.tell({ ...failed, user: user.id, reason: 'wrong_password' })
      return undefined
    }
    const note = async (): Promise<void> => {
      await counted.succeed(user)
      if (verdict === 'stale') await rehash(user, credentials.password, attempt.address)
    }
    return { user, noted: early(note()) }
  }

  return attempt => {
    const credentials = normalizeCredentials(attempt)
    if (credentials === undefined) {
      return async client => {
        events.tell({ event: 'login.failed', client: client.id, ...originOf(attempt), reason: 'impossible' })
        return undefined
      }
    }
    const found = early(lookUp(credentials.username, attempt))
    return client => admit(client, attempt, credentials, found)
  }
}

/** What a look-up of a user has found. */
interface Found {
  readonly user: User | undefined
}

const throwUnlessRefused = (error: unknown): void => {
  if (!(error instanceof DomainError)) throw error
}
