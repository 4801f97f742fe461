import type { Grant } from './model.js'

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
  | 'missing_client'
  | 'token_request'
  | 'unknown_client'
  | 'no_redirect_uri'
  | 'other_redirect_uri'
  | 'unnamed_redirect_uri'
  | 'too_long'
  | 'contradictory'

/** Why a token request was refused. The event has it, and the text for the caller says it in words. */
export type RefusalReason =
  | 'unknown'
  | 'expired'
  | 'used'
  | 'other_client'
  | 'redirect_uri'
  | 'verifier'
  | 'ended'
  | 'scope'
  | 'grant_type'

/** What a caller can do about a refusal, and what caused it. */
export interface ErrorDetails {
  /** After how many seconds another try makes sense. Given with `too_many_attempts`, `overloaded` and `unavailable`. */
  readonly retryAfterSeconds?: number
  /** The scope that the token lacks. Given with `insufficient_scope`. */
  readonly requiredScope?: string
  /** Given with an `invalid_request` that a page tells of, where there is more to say than that it is malformed. */
  readonly fault?: Fault
  /** Given with what refuses a token request of an authenticated client, with its grant where the client has one. */
  readonly refusal?: { readonly reason: RefusalReason; readonly grant?: Grant | undefined }
  /** The internal error. It is for the log and never for the caller. */
  readonly cause?: unknown
}

/**
 * A refusal. The caller reads the message: it is printable ASCII without `"` and `\` (the `error_description` of RFC
 * 6749 section 5.2) and repeats nothing of the caller's input.
 */
export class DomainError extends Error {
  override readonly name = 'DomainError'
  readonly code: ErrorCode
  readonly retryAfterSeconds: number | undefined
  readonly requiredScope: string | undefined
  readonly fault: Fault | undefined
  readonly refusal: ErrorDetails['refusal']

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.retryAfterSeconds = details.retryAfterSeconds
    this.requiredScope = details.requiredScope
    this.fault = details.fault
    this.refusal = details.refusal
  }
}
