import type { TObject, TSchema } from '@sinclair/typebox'
import type { HeaderName } from './headers.js'
import type { RefusalFigures, RefusalName } from './refusals.js'
import type { Tag } from './tags.js'

/** What the document depends on beside the routes. */
export interface Setup extends RefusalFigures {
  /** The version of the package. */
  readonly version: string
  readonly publicUrl: string
  readonly protectHeroes: boolean
  readonly readScope: string | undefined
  readonly writeScope: string | undefined
  readonly registrationOpen: boolean
}

export interface Example {
  readonly summary: string
  readonly value: unknown
}
export type Examples = Readonly<Record<string, Example>>

/** An answer that is no refusal. */
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

/** What the document says of a route beside the route's own schemas. */
export interface Operation {
  readonly operationId: string
  readonly tag: Tag
  readonly summary: string
  readonly description: string
  readonly security: Security
  readonly path?: TObject
  readonly query?: TObject
  readonly headers?: TObject
  /** The form in the body. */
  readonly form?: TObject
  readonly bodyExamples?: Examples
  /** By status; `default` stands for every other. */
  readonly answers: Readonly<Record<number, Answer>> & { readonly default?: Answer }
  /** Every refusal that the route's handler and the hooks before it can make. */
  readonly refusals: readonly RefusalName[]
}

/** Routes by method and path, as they are registered: `GET /heroes/:id`. */
export type Operations = Readonly<Record<string, Operation>>
