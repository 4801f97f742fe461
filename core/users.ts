import { DomainError } from './errors.js'
import { type Origin, originAlone } from './events.js'
import { latest, secondsUntil } from './instants.js'
import type { Digest, User } from './model.js'
import { toNfc } from './nfc.js'
import type { Policy } from './policy.js'
import type { AllPorts, PageQuery } from './ports.js'
import { tooManyRegistrations, usernameTaken } from './refusals.js'
import { isText, requireString, requireText } from './text.js'
import { takeAttempts } from './throttle.js'

/** In code points, in the form NFC. */
export const USERNAME_MAX = 255
/** In code points, in the form NFC. */
export const PASSWORD_MAX = 1024

/** What a user presents to log in. */
export interface Credentials {
  readonly username: string
  readonly password: string
}

/** A user without what only a login needs. */
export type NamedUser = Pick<User, 'id' | 'username'>

/** Some users of a longer list. */
export interface UserPage {
  readonly users: readonly NamedUser[]
  /** The `after` of the next page; undefined when this page is the last. */
  readonly nextAfter: number | undefined
}

/** What is done with users. */
export interface UserUseCases {
  /**
   * Throws `invalid_input`; beyond the registrations of an address `too_many_attempts`; for a username that is taken
   * `conflict`; and `overloaded`. With the origin of a request it counts the registration and emits `user.registered`.
   * Without it an operator has added the user (`user.added`).
   */
  registerUser(credentials: Credentials, origin?: Origin): Promise<NamedUser>
  /** The first `limit` users with an id greater than `after`, by ascending id. */
  userPage(query: PageQuery & { readonly limit: number }): Promise<UserPage>
  /** Stores a new password and ends every login. Throws `invalid_input` and `not_found`. */
  setPassword(credentials: Credentials): Promise<void>
  /** Ends every code and token of the user, including those of logins under way. Throws `not_found`. */
  revokeUser(username: string): Promise<void>
  /** Removes the user with all codes and tokens. Throws `not_found`. */
  removeUser(username: string): Promise<void>
}

export const createUserUseCases = (
  { users, attempts, passwords, secrets, clock, events }: AllPorts,
  policy: Policy
): UserUseCases => {
  /**
   * Does `work` to the user who has the first of these names, and emits the event. Throws `not_found`, without a look-up for a
   * name that is too long, empty or not storable.
   */
  const change = async (
    names: Iterable<string>,
    event: 'user.password_set' | 'user.revoked' | 'user.removed',
    work: (username: string) => Promise<boolean>
  ): Promise<void> => {
    for (const name of names) {
      const user = isText(name, USERNAME_MAX) ? await users.findByUsername(name) : undefined
      // `work` is false when the user was removed after the look-up.
      if (user !== undefined && (await work(name))) return events.emit({ event, user: user.id })
    }
    throw new DomainError('not_found', 'no user has this username')
  }

  /** Counts a registration and returns its keys. Throws `too_many_attempts` when a limit is reached. */
  const count = async ({ address, network }: Origin): Promise<readonly Digest[]> => {
    const most = policy.registerAttempts
    const limits = [{ key: await secrets.digest(`registrations ${address}`), most }]
    if (network !== undefined) {
      limits.push({ key: await secrets.digest(`registrations of ${network}`), most: 10 * most })
    }
    const now = clock.now()
    const full = await takeAttempts(attempts, limits, now, policy.loginWindowSeconds)
    if (full === undefined) return limits.map(({ key }) => key)
    throw tooManyRegistrations(secondsUntil(latest(now, ...full.map(({ endsAt }) => endsAt)), now))
  }

  /** Undefined when the username is taken. */
  const register = async (username: string, password: string, origin?: Origin): Promise<User | undefined> => {
    // Saves the hash for a name that is taken. Between registrations at once `insert` decides.
    if ((await users.findByUsername(username)) !== undefined) return undefined
    const { address, network } = origin ?? {}
    return users.insert(username, await passwords.hash(password, { address, network, priority: 'registration' }))
  }

  return {
    async registerUser(credentials, origin) {
      const username = requireUsername(credentials.username)
      const password = requirePassword(credentials.password, policy)
      const counted = origin !== undefined && policy.registerAttempts > 0 ? await count(origin) : []
      const user = await register(username, password, origin).catch(async (error: unknown) => {
        // The service failed to register this user (`overloaded`, `unavailable`). When the attempt cannot be given back
        // either, the first error is the one that is thrown.
        if (counted.length > 0) await attempts.giveBack(counted, undefined).catch(() => {})
        throw error
      })
      if (user === undefined) throw usernameTaken()
      const event = origin === undefined ? 'user.added' : 'user.registered'
      events.emit({ event, user: user.id, ...originAlone(origin) })
      return named(user)
    },

    async userPage({ after, limit }) {
      // One user more than the page holds tells whether there is a next page.
      const found = await users.list({ after, limit: limit + 1 })
      return {
        users: found.slice(0, limit).map(named),
        nextAfter: found.length > limit ? found[limit - 1]?.id : undefined
      }
    },

    async setPassword({ username, password }) {
      const wanted = requirePassword(password, policy)
      await change([usernameOf(username)], 'user.password_set', async name =>
        users.setPassword(name, await passwords.hash(wanted), clock.now())
      )
    },

    revokeUser: async username => change(formsOf(username), 'user.revoked', name => users.revoke(name, clock.now())),

    removeUser: async username => change(formsOf(username), 'user.removed', name => users.remove(name))
  }
}

const usernameOf = (username: string): string => toNfc(requireString('username', username), USERNAME_MAX)
/** As it stands, which others may have stored in another form than NFC, and as it would be registered. */
const formsOf = (username: string): ReadonlySet<string> => new Set([username, usernameOf(username)])
const passwordOf = (password: string): string => toNfc(requireString('password', password), PASSWORD_MAX)

/** The password in the form in which it is hashed. Throws `invalid_input`. */
export const requirePassword = (password: string, { passwordMinLength }: Policy): string =>
  requireText('password', passwordOf(password), passwordMinLength, PASSWORD_MAX)

/** The username in the form in which it is registered. Throws `invalid_input`. */
export const requireUsername = (username: string): string =>
  requireText('username', usernameOf(username), 1, USERNAME_MAX)

/**
 * The credentials in the form in which they are registered. Undefined when they cannot be registered: then the login
 * needs no count, no look-up and no hash. Throws `invalid_input` for what is no text.
 */
export const normalizeCredentials = ({ username, password }: Credentials): Credentials | undefined => {
  const normalized = { username: usernameOf(username), password: passwordOf(password) }
  const isPossible = isText(normalized.username, USERNAME_MAX) && isText(normalized.password, PASSWORD_MAX)
  return isPossible ? normalized : undefined
}

const named = ({ id, username }: User): NamedUser => ({ id, username })
