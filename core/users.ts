import { DomainError } from './errors.js'
import type { User } from './model.js'
import type { Policy } from './policy.js'
import type { Ports } from './ports.js'
import { isStorable, lengthOf, requireText } from './text.js'

const USERNAME_MAX = 255
const PASSWORD_MAX = 1024

export interface Credentials {
  readonly username: string
  readonly password: string
}

export interface UserUseCases {
  /** Throws `invalid_input` and, for a username that is taken, `conflict`. */
  registerUser(credentials: Credentials): Promise<User>
  listUsers(): Promise<readonly User[]>
  /** Stores a new password and ends every login. Throws `invalid_input` and `not_found`. */
  setPassword(credentials: Credentials): Promise<void>
  /** Ends every code and token of the user, including those of logins under way. Throws `not_found`. */
  revokeUser(username: string): Promise<void>
  /** Removes the user with all codes and tokens. Throws `not_found`. */
  removeUser(username: string): Promise<void>
}

export const createUserUseCases = (
  { users, passwords, clock }: Pick<Ports, 'users' | 'passwords' | 'clock'>,
  policy: Pick<Policy, 'passwordMinLength'>
): UserUseCases => {
  const requirePassword = (password: string): string =>
    requireText('password', normalize(password, PASSWORD_MAX), policy.passwordMinLength, PASSWORD_MAX)
  const normalizedName = (username: string): string => normalize(username, USERNAME_MAX)
  /** The username in the form in which it is registered. Throws `not_found` for one that cannot be registered. */
  const knownName = (username: string): string => {
    const normalized = normalizedName(username)
    if (!fits(normalized, USERNAME_MAX)) throw noSuchUser()
    return normalized
  }

  return {
    async registerUser(credentials) {
      const username = requireText('username', normalizedName(credentials.username), 1, USERNAME_MAX)
      const password = requirePassword(credentials.password)
      // Saves the hash for a name that is taken. Between registrations at once `insert` decides.
      if ((await users.findByUsername(username)) !== undefined) throw nameTaken()
      const user = await users.insert(username, await passwords.hash(password))
      if (user === undefined) throw nameTaken()
      return user
    },

    listUsers: () => users.list(),

    async setPassword({ username, password }) {
      const wanted = requirePassword(password)
      const known = knownName(username)
      if (!(await users.setPassword(known, await passwords.hash(wanted), clock.now()))) throw noSuchUser()
    },

    async revokeUser(username) {
      if (!(await users.revoke(knownName(username), clock.now()))) throw noSuchUser()
    },

    async removeUser(username) {
      if (!(await users.remove(knownName(username)))) throw noSuchUser()
    }
  }
}

/**
 * Brings the text into NFC, the only rule of RFC 8265 that this service keeps. A text that cannot have `max` characters
 * or fewer in NFC is returned unchanged, and the caller refuses it: a quarter of a million combining marks in the wrong
 * order would take a minute.
 */
const normalize = (text: string, max: number): string =>
  // NFC makes one character of at most four others, and each of these has at most two code units.
  text.length > 8 * max ? text : text.normalize('NFC')

/**
 * The credentials in the form in which they are registered. Undefined when they cannot be registered: then the login
 * saves the count, the look-up and the hash.
 */
export const normalizeCredentials = ({ username, password }: Credentials): Credentials | undefined => {
  const normalized = { username: normalize(username, USERNAME_MAX), password: normalize(password, PASSWORD_MAX) }
  const registrable = fits(normalized.username, USERNAME_MAX) && fits(normalized.password, PASSWORD_MAX)
  return registrable ? normalized : undefined
}

const fits = (text: string, max: number): boolean =>
  text !== '' && text.length <= 2 * max && isStorable(text) && lengthOf(text) <= max

const nameTaken = (): DomainError => new DomainError('conflict', 'a user with this username exists')
const noSuchUser = (): DomainError => new DomainError('not_found', 'no user has this username')
