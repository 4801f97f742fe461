import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { isDate, isSet } from 'node:util/types'
import type { AccessToken, Client, Code, Digest, Grant, PasswordHash, Token, User } from '../../core/model.js'
import type { Stores } from '../../core/ports.js'

/** Declares a test, as `test` of node:test and of vitest do. It is called before {@link CreateStores} ever is. */
export type TestFunction = (title: string, body: () => Promise<void>) => unknown

export type { Stores }

/** Returns empty stores, which share one database. The stores of an earlier call are not used again. */
export type CreateStores = () => Promise<Stores>

/** An instant with milliseconds, which a column of whole seconds would lose. */
const START = Date.UTC(2026, 10, 5, 12, 0, 0, 7)

export const at = (seconds: number): Date => new Date(START + seconds * 1000)

/** A random digest. It serves as a nonce as well: both are 32 bytes in base64url. */
export const someDigest = (): Digest => randomBytes(32).toString('base64url')

export const somePassword = (): PasswordHash => ({
  hash: `$argon2id$v=19$m=8,t=1,p=1$${randomUUID()}`,
  salt: randomBytes(16).toString('base64')
})

export const clientWith = (changes: Partial<Client> = {}): Client => ({
  id: randomUUID(),
  secretDigest: someDigest(),
  previousSecret: undefined,
  redirectUris: [],
  allowedScopes: [],
  grantTypes: [],
  name: undefined,
  requirePkce: false,
  requireState: true,
  ...changes
})

export interface Parties {
  readonly user: User
  readonly client: Client
}

export const register = async ({ users, clients }: Stores): Promise<Parties> => {
  const user = await users.insert(randomUUID(), somePassword())
  const client = clientWith()
  if (user === undefined || !(await clients.insert(client))) throw new Error('a random name is taken')
  return { user, client }
}

export const grantTo = ({ user, client }: Parties, changes: Partial<Grant> = {}): Grant => ({
  id: randomUUID(),
  userId: user.id,
  clientId: client.id,
  scopes: [],
  beganAt: at(0),
  expiresAt: at(1_000_000),
  ...changes
})

export const codeUnder = (grant: Grant, changes: Partial<Code> = {}): Code => ({
  digest: someDigest(),
  grant,
  redirectUri: undefined,
  challenge: undefined,
  issuedAt: at(0),
  expiresAt: at(60),
  ...changes
})

export type RefreshToken = Token & { readonly refreshDigest: Digest; readonly refreshExpiresAt: Date }

export const tokenUnder = (grant: Grant, changes: Partial<Token> = {}): RefreshToken => ({
  accessDigest: someDigest(),
  grant,
  scopes: [],
  issuedAt: at(0),
  expiresAt: at(3600),
  ...changes,
  refreshDigest: changes.refreshDigest ?? someDigest(),
  refreshExpiresAt: changes.refreshExpiresAt ?? at(7200)
})

export const publicTokenUnder = (grant: Grant, changes: Partial<Token> = {}): Token => ({
  ...tokenUnder(grant, changes),
  refreshDigest: undefined,
  refreshExpiresAt: undefined
})

/** What a look-up by the access token finds of a token. */
export const accessOf = ({ grant, scopes, issuedAt, expiresAt }: Token): AccessToken => ({
  grantId: grant.id,
  scopes,
  issuedAt,
  expiresAt
})

/** Stores the token of a new login and returns it. */
export const logIn = async (stores: Stores, parties: Parties, changes: Partial<Token> = {}): Promise<RefreshToken> => {
  const token = tokenUnder(grantTo(parties), changes)
  if (!(await stores.tokens.insert(token, parties.user.generation))) throw new Error('the login is not stored')
  return token
}

/** Stores tokens that no look-up by their access tokens finds, each under a grant of its own, by what has ended them. */
export const endedTokens = async (stores: Stores): Promise<Readonly<Record<string, RefreshToken>>> => {
  const { tokens, grants, users, clients } = stores
  const parties = await register(stores)
  const revoked = await logIn(stores, parties)
  await tokens.revokeAccess(revoked.accessDigest, at(1))
  const rotated = await logIn(stores, parties)
  await tokens.rotate(rotated.refreshDigest, someSpend(), tokenUnder(rotated.grant))
  const ended = await logIn(stores, parties)
  await grants.revoke(ended.grant.id, at(1))
  const others = await register(stores)
  const ofRevoked = await logIn(stores, others)
  await users.revoke(others.user.username, at(1))
  const gone = await register(stores)
  const ofGone = await logIn(stores, gone)
  await users.remove(gone.user.username)
  const closed = await register(stores)
  const ofClosed = await logIn(stores, closed)
  await clients.remove(closed.client.id)
  return { revoked, rotated, ended, ofRevoked, ofGone, ofClosed }
}

export const authorize = async (stores: Stores, parties: Parties, changes: Partial<Code> = {}): Promise<Code> => {
  const code = codeUnder(grantTo(parties), changes)
  if (!(await stores.codes.insert(code, parties.user.generation))) throw new Error('the code is not stored')
  return code
}

export const someSpend = (seconds = 0): { readonly at: Date; readonly nonce: string } => ({
  at: at(seconds),
  nonce: someDigest()
})

/** Makes twenty calls at once: twice as many as the pool has connections. */
export const rivals = <T>(call: (rival: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: 20 }, (_, rival) => call(rival)))

/** How many waves of five pairs {@link rounds} makes. A file may lower it for an engine that runs one statement at a time. */
export const pairs = { waves: 10 }

/**
 * Makes fifty pairs of concurrent calls. Each of the two calls begins first in half of the pairs. Five pairs run at
 * once, with one call for each connection of the pool: this takes a quarter of the time and lets more calls meet.
 */
export const rounds = async <P, A, B>(
  prepare: (round: number) => Promise<P>,
  first: (prepared: P) => Promise<A>,
  second: (prepared: P) => Promise<B>,
  judge: (prepared: P, a: A, b: B) => Promise<void>
): Promise<void> => {
  for (let wave = 0; wave < pairs.waves; wave++) {
    const prepared = await Promise.all([0, 1, 2, 3, 4].map(i => prepare(5 * wave + i)))
    const answers = await Promise.all(
      prepared.map(async (p, i): Promise<[P, A, B]> => {
        if (i % 2 === wave % 2) {
          const [a, b] = await Promise.all([first(p), second(p)])
          return [p, a, b]
        }
        const [b, a] = await Promise.all([second(p), first(p)])
        return [p, a, b]
      })
    )
    await Promise.all(answers.map(answer => judge(...answer)))
  }
}

/**
 * Fails unless both have the same values. Prototypes do not count: jest runs tests in a realm of their own, in which what
 * Node makes (structuredClone) is a stranger.
 */
export const same = (actual: unknown, expected: unknown, message?: string): void =>
  assert.deepEqual(toPlain(actual), toPlain(expected), message)

const toPlain = (value: unknown): unknown => {
  if (isDate(value)) return new Date(value.getTime())
  if (isSet(value)) return new Set(Array.from(value, toPlain))
  if (Array.isArray(value)) return Array.from(value, toPlain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, toPlain(each)]))
}

/** Changes all that can be changed in a record, as a careless caller might. */
export const tamper = (record: unknown): void => {
  if (isDate(record)) record.setTime(0)
  if (typeof record !== 'object' || record === null) return
  for (const [key, value] of Object.entries(record)) {
    tamper(value)
    Reflect.set(record, key, 'tampered')
  }
  if (Array.isArray(record)) Reflect.set(record, record.length, 'tampered')
}

/** Names and scopes that a query language or an array literal might take for something else. */
export const ODD_TEXTS: readonly string[] = [
  '%',
  '_',
  '\\',
  'back\\slash',
  "it's",
  '"quoted"',
  '{a,b}',
  'a,b',
  '{}',
  'NULL',
  'null',
  'undefined',
  '$1',
  '?',
  '--',
  ';',
  '/*',
  ' ',
  ' x ',
  '\t\n',
  'é',
  'e\u0301',
  'ß',
  'ẞ',
  'İ',
  'ΑΣ',
  '\u{1f9b8}\u{1f3fd}\u200d♀️',
  // A decoder of UTF-8 takes a leading U+FEFF for a byte order mark, and drops it unless told otherwise.
  '\ufeff',
  '\ufeff\ufeff',
  '\ufeffx',
  'x\ufeff',
  '\u{1f9b8}'.repeat(255)
]

/** Empties stores by their own methods, which every adapter has. A new database for every test would take a minute. */
export const empty = async ({ heroes, users, clients, scopes, attempts }: Stores): Promise<void> => {
  const everyHero = await heroes.list({ nameContains: undefined, after: undefined, limit: undefined })
  const everyUser = await users.list({})
  const everyClient = await clients.list()
  const everyScope = await scopes.list()
  await Promise.all(everyHero.map(({ id }) => heroes.remove(id)))
  await Promise.all(everyUser.map(({ username }) => users.remove(username)))
  await Promise.all(everyClient.map(({ id }) => clients.remove(id)))
  await Promise.all(everyScope.map(({ name }) => scopes.remove(name)))
  await attempts.removeExpired(at(1_000_000_000), 1_000_000)
}
