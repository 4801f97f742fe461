import type { ErrorCode, SecurityEvent, UseCases } from '../../core/index.js'

/** The use cases of the command line. */
export const METHODS = [
  'addClient',
  'changeClient',
  'findClient',
  'heroPage',
  'importHeroes',
  'importUsers',
  'listClients',
  'listScopeTexts',
  'registerUser',
  'removeClient',
  'removeScopeText',
  'removeUser',
  'revokeUser',
  'rotateSecret',
  'setPassword',
  'setScopeText',
  'userPage'
] as const

export type Method = (typeof METHODS)[number]

/** What an operator may do. */
export type Administration = Pick<UseCases, Method>

/** The first message of a service, whose version decides whether the two understand each other. */
export interface Greeting {
  readonly version: string
}

/** A call, which a command sends. The next one follows its answer. */
export interface Call {
  readonly method: Method
  readonly args: readonly unknown[]
}

/** What a service sends during a call: events, then one answer. */
export type Reply<Result> =
  | { readonly event: SecurityEvent }
  | { readonly value: Result }
  | { readonly refusal: { readonly code: ErrorCode; readonly message: string } }
  | { readonly failure: string }
