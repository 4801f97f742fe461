import type { Events } from './events.js'
import type {
  AccessToken,
  Client,
  Code,
  Digest,
  Grant,
  Hero,
  NewHero,
  NewUser,
  OpenLogin,
  PasswordHash,
  PredecessorHash,
  ScopeText,
  Token,
  User
} from './model.js'

/*
 * What the core needs of the outside world. These terms hold for every method:
 * - An expected outcome is a return value. A method rejects with a DomainError `unavailable` (the store cannot be
 *   reached; whether a write happened is then unknown), with a DomainError `overloaded`, or because of a bug.
 * - A returned record belongs to the caller: changing it changes no store.
 * - A store reads no clock, makes no secret and holds no policy.
 * - Every call that begins after the answer to another call sees the effect of that call, on every instance.
 */

/** Everything that the core needs: stores, a hasher of passwords, a maker of secrets and a clock. */
export interface Ports {
  readonly heroes: HeroStore
  readonly users: UserStore
  readonly clients: ClientStore
  readonly scopes: ScopeStore
  readonly grants: GrantStore
  readonly codes: CodeStore
  readonly tokens: TokenStore
  readonly attempts: AttemptStore
  readonly passwords: PasswordHasher
  readonly secrets: Secrets
  readonly clock: Clock
  /** A host that wants no events leaves it out. */
  readonly events?: Events | undefined
}

/** The ports that keep something: what an adapter for a database has. */
export type Stores = Pick<Ports, 'heroes' | 'users' | 'clients' | 'scopes' | 'grants' | 'codes' | 'tokens' | 'attempts'>

/** The ports with events, whether or not somebody hears them. */
export interface AllPorts extends Ports {
  readonly events: Events
}

/** Which part of a list is wanted. Without any condition it is all of it. */
export interface PageQuery {
  /** Only those with a greater id. Any safe integer. */
  readonly after?: number | undefined
  readonly limit?: number | undefined
}

/** Which heroes are wanted. Without any condition it is all of them. */
export interface HeroQuery extends PageQuery {
  /**
   * Part of the name. Both are compared in the form that `toLowerCase()` gives them, and no character is a wildcard.
   */
  readonly nameContains?: string | undefined
}

/** Keeps heroes. */
export interface HeroStore {
  /** The heroes that match the query, by ascending id. */
  list(query: HeroQuery): Promise<readonly Hero[]>
  /** In this method and those below `id` may be any safe integer. */
  find(id: number): Promise<Hero | undefined>
  /**
   * Stores a hero under a new id. Undefined when the name is taken; of any number of concurrent calls with one name,
   * exactly one stores a hero.
   */
  insert(hero: NewHero): Promise<Hero | undefined>
  /**
   * Stores every hero whose name is free, under new ids that ascend in the order of `heroes`: all of them, or none when
   * the call rejects. The result has the same order, with undefined for each name that is taken. Of several heroes with
   * one name the first is stored, and of concurrent calls exactly one stores it. The call may take long.
   */
  insertAll(heroes: readonly NewHero[]): Promise<readonly (Hero | undefined)[]>
  /**
   * Replaces all of a hero but its id. Undefined when no hero has the id, whatever the name; `'taken'` when another hero
   * has the name. A hero may keep its own name.
   */
  replace(id: number, hero: NewHero): Promise<Hero | 'taken' | undefined>
  /** False when no hero has the id. An id is never given out again. */
  remove(id: number): Promise<boolean>
}

/** Whose password was verified, and at which generation. */
export type VerifiedUser = Pick<User, 'id' | 'generation'>

/**
 * Keeps users. A method that ends or removes many grants may take long, but no other call waits for it. When it
 * rejects, some of the grants may have ended.
 */
export interface UserStore {
  /**
   * Stores a user under a new id, at generation 0. Undefined when the username is taken; of any number of concurrent
   * calls with one username, exactly one stores a user.
   */
  insert(username: string, password: PasswordHash): Promise<User | undefined>
  /** Stores every user whose username is free, at generation 0, on the terms of {@link HeroStore.insertAll}. */
  insertAll(users: readonly NewUser[]): Promise<readonly (User | undefined)[]>
  /** Undefined when no user has the id. It may be any safe integer. */
  find(id: number): Promise<User | undefined>
  /** Undefined when no user has the name, case and all. */
  findByUsername(username: string): Promise<User | undefined>
  /** The users that match the query, by ascending id. */
  list(query: PageQuery): Promise<readonly User[]>
  /**
   * Replaces the hash `verified`. False, and nothing changes, when no user has the id or the user has another hash.
   * Ends no grant.
   */
  rehash(id: number, verified: PasswordHash, replacement: PasswordHash): Promise<boolean>
  /**
   * Stores a new password and does what {@link revoke} does, both or neither. False, and nothing changes, when no user has
   * the name, or when that user is not the one who was `verified`, or has another generation.
   */
  setPassword(username: string, password: PasswordHash, at: Date, verified?: VerifiedUser): Promise<boolean>
  /**
   * Ends every grant of the user and raises the generation, so that a login under way is not stored. False, and nothing
   * changes, when no user has the name, or when that user has another id than the given one.
   */
  revoke(username: string, at: Date, id?: number): Promise<boolean>
  /**
   * Removes the user with every grant, code and token. False when no user has the name. An id is never given out again.
   */
  remove(username: string): Promise<boolean>
}

/**
 * Changes to a registered client. A key that is absent leaves its value as it is. So does a key that is undefined, but
 * for `name`, which is removed then: a client can do without a name, and must have every other value.
 */
export type ClientChanges = {
  readonly [Key in Exclude<keyof Client, 'id' | 'secretDigest' | 'previousSecret'>]?: Client[Key] | undefined
}

/** Keeps clients. */
export interface ClientStore {
  /** False, and nothing changes, when the id is taken. */
  insert(client: Client): Promise<boolean>
  /** Undefined when no client has the id. */
  find(id: string): Promise<Client | undefined>
  /** Clients by id, in the order of their code points. */
  list(): Promise<readonly Client[]>
  /** Returns the client with its changes; undefined when no client has the id. */
  update(id: string, changes: ClientChanges): Promise<Client | undefined>
  /**
   * Makes `digest` the secret. With `keepUntil` the present secret becomes the previous secret until that instant;
   * without it, no previous secret remains. False when no client has the id or the client is public.
   */
  rotateSecret(id: string, digest: Digest, keepUntil: Date | undefined): Promise<boolean>
  /**
   * Removes the client with every grant, code and token; a login under way is not stored. False when no client has the
   * id. The call may take long, on the terms of {@link UserStore}.
   */
  remove(id: string): Promise<boolean>
}

/** Keeps the words for scopes. */
export interface ScopeStore {
  /** Stores the words for a scope, in place of earlier ones. Of any number of concurrent calls the last one holds. */
  set(scope: ScopeText): Promise<void>
  /** Undefined when the scope has no words. */
  find(name: string): Promise<ScopeText | undefined>
  /** Scopes by name, in the order of their code points. */
  list(): Promise<readonly ScopeText[]>
  /** False when the scope has no words. */
  remove(name: string): Promise<boolean>
}

export interface StoredCode extends Code {
  readonly spent: boolean
  /** Whether its grant was revoked. */
  readonly ended: boolean
}

/** Keeps authorization codes. */
export interface CodeStore {
  /**
   * Begins the code's grant and stores the code, both or neither. False, and nothing is stored, when the user is gone
   * or has another generation than `generation`, or the client is gone.
   */
  insert(code: Code, generation: number): Promise<boolean>
  /** The code, spent or not, its grant revoked or not. The caller judges its expiry. */
  find(digest: Digest): Promise<StoredCode | undefined>
  /**
   * Spends the code and stores `token` under the code's grant, both or neither. True for at most one
   * call per code, ever, however many run at once, and never once the grant was revoked; false for all the others.
   */
  redeem(digest: Digest, token: Token): Promise<boolean>
  /** Spends the code and stores no token. True for at most one call, on the terms of {@link redeem}. */
  burn(digest: Digest): Promise<boolean>
}

/** 32 random bytes, base64url without padding. */
export type Nonce = string

/** How a refresh token was spent. */
export interface Spend {
  readonly at: Date
  /** The nonce from which the successor was derived; undefined once it is erased. */
  readonly nonce: Nonce | undefined
}

/** A refresh token, which may be spent once, with the access token that was issued with it. */
export interface RefreshToken extends Token {
  /** How the refresh token was spent; undefined while it is unspent. */
  readonly spent: Spend | undefined
  /** Whether its grant was revoked. */
  readonly ended: boolean
}

/** Keeps access tokens and refresh tokens. */
export interface TokenStore {
  /**
   * Begins the token's grant and stores the token, on the terms of {@link CodeStore.insert}. A grant without a user
   * begins with `generation` undefined, while its client exists; with a generation it does not begin. Nor does a grant
   * with a user when `generation` is undefined.
   */
  insert(token: Token, generation: number | undefined): Promise<boolean>
  /**
   * The token, unless its grant was revoked, a rotation replaced it or {@link revokeAccess} ended it. The caller judges
   * its expiry.
   */
  findByAccess(digest: Digest): Promise<AccessToken | undefined>
  /**
   * The token that has this refresh token, spent or not, its grant revoked or not; `spent` tells how it was spent. The
   * caller judges its expiry.
   */
  findByRefresh(digest: Digest): Promise<RefreshToken | undefined>
  /**
   * Spends the refresh token, ends its access token and stores `successor` under the same grant, all or nothing.
   * True for at most one call per token, ever, and never once the grant was revoked. After false,
   * {@link findByRefresh} tells how the token was spent.
   */
  rotate(digest: Digest, spend: { readonly at: Date; readonly nonce: Nonce }, successor: Token): Promise<boolean>
  /** Ends this access token alone. An unknown digest is no error. */
  revokeAccess(digest: Digest, at: Date): Promise<void>
  /** Erases the nonces of refresh tokens that were spent before `at`. Returns how many it erased. */
  eraseNonces(at: Date): Promise<number>
}

/** A grant begins with its first code or token: {@link CodeStore.insert} and {@link TokenStore.insert}. */
export interface GrantStore {
  /** The grant, unless it was revoked. The caller judges its expiry. */
  find(id: string): Promise<Grant | undefined>
  /**
   * The open logins of a user at an instant, and how many there are: those whose grant was not revoked and has an access
   * token that {@link TokenStore.findByAccess} finds, or a refresh token that is not spent, which expires after `at`. At
   * most `limit` of them, the newest first: by the beginning, those without one last, and by the last refresh.
   */
  listOpen(
    userId: number,
    at: Date,
    limit: number
  ): Promise<{ readonly open: readonly OpenLogin[]; readonly count: number }>
  /**
   * Ends a grant for good: a token that is stored under it later never works. True for the one call that ended it,
   * however many run at once; false when the grant is unknown or has ended before, by itself or with its user.
   */
  revoke(id: string, at: Date): Promise<boolean>
  /**
   * Removes up to `limit` grants, with their codes and tokens, if every code, access token and refresh token of theirs
   * expired before `at`. Of other grants it removes each spent refresh token, with its access token, that has no nonce any
   * more, expired before `at` and was issued {@link SPENT_TOKEN_SECONDS} before `at`; it may do that up to a day later.
   * Returns `limit` while there may be more to do, and fewer once nothing is left. A store may remove less than `limit` at
   * once, and a grant with many tokens in several calls. Any number of calls may run at once and beside every other method,
   * and no call waits for another. A store that others use meanwhile may pause before it returns `limit`.
   */
  removeExpired(at: Date, limit: number): Promise<number>
}

/** How often something may be tried. */
export interface AttemptLimit {
  readonly key: Digest
  /** How many attempts fit in one window. */
  readonly most: number
}

/** The window of a key in which as many attempts are counted as fit. */
export interface FullWindow {
  readonly key: Digest
  readonly endsAt: Date
  /** When the last of its attempts was counted. */
  readonly countedAt: Date
  /** How many of its attempts have failed. The others are under way, or the process ended before it knew how they end. */
  readonly failures: number
}

/** That a user has logged in from an address. */
export interface KnownLogin {
  /** Stands for the user and the address. */
  readonly key: Digest
  readonly until: Date
}

/** Counts attempts to log in and to register, and keeps which logins are known. */
export interface AttemptStore {
  /**
   * Counts one attempt under every key, or under none if one of them is full. Undefined when it was counted;
   * otherwise the full windows, at least one. A key's window begins with its first attempt. However many calls run at
   * once, at most `most` attempts are counted under a key in one window. No two limits have one key.
   */
  take(limits: readonly AttemptLimit[], at: Date, windowSeconds: number): Promise<readonly FullWindow[] | undefined>
  /** Notes under every key that one of its attempts has failed. A key without attempts stays without. */
  fail(keys: readonly Digest[]): Promise<void>
  /**
   * Takes one attempt back from every key of `counted`, and all attempts from `cleared` if it is given. A key that has no
   * attempt left is not stored any more. Stores `known` if it is given; of several instants for one key the latest stays.
   */
  giveBack(counted: readonly Digest[], cleared: Digest | undefined, known?: KnownLogin): Promise<void>
  /** Until when the login is known. The caller compares it with the clock. */
  findKnown(key: Digest): Promise<Date | undefined>
  /**
   * Removes up to `limit` keys: those whose window ended before `at` and those of known logins that were known until
   * before `at`. Returns how many it removed.
   */
  removeExpired(at: Date, limit: number): Promise<number>
}

/** For whom a password is hashed. A hasher with too much to do goes by it. */
export interface HashCaller {
  /** Where the request comes from. All callers without an address count as one address. */
  readonly address?: string | undefined
  /** The network around the address; by default the address itself. */
  readonly network?: string | undefined
  /**
   * Calls for a `known_login` are served before those for a `login`, and these before those for a `registration`. A
   * `rehash` is wanted only if it delays nobody: the login that it belongs to has waited already.
   */
  readonly priority: 'known_login' | 'login' | 'registration' | 'rehash'
}

/**
 * `hash` and `verify` serve the networks in turn, and within a network its addresses, and without `caller` count as a
 * login. They reject with `overloaded` when too many calls wait: at once, or when others need the place in the queue
 * more, or when the call has waited too long. Neither waits for more than about four and a half seconds.
 */
export interface PasswordHasher {
  /** Hashes with a new random salt. */
  hash(password: string, caller?: HashCaller): Promise<PasswordHash>
  /**
   * `stale`: the password is right, but its hash was made with other parameters than {@link hash} uses. Without
   * `stored` the answer is `mismatch` and takes as long as with it.
   */
  verify(
    password: string,
    stored: PasswordHash | undefined,
    caller?: HashCaller
  ): Promise<'match' | 'stale' | 'mismatch'>
  /**
   * Hashes what the predecessor stored, with a new random salt, so that the result is as hard to guess as that of
   * {@link hash}. {@link verify} takes the password for it, as `stale`. The call waits for as long as others want to
   * hash, and never rejects with `overloaded`.
   */
  adopt(old: PredecessorHash): Promise<PasswordHash>
}

/** Makes what nobody can guess, and digests of it. */
export interface Secrets {
  /** 32 characters of `[A-Za-z0-9]`, unbiased, from a cryptographic source: tokens, codes, client secrets. */
  random(): Promise<string>
  /** A new nonce. */
  nonce(): Promise<Nonce>
  /** A UUID for a grant. */
  grantId(): Promise<string>
  /** SHA-256 of the text's UTF-8. For ASCII this is RFC 7636's S256 as well. */
  digest(text: string): Promise<Digest>
  /** Compares in constant time. */
  equal(a: Digest, b: Digest): Promise<boolean>
  /**
   * The two tokens that replace `refreshToken`. They are the same for the same two arguments, and nobody can find them
   * without both. Each has the form of {@link random} and is made of blocks of HMAC-SHA256(key = the refresh token's
   * bytes, nonce ‖ label ‖ counter), with the labels `heroes/1 access` and `heroes/1 refresh` and a one-byte counter
   * from 0; bytes of 248 and more are skipped, the rest are taken mod 62 over `A-Za-z0-9`.
   */
  successor(
    refreshToken: string,
    nonce: Nonce
  ): Promise<{ readonly accessToken: string; readonly refreshToken: string }>
}

/** Tells the time. */
export interface Clock {
  /** The present instant. */
  now(): Date
}
