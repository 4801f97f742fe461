/** The reasons for which use cases refuse. Error codes of RFC 6749, 6750 and 7636 keep their names. */
export type ErrorCode =
  | 'invalid_input'
  | 'not_found'
  | 'conflict'
  | 'token_required'
  | 'invalid_token'
  | 'insufficient_scope'
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_scope'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'access_denied'
  | 'too_many_attempts'
  | 'overloaded'
  | 'unavailable'

/**
 * What is wrong with an authorization request of which the client cannot be told by a redirect. A page tells the person,
 * in the person's own language.
 */
export type Fault =
  | 'unknown_client'
  | 'no_redirect_uri'
  | 'other_redirect_uri'
  | 'unnamed_redirect_uri'
  | 'too_long'
  | 'contradictory'

/** What a caller can do about a refusal, and what caused it. */
export interface ErrorDetails {
  /** After how many seconds another try makes sense. Given with `too_many_attempts`, `overloaded` and `unavailable`. */
  readonly retryAfterSeconds?: number
  /** The scope that the token lacks. Given with `insufficient_scope`. */
  readonly requiredScope?: string
  /** Given with an `invalid_request` that a page tells of, where there is more to say than that it is malformed. */
  readonly fault?: Fault
  /** The internal error. It is for the log and never for the caller. */
  readonly cause?: unknown
}

/** What an error of every copy of this module has. */
const BRAND = Symbol.for('heroes.DomainError')
const isInstance: (this: unknown, value: unknown) => boolean = Function.prototype[Symbol.hasInstance]

/**
 * A refusal. The caller reads the message: it is printable ASCII without `"` and `\` (the `error_description` of RFC
 * 6749 section 5.2) and repeats nothing of the caller's input. It has no stack trace. An error of
 * another copy of the core, which a store in a package of its own may bring along, is an instance too.
 */
export class DomainError extends Error {
  override readonly name = 'DomainError'
  readonly code: ErrorCode
  readonly retryAfterSeconds: number | undefined
  readonly requiredScope: string | undefined
  readonly fault: Fault | undefined

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    // An engine such as V8 would note where each refusal was made, which takes 20 µs, a quarter of the whole answer to a
    // login that is throttled. Code and message say enough.
    const limit: unknown = Reflect.get(Error, 'stackTraceLimit')
    Reflect.set(Error, 'stackTraceLimit', 0)
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    Reflect.set(Error, 'stackTraceLimit', limit)
    this.code = code
    this.retryAfterSeconds = details.retryAfterSeconds
    this.requiredScope = details.requiredScope
    this.fault = details.fault
  }
}

// Set beside the class, so that no type and no log shows them. A class that extends this one has its own errors alone.
Object.defineProperty(DomainError.prototype, BRAND, { value: true })
Object.defineProperty(DomainError, Symbol.hasInstance, {
  value(this: unknown, error: unknown): boolean {
    return this === DomainError ? BRAND in Object(error) : isInstance.call(this, error)
  }
})
