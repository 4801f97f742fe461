import { join } from 'node:path'
import { BASIC, CHAINS_FILE, PASSWORD, PREFIX, TOKENS_FILE, USERS } from './data.js'

/** What a load generator sends, as load.lua and load-autocannon.ts read it. */
export interface Plan {
  readonly kind: 'get' | 'create' | 'refresh' | 'code' | 'login'
  readonly path: string
  /** Secrets are counted on from here: each of a run's is used once. */
  readonly first?: number
  readonly prefix?: string
  /** A file of secrets instead of counted ones. */
  readonly file?: string
  /** How many access tokens and heroes there are to choose from. */
  readonly tokens?: number
  readonly heroes?: number
  readonly users?: number
  readonly name?: string
  readonly gzip?: boolean
  readonly basic?: string
  readonly password?: string
}

export interface Target {
  readonly url: string
  /** Of the contestant's own secrets, if it makes any. */
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
  // No two runs make heroes of one name.
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
