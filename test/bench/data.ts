/**
 * The data that every contestant holds. A secret is made from its number, so that a load generator can make any of them.
 * Stores look for digests, and these are as scattered as the digests of random secrets.
 */
export const CLIENT = { id: 'bench', secret: 'a-secret-of-more-than-24-characters' }
export const BASIC = `Basic ${Buffer.from(`${CLIENT.id}:${CLIENT.secret}`).toString('base64')}`
export const PASSWORD = 'correct horse'
export const USERS = 1000

/** The cheapest parameters of argon2id: with them a login shows what it costs beside its hash. */
export const CHEAPEST = { memoryCost: 8, timeCost: 1, parallelism: 1 }

export const PREFIX = {
  access: 'benchaccess',
  refresh: 'benchrefresh',
  /** Access tokens that must be refused: one is expired, one belongs to a revoked grant, one is itself revoked. */
  expired: 'benchexpired',
  revoked: 'benchrevoked',
  ended: 'benchended',
  /** Refresh tokens that begin a chain: each is used once, and the answer gives the next. */
  chain: 'benchchain',
  code: 'benchcode'
} as const

const LENGTH = 32

export const secret = (prefix: string, number: number): string =>
  prefix + String(number).padStart(LENGTH - prefix.length, '0')

/** {@link secret} in SQL, for an expression whose value is the number. */
export const sqlSecret = (prefix: string, number: string): string =>
  `'${prefix}' || lpad((${number})::text, ${LENGTH - prefix.length}, '0')`

export const sqlDigest = (text: string): string => `sha256(convert_to(${text}, 'UTF8'))`

export const username = (number: number): string => `user ${number}`
export const heroName = (number: number): string => `hero ${number}`

export interface Sizes {
  readonly heroes: number
  readonly tokens: number
  readonly chains: number
  readonly codes: number
}

/** What a contestant is told at its start. One that makes its own tokens writes them to `folder`. */
export interface ContestantSettings extends Sizes {
  readonly port: number
  readonly databaseUrl: string
  readonly folder: string
}

export const SETTINGS = 'BENCH_CONTESTANT'
export const TOKENS_FILE = 'tokens'
export const CHAINS_FILE = 'chains'
