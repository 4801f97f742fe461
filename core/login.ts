import { DomainError } from './errors.js'
import { type Events, type Origin, originAlone } from './events.js'
import type { Grant, User } from './model.js'
import type { AllPorts } from './ports.js'
import type { Throttle } from './throttle.js'
import { type Credentials, normalizeCredentials } from './users.js'

export interface LoginAttempt extends Credentials, Origin {}

/** The credentials of a login, with the user whom they name. Undefined for credentials that nobody can have. */
export type LoginFound = { readonly credentials: Credentials; readonly user: User | undefined } | undefined

/** Logging a user in by username and password. */
export interface Login {
  /** Looks the user up. It judges nothing. */
  find(credentials: Credentials): Promise<LoginFound>
  /**
   * The user, when the password is right. Undefined when the username or the password is wrong. Throws
   * `too_many_attempts`, before any hashing, and `overloaded`. Emits the events of a login that fails or is throttled, with
   * the id of the client where there is one.
   */
  admit(client: string | undefined, origin: Origin, found: LoginFound): Promise<User | undefined>
}

/** Emits that a login began the grant; or that it failed, because the user or the client was ended meanwhile. */
export const emitLogin = (events: Events, begun: boolean, user: User, grant: Grant, origin: Origin): void => {
  const login = { client: grant.clientId, user: user.id, ...originAlone(origin) }
  if (begun) events.emit({ event: 'login.succeeded', ...login, grant: grant.id })
  else events.emit({ event: 'login.failed', ...login, reason: 'ended' })
}

export const createLogin = ({ users, passwords, events }: AllPorts, throttle: Throttle): Login => {
  /** Stores a new hash of the password that was verified. Resolves with the user as stored. */
  const rehash = async (user: User, password: string, { address, network }: Origin): Promise<User> => {
    try {
      const replacement = await passwords.hash(password, { address, network, priority: 'rehash' })
      if (await users.rehash(user.id, user.password, replacement)) return { ...user, password: replacement }
    } catch (error) {
      // The password was right, so the login succeeds even if the new hash is not stored (`overloaded`, `unavailable`).
      // The next login makes the hash again.
      throwUnlessRefused(error)
    }
    return user
  }

  return {
    async find(given) {
      const credentials = normalizeCredentials(given)
      return credentials && { credentials, user: await users.findByUsername(credentials.username) }
    },

    async admit(client, origin, found) {
      const failed = { event: 'login.failed', ...(client !== undefined && { client }), ...originAlone(origin) } as const
      if (found === undefined) {
        events.emit({ ...failed, reason: 'impossible' })
        return undefined
      }
      const { credentials, user } = found
      const { username, password } = credentials
      const { address, network } = origin
      const attempt = await throttle.count(client, username, user, origin)
      // Where the caller learns nothing about the password, the attempt must not lock out a user who tries again after
      // `retryAfterSeconds`. When it cannot be given back either, the first error is the one that is thrown.
      const giveBack = async (error: unknown): Promise<never> => {
        await attempt.giveBack().catch(() => {})
        throw error
      }
      const priority = attempt.known ? 'known_login' : 'login'
      const verdict = await passwords.verify(password, user?.password, { address, network, priority }).catch(giveBack)
      if (user === undefined || verdict === 'mismatch') {
        // The verdict stands even when its note cannot be stored: the attempt is counted, and passes for a failure soon.
        await attempt.fail().catch(throwUnlessRefused)
        if (user === undefined) events.emit({ ...failed, reason: 'unknown_user' })
        else events.emit({ ...failed, user: user.id, reason: 'wrong_password' })
        return undefined
      }
      await attempt.succeed().catch(giveBack)
      return verdict === 'stale' ? rehash(user, password, origin) : user
    }
  }
}

const throwUnlessRefused = (error: unknown): void => {
  if (!(error instanceof DomainError)) throw error
}
