import { aboutGrant, originAlone } from './events.js'
import { secondsAfter } from './instants.js'
import type { Login, LoginAttempt } from './login.js'
import type { OpenLogin, User } from './model.js'
import { type Policy, REQUEST_SECONDS } from './policy.js'
import type { AllPorts } from './ports.js'
import { accessDenied, tooManyHashes } from './refusals.js'
import { requirePassword } from './users.js'

/** What a user wants to be done. Nothing is, where every key is absent or undefined. */
export interface AccountChanges {
  /** The logins to end, by the ids of their grants. Ids that are no open logins of the user change nothing. */
  readonly end?: readonly string[] | 'all' | undefined
  /** Replaces the password and ends every login. */
  readonly newPassword?: string | undefined
}

/** A user's logins, after the changes. */
export interface Account {
  readonly userId: number
  readonly username: string
  /** How many logins were ended. */
  readonly ended: number
  /** The newest of the open logins, each with the name of its client. */
  readonly logins: readonly (OpenLogin & { readonly clientName: string | undefined })[]
  /** How many open logins there are beyond those. */
  readonly others: number
}

/** What users do with their own accounts. */
export interface AccountUseCases {
  /**
   * Logs the user in for this one call, makes the changes and tells which logins are open. Throws `invalid_input` for a
   * new password that breaks a rule, `access_denied` for every kind of failed login, `too_many_attempts` and `overloaded`.
   */
  manageAccount(attempt: LoginAttempt, changes?: AccountChanges): Promise<Account>
}

/** How many open logins are told. */
const MOST_LOGINS = 100

export const createAccountUseCases = (
  { users, clients, grants, passwords, clock, events }: AllPorts,
  policy: Policy,
  login: Login
): AccountUseCases => {
  const listOpen = ({ id }: User, limit: number) => grants.listOpen(id, clock.now(), limit)

  /** Replaces the password that was verified, and no other. Resolves with how many logins that ended. */
  const changePassword = async (verified: User, password: string, attempt: LoginAttempt, begunAt: Date) => {
    const { address, network } = attempt
    // The password was right, which makes the login a known one.
    const hash = await passwords.hash(password, { address, network, priority: 'known_login' })
    // Two hashes may have waited for longer than a request may take. Nothing changes behind a request that was refused.
    if (clock.now() > secondsAfter(begunAt, REQUEST_SECONDS - 1)) throw tooManyHashes()
    const { count } = await listOpen(verified, 0)
    const store = (user: User) => users.setPassword(user.username, hash, clock.now(), user)
    if (!(await store(verified))) {
      // Logins that were ended meanwhile leave the password that was verified. Another password was not verified.
      const now = await users.findByUsername(verified.username)
      const isVerified = now?.id === verified.id && now.password.hash === verified.password.hash
      if (!isVerified || !(await store(now))) throw accessDenied()
    }
    events.emit({ event: 'user.password_changed', user: verified.id, ...originAlone(attempt), reason: 'account' })
    return count
  }

  /** Resolves with how many logins this call ended. */
  const endLogins = async (user: User, end: readonly string[] | 'all', attempt: LoginAttempt) => {
    if (end !== 'all' && end.length === 0) return 0
    const { open } = await listOpen(user, Number.MAX_SAFE_INTEGER)
    const ids = new Set(end === 'all' ? [] : end)
    const wanted = open.filter(({ grant }) => end === 'all' || ids.has(grant.id))
    const ended = await Promise.all(
      wanted.map(async ({ grant }) => {
        const isEnded = await grants.revoke(grant.id, clock.now())
        if (isEnded) events.emit({ event: 'grant.revoked', ...aboutGrant(grant, attempt), reason: 'account' })
        return isEnded
      })
    )
    // Logins under way end too, and none of somebody else who has the name by now.
    if (end === 'all' && !(await users.revoke(user.username, clock.now(), user.id))) throw accessDenied()
    return ended.filter(Boolean).length
  }

  return {
    async manageAccount(attempt, { end = [], newPassword } = {}) {
      const begunAt = clock.now()
      const password = newPassword === undefined ? undefined : requirePassword(newPassword, policy)
      const user = await login.admit(undefined, attempt, await login.find(attempt))
      if (user === undefined) throw accessDenied()
      const ended =
        password === undefined
          ? await endLogins(user, end, attempt)
          : await changePassword(user, password, attempt, begunAt)
      const { open, count } = await listOpen(user, MOST_LOGINS)
      const logins = await Promise.all(
        open.map(async each => ({ ...each, clientName: (await clients.find(each.grant.clientId))?.name }))
      )
      return { userId: user.id, username: user.username, ended, logins, others: count - logins.length }
    }
  }
}
