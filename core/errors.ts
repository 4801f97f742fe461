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

export interface ErrorDetails {
  /** After how many seconds another try makes sense. Given with `too_many_attempts`, `overloaded` and `unavailable`. */
  readonly retryAfterSeconds?: number
  /** The scope that the token lacks. Given with `insufficient_scope`. */
  readonly requiredScope?: string
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

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.retryAfterSeconds = details.retryAfterSeconds
    this.requiredScope = details.requiredScope
  }
}
