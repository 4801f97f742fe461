import type { AccessToken, Client, Code, Digest, Grant, Hero, NewHero, PasswordHash, Token, User } from './model.js'

/*
 * What the core needs of the world. Terms that hold for every method:
 * - An expected outcome is a return value. A rejection is a DomainError `unavailable`
 *   (the store cannot be reached; whether a write happened is then unknown),
 *   `overloaded`, or a bug.
 * - A record that was handed out is the caller's: changing it changes no store.
 * - A store reads no clock, makes no secret and holds no policy.
 * - What has been answered is seen by every call that begins after the answer, on every instance.
 */

export interface Ports {
  readonly heroes: HeroStore
  readonly users: UserStore
  readonly clients: ClientStore
  readonly grants: GrantStore
  readonly codes: CodeStore
  readonly tokens: TokenStore
  readonly attempts: AttemptStore
  readonly passwords: PasswordHasher
  readonly secrets: Secrets
  readonly clock: Clock
}

export interface HeroQuery {
  /** Part of the name; both sides are compared as `toLowerCase()` leaves them, and every character is plain. */
  readonly nameContains: string | undefined
  /** Only heroes with a greater id. Any safe integer. */
  readonly after: number | undefined
  readonly limit: number | undefined
}

export interface HeroStore {
  /** Heroes by ascending id. */
  list(query: HeroQuery): Promise<readonly Hero[]>
  /** Here and below `id` may be whatever safe integer. */
  find(id: number): Promise<Hero | undefined>
  /** Stores a hero under a new id. Undefined when the name is taken; of any number of concurrent calls with one name, exactly one stores a hero. */
  insert(hero: NewHero): Promise<Hero | undefined>
  /** Gives a hero everything anew but its id. Undefined when no hero has the id. A hero may take its own name again. */
  replace(id: number, hero: NewHero): Promise<Hero | 'taken' | undefined>
  /** False when no hero has the id. An id is never given out again. */
  remove(id: number): Promise<boolean>
}

/** Ending or removing many grants may take its time, during which nobody else waits. A call that rejects may have ended some of them. */
export interface UserStore {
  /** Stores a user under a new id, at generation 0. Undefined when the username is taken, with {@link HeroStore.insert}'s promise. */
  insert(username: string, password: PasswordHash): Promise<User | undefined>
  find(id: number): Promise<User | undefined>
  findByUsername(username: string): Promise<User | undefined>
  /** Users by ascending id. */
  list(): Promise<readonly User[]>
  /** Replaces the very hash that was verified: false, and nothing changes, when the user has another by then. Ends nothing. */
  rehash(id: number, verified: PasswordHash, replacement: PasswordHash): Promise<boolean>
  /** Stores a new password and does what {@link revoke} does, both or neither. False when nobody has the name. */
  setPassword(username: string, password: PasswordHash, at: Date): Promise<boolean>
  /** Ends every grant of the user and moves the generation on, so that no login under way is stored. False when nobody has the name. */
  revoke(username: string, at: Date): Promise<boolean>
  /** Removes the user with every grant, code and token. False when nobody has the name. */
  remove(username: string): Promise<boolean>
}

/** What may be changed in a registered client: a key that is absent stays as it is, one that is there and undefined is taken away. */
export type ClientChanges = Partial<Pick<Client, 'redirectUri' | 'allowedScopes' | 'name' | 'requirePkce'>>

export interface ClientStore {
  /** False, and nothing changes, when the id is taken. */
  insert(client: Client): Promise<boolean>
  find(id: string): Promise<Client | undefined>
  /** Clients by id, in the order of their code points. */
  list(): Promise<readonly Client[]>
  /** The client as it is afterwards; undefined when no client has the id. */
  update(id: string, changes: ClientChanges): Promise<Client | undefined>
  /**
   * Makes `digest` the secret. With `keepUntil` the present secret becomes the previous one until then;
   * without, no previous one remains. False when no client has the id or it is public.
   */
  rotateSecret(id: string, digest: Digest, keepUntil: Date | undefined): Promise<boolean>
  /**
   * Removes the client with every grant, code and token; a login under way is not stored. False when no client has the id.
   * May take its time, on the terms of {@link UserStore}.
   */
  remove(id: string): Promise<boolean>
}

export interface StoredCode extends Code {
  readonly spent: boolean
}

export interface CodeStore {
  /**
   * Begins the code's grant and stores the code, both or neither. False, and nothing is stored,
   * when the user is gone or no longer at `generation`, or the client is gone.
   */
  insert(code: Code, generation: number): Promise<boolean>
  /** The code, spent or not, unless its grant was revoked. Expiry is the caller's to judge. */
  find(digest: Digest): Promise<StoredCode | undefined>
  /**
   * Spends the code and stores `token` under the code's grant, both or neither. True for at most one
   * call per code, ever, however many run at once; false for all the others.
   */
  redeem(digest: Digest, token: Token): Promise<boolean>
  /** Spends the code for nothing. True for at most one call, on the terms of {@link redeem}. */
  burn(digest: Digest): Promise<boolean>
}

/** 32 random bytes, base64url without padding. */
export type Nonce = string

export interface Spend {
  readonly at: Date
  /** What the successor was derived with; undefined once it was erased. */
  readonly nonce: Nonce | undefined
}

/** A refresh token, which may be spent once, with the access token that was issued with it. */
export interface RefreshToken extends Token {
  /** How the refresh token was spent; undefined while it is not. */
  readonly spent: Spend | undefined
}

export interface TokenStore {
  /** Begins the token's grant and stores the token, on the terms of {@link CodeStore.insert}. */
  insert(token: Token, generation: number): Promise<boolean>
  /** The token, unless its grant was revoked, a rotation replaced it or it was revoked by itself. Expiry is the caller's to judge. */
  findByAccess(digest: Digest): Promise<AccessToken | undefined>
  /** The token that carries this refresh token, spent or not, with how it was spent, unless its grant was revoked. */
  findByRefresh(digest: Digest): Promise<RefreshToken | undefined>
  /**
   * Spends the refresh token, ends its access token and stores `successor` under the same grant, all or nothing.
   * True for at most one call per token, ever. After a false, findByRefresh tells how it was spent.
   */
  rotate(digest: Digest, spend: { readonly at: Date; readonly nonce: Nonce }, successor: Token): Promise<boolean>
  /** Ends this access token alone. Unknown digests are no error. */
  revokeAccess(digest: Digest, at: Date): Promise<void>
  /** Erases the nonces of refresh tokens spent before `at`. The number erased. */
  eraseNonces(at: Date): Promise<number>
}

/** A grant begins with the first code or token of a login: {@link CodeStore.insert} and {@link TokenStore.insert}. */
export interface GrantStore {
  /** The grant, unless it was revoked. Expiry is the caller's to judge. */
  find(id: string): Promise<Grant | undefined>
  /** Ends a grant for good: a token stored under it later is dead on arrival. Unknown grants are no error. */
  revoke(id: string, at: Date): Promise<void>
  /**
   * Removes up to `limit` grants of which every code, access token and refresh token had expired before `at`,
   * with all of them. The number looked at, which is below `limit` once nothing is left to do.
   * Any number of calls may run at once, beside every other method, and none waits for another.
   */
  removeExpired(at: Date, limit: number): Promise<number>
}

export interface AttemptLimit {
  readonly key: Digest
  /** How many attempts fit in one window. */
  readonly most: number
}

export interface AttemptStore {
  /**
   * Counts one attempt under every key, or under none if one of them is full. Undefined when it was counted;
   * otherwise the instant at which the last of the full windows ends. A key's window begins with its first attempt.
   * Of any number of concurrent calls, never more than `most` are counted under a key in one window.
   */
  take(limits: readonly AttemptLimit[], at: Date, windowSeconds: number): Promise<Date | undefined>
  /** Takes one attempt back from every key of `counted` and, where it is given, all of them from `cleared`. */
  giveBack(counted: readonly Digest[], cleared: Digest | undefined): Promise<void>
  /** Removes up to `limit` keys whose window ended before `at`; the number removed. */
  removeExpired(at: Date, limit: number): Promise<number>
}

export interface PasswordHasher {
  /** Hashes with a new random salt. Rejects with `overloaded` when too many wait. */
  hash(password: string): Promise<PasswordHash>
  /**
   * `stale`: right, but made with other parameters than {@link hash} uses. Without a hash to compare with, the answer
   * is `mismatch` and takes as long. Rejects with `overloaded` when too many wait.
   */
  verify(password: string, stored: PasswordHash | undefined): Promise<'match' | 'stale' | 'mismatch'>
}

export interface Secrets {
  /** 32 characters of `[A-Za-z0-9]`, unbiased, from a cryptographic source: tokens, codes, client secrets. */
  random(): Promise<string>
  nonce(): Promise<Nonce>
  /** A UUID for a grant. */
  grantId(): Promise<string>
  /** SHA-256 of the text's UTF-8. For ASCII this is RFC 7636's S256 as well. */
  digest(text: string): Promise<Digest>
  /** Compares in constant time. */
  equal(a: Digest, b: Digest): Promise<boolean>
  /**
   * The tokens that replace `refreshToken`: the same for the same two arguments, and not to be found without both.
   * Each has the form of {@link random}. Blocks of HMAC-SHA256(key = the refresh token's bytes, nonce ‖ label ‖ counter),
   * labels `heroes/1 access` and `heroes/1 refresh`, a one-byte counter from 0; bytes of 248 and more are skipped,
   * the rest taken mod 62 over `A-Za-z0-9`.
   */
  successor(
    refreshToken: string,
    nonce: Nonce
  ): Promise<{ readonly accessToken: string; readonly refreshToken: string }>
}

export interface Clock {
  now(): Date
}
