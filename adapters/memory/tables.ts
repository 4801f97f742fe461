import { endOfSpent } from '../../core/housekeeping.js'
import type { Client, Code, Digest, Grant, Token, User } from '../../core/model.js'
import type { Spend } from '../../core/ports.js'

export interface UserRow {
  /** Frozen, and replaced as a whole. */
  user: User
  readonly grants: Set<GrantRow>
}

interface ClientRow {
  client: Client
  readonly grants: Set<GrantRow>
}

interface GrantRow {
  readonly grant: Grant
  /** Undefined for a grant without a user. */
  readonly user: UserRow | undefined
  readonly client: ClientRow
  /** The generation of the user when the grant began. */
  readonly generation: number | undefined
  /** The tombstone: once it is true, nothing under the grant works, and nothing more is stored under it. */
  revoked: boolean
  /** When the last of its codes and tokens expires, in milliseconds. */
  lastExpiry: number
  readonly codes: CodeRow[]
  readonly tokens: TokenRow[]
}

export interface CodeRow {
  readonly code: Code
  readonly grant: GrantRow
  spent: boolean
}

export interface TokenRow {
  readonly token: Token
  readonly grant: GrantRow
  accessEnded: boolean
  spent: Spend | undefined
}

export interface Tables {
  readonly users: Map<number, UserRow>
  readonly clients: Map<string, ClientRow>
  readonly grants: Map<string, GrantRow>
  readonly codes: Map<Digest, CodeRow>
  readonly tokensByAccess: Map<Digest, TokenRow>
  readonly tokensByRefresh: Map<Digest, TokenRow>
  /** Spent refresh tokens that still have their nonce. */
  readonly withNonce: Set<TokenRow>
}

export const createTables = (): Tables => ({
  users: new Map(),
  clients: new Map(),
  grants: new Map(),
  codes: new Map(),
  tokensByAccess: new Map(),
  tokensByRefresh: new Map(),
  withNonce: new Set()
})

// Ending all grants of a user raises the user's generation and changes no grant: one with an earlier generation has ended.
export const isLive = ({ revoked, generation, user }: GrantRow): boolean =>
  !revoked && generation === user?.user.generation

/**
 * Undefined when the user is gone or at another generation, or the client is gone, and when there is a user without a
 * generation or the other way round.
 */
export const beginGrant = (tables: Tables, grant: Grant, generation: number | undefined): GrantRow | undefined => {
  if ((grant.userId === undefined) !== (generation === undefined)) return undefined
  const user = grant.userId === undefined ? undefined : tables.users.get(grant.userId)
  const client = tables.clients.get(grant.clientId)
  if (user?.user.generation !== generation || client === undefined) return undefined
  const row: GrantRow = {
    grant: copyGrant(grant),
    user,
    client,
    generation,
    revoked: false,
    lastExpiry: 0,
    codes: [],
    tokens: []
  }
  tables.grants.set(grant.id, row)
  user?.grants.add(row)
  client.grants.add(row)
  return row
}

export const storeToken = (tables: Tables, grant: GrantRow, token: Token): void => {
  const row: TokenRow = { token: copyToken(token, grant.grant), grant, accessEnded: false, spent: undefined }
  grant.tokens.push(row)
  tables.tokensByAccess.set(token.accessDigest, row)
  if (token.refreshDigest !== undefined) tables.tokensByRefresh.set(token.refreshDigest, row)
  extend(grant, token.expiresAt)
  extend(grant, token.refreshExpiresAt)
}

export const extend = (grant: GrantRow, expiresAt: Date | undefined): void => {
  if (expiresAt !== undefined) grant.lastExpiry = Math.max(grant.lastExpiry, expiresAt.getTime())
}

/** Removes the grant with every code and token. */
export const removeGrant = (tables: Tables, row: GrantRow): void => {
  tables.grants.delete(row.grant.id)
  row.user?.grants.delete(row)
  row.client.grants.delete(row)
  for (const { code } of row.codes) tables.codes.delete(code.digest)
  for (const token of row.tokens) removeToken(tables, token)
}

/** Removes the spent tokens that nobody can count on any more. Tokens lie in the order of their issue: those come first. */
export const removeSpent = (tables: Tables, { tokens }: GrantRow, at: Date): void => {
  const mayGo = ({ token, spent }: TokenRow): boolean =>
    spent !== undefined && spent.nonce === undefined && endOfSpent(token) < at
  const firstKept = tokens.findIndex(row => !mayGo(row))
  for (const row of tokens.splice(0, Math.max(0, firstKept))) removeToken(tables, row)
}

const removeToken = ({ tokensByAccess, tokensByRefresh, withNonce }: Tables, row: TokenRow): void => {
  tokensByAccess.delete(row.token.accessDigest)
  if (row.token.refreshDigest !== undefined) tokensByRefresh.delete(row.token.refreshDigest)
  withNonce.delete(row)
}

export const copyGrant = ({ id, userId, clientId, scopes, beganAt, expiresAt }: Grant): Grant => ({
  id,
  userId,
  clientId,
  scopes: [...scopes],
  beganAt: beganAt && copyDate(beganAt),
  expiresAt: copyDate(expiresAt)
})

// Records are copied when they are stored and when they are returned, because a Date cannot be frozen. They are copied
// key by key, so that extra keys of a caller (the `spent` of a StoredCode, say) are not stored, as in a database.
export const copyToken = (token: Token, grant = copyGrant(token.grant)): Token => ({
  accessDigest: token.accessDigest,
  refreshDigest: token.refreshDigest,
  grant,
  scopes: [...token.scopes],
  issuedAt: copyDate(token.issuedAt),
  expiresAt: copyDate(token.expiresAt),
  refreshExpiresAt: token.refreshExpiresAt && copyDate(token.refreshExpiresAt)
})

export const copyCode = (code: Code, grant = copyGrant(code.grant)): Code => ({
  digest: code.digest,
  grant,
  redirectUri: code.redirectUri,
  challenge: code.challenge,
  issuedAt: copyDate(code.issuedAt),
  expiresAt: copyDate(code.expiresAt)
})

export const copySpend = ({ at, nonce }: Spend): Spend => ({ at: copyDate(at), nonce })

export const copyDate = (date: Date): Date => new Date(date.getTime())

/** Lets whatever else waits for the event loop have its turn, between two of many pieces of work. */
export const pause = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
