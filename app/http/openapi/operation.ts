import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import type { Refusals } from '../refusals.js'
import type { HeaderName } from './headers.js'

/** The groups of operations, in the order of the document. */
export const TAGS = [
  { name: 'Heroes', description: 'Hero records: list, search, fetch, create, rename and delete them.' },
  { name: 'Users', description: 'The people who log in.' },
  { name: 'Tokens', description: 'Getting, checking and ending tokens, as OAuth 2.0 (RFC 6749) has it.' },
  { name: 'Login page', description: 'What people see in a browser on the way to an authorization code.' },
  { name: 'Account page', description: 'Where people see their logins, end them and change their password.' },
  { name: 'Service', description: 'What load balancers, client libraries and readers of this document ask.' },
  { name: 'Documentation', description: 'The interactive page that shows this document, and what it is made of.' }
] as const

/**
 * The key of a schema under which keywords stand that the OpenAPI document shows and no validator sees. The core judges
 * what they say, with texts of its own and after the order of refusals.
 */
export const DOCUMENTED = Symbol('documented')

/** Parameters that are texts, as the document shows them. */
export const text = (description: string, example: string) => Type.String({ description, examples: [example] })
export const optionalText = (description: string, example: string) => Type.Optional(text(description, example))
export const optionalSecret = (description: string, ...examples: readonly string[]) =>
  Type.Optional(Type.String({ description, format: 'password', ...(examples.length > 0 && { examples }) }))

/** Values by a word about each. */
export type Examples = Readonly<Record<string, unknown>>

/** An answer that the document describes by itself: one that is right, or a page that tells of a failure. */
export interface Answer {
  readonly description: string
  /** The schema of the body, where the route has none. An answer without a schema has no body. */
  readonly schema?: TSchema
  /** The type of the body: JSON by default. */
  readonly type?: string
  readonly headers?: readonly HeaderName[]
  readonly examples?: Examples
}

/** The ways to authenticate of which one is enough, by the names of the security schemes. An empty one stands for none. */
export type Security = readonly Readonly<Record<string, readonly string[]>>[]

/**
 * What the OpenAPI document says of a route beside the route's own schemas. A route declares it as `operation` in its
 * `config`; one that declares none is left out.
 */
export interface Operation {
  readonly operationId: string
  readonly tag: (typeof TAGS)[number]['name']
  readonly summary: string
  readonly description: string
  /** None by default. */
  readonly security?: Security
  readonly path?: TObject
  readonly query?: TObject
  readonly headers?: TObject
  /** The form in the body. */
  readonly form?: TObject
  readonly bodyExamples?: Examples
  /** By status; `default` stands for every other. */
  readonly answers: Readonly<Record<number, Answer>> & { readonly default?: Answer }
  /** What else the handler and the hooks before it refuse, but for what the head of any request is refused for. */
  readonly refusals?: Refusals
}

declare module 'fastify' {
  interface FastifyContextConfig {
    operation?: Operation
  }
}
