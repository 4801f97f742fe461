/** Every way in which a use case refuses. RFC 6749, 6750 and 7636's own codes stand under their own names. */
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
  /** After how many seconds a further try makes sense: `too_many_attempts`, `overloaded`, `unavailable`. */
  readonly retryAfterSeconds?: number
  /** The scope that was missing: `insufficient_scope`. */
  readonly requiredScope?: string
  /** What went wrong inside; for the log, never for the caller. */
  readonly cause?: unknown
}

/**
 * A refusal. The message is for the caller: printable ASCII without `"` and `\`
 * (RFC 6749 section 5.2's error_description), and nothing of the caller's input.
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
