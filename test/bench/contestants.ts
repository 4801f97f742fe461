import type { Sizes } from './data.js'

export type ContestantName =
  | 'a1'
  | 'af'
  | 'ag'
  | 'node-memory'
  | 'heroes-pg'
  | 'heroes-pg-info'
  | 'heroes-pg-metrics'
  | 'heroes-pg-workers'
  | 'heroes-pg-cheap'
  | 'heroes-memory'
  | 'heroes-pg-before'
  | 'heroes-memory-before'
  | 'heroes-embedded'
  | 'node-oauth'
  | 'oidc-provider'
  | 'jmondi'

export interface Contestant {
  readonly name: ContestantName
  readonly label: string
  /** Where its rows are stored. */
  readonly store: 'postgres' | 'embedded' | 'own'
  /** The script in contestants/. Undefined for this service as it is delivered. */
  readonly script: string | undefined
  readonly env?: Readonly<Record<string, string>>
  /** True for the service of the checkout that `--before` names. */
  readonly before?: true
  /** True when the contestant makes its tokens itself and writes them to a file. */
  readonly ownSecrets: boolean
  readonly readPath: string
  readonly tokenPath: string
  /** True when its GET answers with a hero. */
  readonly answersHeroes: boolean
}

const base = {
  script: undefined,
  ownSecrets: false,
  readPath: '/heroes/{hero}',
  tokenPath: '/auth/token',
  answersHeroes: true
} as const

export const CONTESTANTS: Readonly<Record<ContestantName, Contestant>> = {
  a1: { ...base, name: 'a1', label: 'by hand, a statement a request (a1)', store: 'postgres', script: 'a1' },
  af: { ...base, name: 'af', label: 'by hand on Fastify (af)', store: 'postgres', script: 'af' },
  ag: { ...base, name: 'ag', label: 'by hand, gathered (ag)', store: 'postgres', script: 'ag' },
  'node-memory': {
    ...base,
    name: 'node-memory',
    label: 'node:http in memory',
    store: 'own',
    script: 'node-memory'
  },
  'heroes-pg': { ...base, name: 'heroes-pg', label: 'Heroes on PostgreSQL', store: 'postgres' },
  'heroes-pg-info': {
    ...base,
    name: 'heroes-pg-info',
    label: 'Heroes on PostgreSQL, LOG_LEVEL=info',
    store: 'postgres',
    env: { LOG_LEVEL: 'info' }
  },
  'heroes-pg-metrics': {
    ...base,
    name: 'heroes-pg-metrics',
    label: 'Heroes on PostgreSQL, METRICS_PORT set',
    store: 'postgres',
    env: { METRICS_PORT: '0' }
  },
  'heroes-pg-workers': {
    ...base,
    name: 'heroes-pg-workers',
    label: 'Heroes on PostgreSQL, WORKERS=2',
    store: 'postgres',
    env: { WORKERS: '2' }
  },
  'heroes-pg-cheap': {
    ...base,
    name: 'heroes-pg-cheap',
    label: 'Heroes on PostgreSQL, cheapest hashes',
    store: 'postgres',
    script: 'heroes-pg-cheap',
    env: { HASH_CONCURRENCY: '3' }
  },
  'heroes-memory': { ...base, name: 'heroes-memory', label: 'Heroes in memory', store: 'own', script: 'heroes-memory' },
  'heroes-pg-before': {
    ...base,
    name: 'heroes-pg-before',
    label: 'Heroes on PostgreSQL, the other checkout',
    store: 'postgres',
    before: true
  },
  'heroes-memory-before': {
    ...base,
    name: 'heroes-memory-before',
    label: 'Heroes in memory, the other checkout',
    store: 'own',
    script: 'heroes-memory',
    before: true
  },
  'heroes-embedded': { ...base, name: 'heroes-embedded', label: 'Heroes, embedded database', store: 'embedded' },
  'node-oauth': {
    ...base,
    name: 'node-oauth',
    label: '@node-oauth/oauth2-server, Express 5, in memory',
    store: 'own',
    script: 'node-oauth'
  },
  'oidc-provider': {
    ...base,
    name: 'oidc-provider',
    label: 'oidc-provider, in memory',
    store: 'own',
    script: 'oidc-provider',
    ownSecrets: true,
    readPath: '/me',
    tokenPath: '/token',
    answersHeroes: false
  },
  jmondi: {
    ...base,
    name: 'jmondi',
    label: '@jmondi/oauth2-server (JWT), Fastify, in memory',
    store: 'own',
    script: 'jmondi',
    ownSecrets: true
  }
}

export const PEERS = ['node-oauth', 'oidc-provider', 'jmondi'] as const satisfies readonly ContestantName[]

export const usual = (tokens: number): Sizes => ({ heroes: 1000, tokens, chains: 0, codes: 0 })
