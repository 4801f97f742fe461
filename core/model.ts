/** A hero. No two have the same id or the same name. */
export interface Hero {
  readonly id: number
  readonly name: string
}

/** A hero before it is stored. */
export type NewHero = Omit<Hero, 'id'>

/**
 * SHA-256 in base64url without padding: 43 characters. Only for texts that nobody can guess, and for keys of attempts.
 */
export type Digest = string

/** A user's password as it is stored. */
export interface PasswordHash {
  /** The slow hash with its parameters, in a form that only the hasher reads. */
  readonly hash: string
  readonly salt: string
}

/** What the predecessor of this service stored of a password. */
export interface PredecessorHash {
  /** 32 bytes of PBKDF2-HMAC-SHA256 after 1,000 rounds, in base64. */
  readonly hashedPassword: string
  /** PBKDF2's salt is the UTF-8 of this text as it stands. */
  readonly salt: string
}

/** RFC 6749's resource owner. */
export interface User {
  readonly id: number
  readonly username: string
  readonly password: PasswordHash
  /** Grows when all logins of the user are ended. A login under way is stored only if it has the present generation. */
  readonly generation: number
}

/** A user before it is stored. */
export type NewUser = Pick<User, 'username' | 'password'>

/** RFC 6749 section 2. A client without a secret is public. */
export interface Client {
  readonly id: string
  readonly secretDigest: Digest | undefined
  /** The secret before the last rotation, which is valid until `until`. */
  readonly previousSecret: { readonly digest: Digest; readonly until: Date } | undefined
  /** Where the login page may return to. When there is only one, an authorization request need not name it. */
  readonly redirectUris: readonly string[]
  readonly allowedScopes: readonly string[]
  /** The values of `grant_type` that the client may use. The login page is for clients with `authorization_code`. */
  readonly grantTypes: readonly string[]
  readonly name: string | undefined
  /** RFC 9700 section 2.1.1: authorization requests without a PKCE challenge are refused. */
  readonly requirePkce: boolean
  /** False for a client that may send a PKCE challenge in place of `state`. */
  readonly requireState: boolean
}

/** The words in which an operator tells people what a scope opens. */
export interface ScopeText {
  /** The scope, as clients request it. */
  readonly name: string
  readonly text: string
}

/**
 * What a user's login gave to a client, or what a client got for itself (RFC 6749 section 4.4). Every code and every
 * token belongs to a grant and ends with it.
 */
export interface Grant {
  readonly id: string
  /** Undefined for what a client got for itself. */
  readonly userId: number | undefined
  readonly clientId: string
  readonly scopes: readonly string[]
  /** When the login was. Undefined for a grant that is older than this record of it. */
  readonly beganAt: Date | undefined
  readonly expiresAt: Date
}

/** A login that its user could end: its grant has not ended, and one of its tokens is good. */
export interface OpenLogin {
  readonly grant: Grant
  /** When its newest token was issued. */
  readonly refreshedAt: Date
}

/** An authorization code (RFC 6749 section 4.1). */
export interface Code {
  readonly digest: Digest
  readonly grant: Grant
  /** The `redirect_uri` of the authorization request, when it had one. */
  readonly redirectUri: string | undefined
  /** RFC 7636's S256 `code_challenge`, when the request had one. */
  readonly challenge: string | undefined
  readonly issuedAt: Date
  readonly expiresAt: Date
}

/** What an access token allows, and for how long. */
export interface AccessToken {
  readonly grantId: string
  readonly scopes: readonly string[]
  readonly issuedAt: Date
  readonly expiresAt: Date
}

/** An access token and the refresh token that was issued with it, if any. */
export interface Token {
  readonly accessDigest: Digest
  readonly refreshDigest: Digest | undefined
  readonly grant: Grant
  /** The scopes of the access token: those of the grant, or narrower ones. */
  readonly scopes: readonly string[]
  readonly issuedAt: Date
  readonly expiresAt: Date
  readonly refreshExpiresAt: Date | undefined
}
