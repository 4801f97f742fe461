import { join } from 'node:path'
import { BASIC, CHAINS_FILE, PASSWORD, PREFIX, TOKENS_FILE, USERS } from './data.js'

/** What a load generator sends, as load.lua and load-autocannon.ts read it. */
export interface Plan {
  readonly kind: 'get' | 'create' | 'refresh' | 'code' | 'login'
  readonly path: string
  /** Undefined for the fastest client that there is: `generator`. Only reads can be sent by `fetch`. */
  readonly client?: 'fetch'
  /** The number of the first secret. A run uses each secret once, in ascending order. */
  readonly first?: number
  readonly prefix?: string
  /** A file with the secrets, where they are not made from numbers. */
  readonly file?: string
  /** The number of access tokens among which requests choose, and of heroes and of users. */
  readonly tokens?: number
  readonly heroes?: number
  readonly users?: number
  readonly name?: string
  readonly gzip?: boolean
  readonly basic?: string
  readonly password?: string
  /** In milliseconds: how long a connection waits after an answer, in the mean. */
  readonly pause?: number
}

export interface Target {
  readonly url: string
  /** The folder with the contestant's own secrets, if it makes any. */
  readonly folder: string
  readonly ownSecrets: boolean
}

export const getPlan = (target: Target, path: string, tokens: number, heroes: number, gzip = false): Plan => ({
  kind: 'get',
  path,
  heroes,
  ...(target.ownSecrets ? { file: join(target.folder, TOKENS_FILE) } : { prefix: PREFIX.access, tokens }),
  ...(gzip && { gzip })
})

let runs = 0

export const createPlan = (tokens: number): Plan => ({
  kind: 'create',
  path: '/heroes',
  prefix: PREFIX.access,
  tokens,
  // No two runs may create heroes of the same name.
  name: `made ${Date.now()} ${runs++}`
})

export const refreshPlan = (target: Target, path: string, first: number): Plan => ({
  kind: 'refresh',
  path,
  basic: BASIC,
  first,
  ...(target.ownSecrets ? { file: join(target.folder, CHAINS_FILE) } : { prefix: PREFIX.chain })
})

export const codePlan = (first: number): Plan => ({
  kind: 'code',
  path: '/auth/token',
  basic: BASIC,
  prefix: PREFIX.code,
  first
})

export const loginPlan = (): Plan => ({
  kind: 'login',
  path: '/auth/token',
  basic: BASIC,
  users: USERS,
  password: PASSWORD.replaceAll(' ', '+')
})

/** Logins of the first user, with a password that is wrong. */
export const throttledPlan = (pause: number): Plan => ({
  kind: 'login',
  path: '/auth/token',
  basic: BASIC,
  users: 1,
  password: 'a+guess',
  pause
})
