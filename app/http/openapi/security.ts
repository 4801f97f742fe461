/** What the security schemes depend on. */
export interface SecuritySetup {
  readonly publicUrl: string
  readonly readScope: string | undefined
  readonly writeScope: string | undefined
}

/** The security schemes of the document. Operations name them by their keys. */
export const securitySchemes = ({ publicUrl, readScope: read, writeScope: write }: SecuritySetup) => {
  const authorizationUrl = `${publicUrl}/auth/code`
  const tokenUrl = `${publicUrl}/auth/token`
  const refreshUrl = tokenUrl
  // What the scopes of the settings open. One scope may be both.
  const scopes: Readonly<Record<string, string>> = {
    ...(read !== undefined && { [read]: 'Read heroes' }),
    ...(write !== undefined && { [write]: read === write ? 'Read and write heroes' : 'Write heroes' })
  }
  return {
    oauth2: {
      type: 'oauth2' as const,
      description:
        'An access token of `/auth/token`, sent as `Authorization: Bearer <token>` (RFC 6750). The flow with a code ' +
        'takes PKCE with `S256`.',
      // The flows that OpenAPI has names for.
      flows: {
        password: { tokenUrl, refreshUrl, scopes },
        authorizationCode: { authorizationUrl, tokenUrl, refreshUrl, scopes },
        clientCredentials: { tokenUrl, scopes }
      }
    },
    bearer: {
      type: 'http' as const,
      scheme: 'bearer',
      description: 'The same access token, for programs that have one already.'
    },
    client: {
      type: 'http' as const,
      scheme: 'basic',
      description: 'The id and the secret of a client (RFC 7617). A public client has an empty secret.'
    }
  }
}
