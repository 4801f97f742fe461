/** The rows that every contestant finds in its database. */
export interface Sizes {
  /** Heroes 1 to `heroes`. */
  readonly heroes: number
  /** Tokens 1 to `tokens` are live, and reads choose among them. */
  readonly tokens: number
  /** So many tokens behind them are there to be refreshed: each begins a chain, in which an answer has the next token. */
  readonly chains: number
}

/** Behind the chains come two tokens that must be refused. */
export const expiredToken = ({ tokens, chains }: Sizes): number => tokens + chains + 1
export const revokedToken = ({ tokens, chains }: Sizes): number => tokens + chains + 2

export const CLIENT = { id: 'bench', secret: 'a-secret-of-more-than-24-characters' }
/** Of every user. */
export const PASSWORD = 'correct horse'
export const USERS = 1000

type Kind = 'access' | 'refresh'

const LENGTH = 32

/** A secret is made from its token's number, so that the load can make any of them. */
export const secret = (kind: Kind, number: number): string => kind + String(number).padStart(LENGTH - kind.length, '0')

/** The digest of {@link secret} in SQL, for an expression whose value is the number. */
export const sqlDigest = (kind: Kind, number: string): string =>
  `sha256(convert_to('${kind}' || lpad((${number})::text, ${LENGTH - kind.length}, '0'), 'UTF8'))`

export const heroName = (id: number): string => `hero ${id}`
export const username = (number: number): string => `user ${number}`

export const bearer = (token: string): string => `Bearer ${token}`
export const basic = (clientSecret: string): string =>
  `Basic ${Buffer.from(`${CLIENT.id}:${clientSecret}`).toString('base64')}`
