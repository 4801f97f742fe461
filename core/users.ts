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
  /** Ends every code and token of the user, logins under way included. Throws `not_found`. */
  revokeUser(username: string): Promise<void>
  /** Removes the user with every code and token. Throws `not_found`. */
  removeUser(username: string): Promise<void>
}

export const createUserUseCases = (
  { users, passwords, clock }: Pick<Ports, 'users' | 'passwords' | 'clock'>,
  policy: Pick<Policy, 'passwordMinLength'>
): UserUseCases => {
  const requirePassword = (password: string): string =>
    requireText('password', normalize(password, PASSWORD_MAX), policy.passwordMinLength, PASSWORD_MAX)
  const normalizedName = (username: string): string => normalize(username, USERNAME_MAX)
  /** As it is registered. Throws `not_found` for what nobody could have registered. */
  const knownName = (username: string): string => {
    const normalized = normalizedName(username)
    if (!fits(normalized, USERNAME_MAX)) throw noSuchUser()
    return normalized
  }

  return {
    async registerUser(credentials) {
      const username = requireText('username', normalizedName(credentials.username), 1, USERNAME_MAX)
      const password = requirePassword(credentials.password)
      const user = await users.insert(username, await passwords.hash(password))
      if (user === undefined) throw new DomainError('conflict', 'a user with this username exists')
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
 * RFC 8265 asks for NFC among other things; it is the one rule of its kept here. A text that could not come out within
 * `max` characters stays as it is, for the caller to refuse: a quarter of a million marks out of order would take a minute.
 */
const normalize = (text: string, max: number): string =>
  // A character is made of four others at most, each of at most two code units.
  text.length > 8 * max ? text : text.normalize('NFC')

/** As they are registered; undefined for what nobody could have registered: that is not worth a hash, a look-up or a count. */
export const normalizeCredentials = ({ username, password }: Credentials): Credentials | undefined => {
  const normalized = { username: normalize(username, USERNAME_MAX), password: normalize(password, PASSWORD_MAX) }
  const couldBe = fits(normalized.username, USERNAME_MAX) && fits(normalized.password, PASSWORD_MAX)
  return couldBe ? normalized : undefined
}

const fits = (text: string, max: number): boolean =>
  text !== '' && text.length <= 2 * max && isStorable(text) && lengthOf(text) <= max

const noSuchUser = (): DomainError => new DomainError('not_found', 'no user has this username')
