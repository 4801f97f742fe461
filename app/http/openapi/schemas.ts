import { Type } from '@sinclair/typebox'

/** The body of an error, by the form of errors: see errors.ts. */
export const ErrorBody = Type.Object(
  { error: Type.String({ description: 'What is wrong and what to send instead, for a person.' }) },
  { title: 'Error' }
)

/** RFC 6749 section 5.2. */
export const OAuthErrorBody = Type.Object(
  {
    error: Type.String({
      description: 'The code of RFC 6749, for a program.',
      enum: [
        'invalid_request',
        'invalid_client',
        'invalid_grant',
        'invalid_scope',
        'unauthorized_client',
        'unsupported_grant_type',
        'temporarily_unavailable',
        'server_error'
      ]
    }),
    error_description: Type.String({
      description: 'What is wrong and what to send instead, for a person.',
      pattern: '^[\\x20-\\x21\\x23-\\x5b\\x5d-\\x7e]+$'
    })
  },
  { title: 'OAuthError' }
)
