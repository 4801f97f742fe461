import type { RefusalReason } from './errors.js'
import type { Grant } from './model.js'

/** Where a request comes from. */
export interface Origin {
  /** The caller decides what counts as one address. */
  readonly address: string
  /** The network around the address, if its subscriber may have many addresses. It has a count of its own. */
  readonly network?: string | undefined
  /** What the caller's own log calls the request. */
  readonly requestId?: string | undefined
  /** The id of the trace (W3C Trace Context) that the request is part of. */
  readonly traceId?: string | undefined
}

interface Ids {
  readonly client: string
  readonly user: number
  readonly grant: string
}

type Event<Name extends string, Known extends keyof Ids = never> = { readonly event: Name } & Pick<Ids, Known> &
  Partial<Omit<Origin, 'network'>>

/** What is told of a grant. A grant that a client has for itself has no user. */
type GrantEvent<Name extends string> = Event<Name, 'client' | 'grant'> & { readonly user: number | undefined }

/** An attempt to log in for oneself, at the account page, has no client. */
type MaybeClient = Partial<Pick<Ids, 'client'>>

interface Because<Reason extends string> {
  readonly reason: Reason
}

/**
 * What happened, emitted once, where it is decided. An event has the ids of a client, a user and a grant that exist. It
 * has no password, token, code or secret, and no username and no client id that somebody merely sent.
 */
export type SecurityEvent =
  /** A code or a token was stored. */
  | Event<'login.succeeded', 'client' | 'user' | 'grant'>
  /**
   * `impossible`: nobody can have such a username or password. `ended`: the logins of the user or the client were ended
   * while this login was under way. A login without a verdict on the password is no event.
   */
  | (Event<'login.failed'> & MaybeClient & Because<'unknown_user' | 'impossible'>)
  | (Event<'login.failed', 'user'> & MaybeClient & Because<'wrong_password' | 'ended'>)
  /** The reason is the first count that was full. It does not tell whether a user has the name. */
  | (Event<'login.throttled'> & MaybeClient & Because<ThrottleReason>)
  | Event<'user.registered', 'user'>
  /** The reason is the grant type. */
  | (GrantEvent<'token.issued'> & Because<'password' | 'authorization_code' | 'client_credentials'>)
  | GrantEvent<'token.refreshed'>
  /** A refresh token was used again within the grace, and got the first answer. */
  | GrantEvent<'refresh.repeated'>
  /** The reason is what was used again. The grant has ended for it. */
  | (GrantEvent<'grant.stolen'> & Because<'code' | 'refresh_token'>)
  /** The client revoked a refresh token, or the user ended the login at the account page. */
  | (GrantEvent<'grant.revoked'> & Because<'client' | 'account'>)
  /** The user changed the password at the account page, which ended every login. */
  | (Event<'user.password_changed', 'user'> & Because<'account'>)
  /** An authenticated client was refused a token. With the user and the grant where they are the client's own. */
  | (Event<'token.refused', 'client'> & Partial<Pick<GrantEvent<string>, 'user' | 'grant'>> & Because<RefusalReason>)
  /** A bearer token was refused. With its grant, unless the token is unknown. */
  | (Event<'bearer.refused'> & { readonly grant?: string | undefined } & Because<BearerReason>)
  /** With the client's id only where such a client is registered. */
  | (Event<'client.authentication_failed'> & Because<'no_credentials' | 'unknown_client'>)
  | (Event<'client.authentication_failed', 'client'> & Because<'wrong_secret'>)
  /** What an operator did, not a request. */
  | Event<'client.added' | 'client.changed' | 'client.secret_rotated' | 'client.removed', 'client'>
  | Event<'user.added' | 'user.password_set' | 'user.revoked' | 'user.removed', 'user'>
  /** An operator brought users of the predecessor along. The ids are those of one batch. */
  | (Event<'user.imported'> & { readonly users: readonly number[] })

/** Why a bearer token is refused. */
export type BearerReason = 'unknown' | 'expired' | 'scope'

/** The count that is full: of username and address, of the username, of the address, or of the network around it. */
export type ThrottleReason = 'username_and_address' | 'username' | 'address' | 'network'

/** Who is told of what happened: the security log and the counters of metrics. */
export interface Events {
  /** Must not throw, and must not take long: the use case that emits the event waits for it. */
  emit(event: SecurityEvent): void
}

/** What an event has of the grant that it is about and of the request that brought it. */
export const aboutGrant = ({ id, clientId, userId }: Grant, origin: Origin | undefined) => ({
  client: clientId,
  user: userId,
  grant: id,
  ...originAlone(origin)
})

/** The origin alone, of an object that may hold secrets as well. */
export const originAlone = (origin: Origin | undefined) =>
  origin && {
    address: origin.address,
    requestId: origin.requestId,
    ...(origin.traceId !== undefined && { traceId: origin.traceId })
  }
