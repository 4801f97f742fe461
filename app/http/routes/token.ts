import { Type } from '@sinclair/typebox'
import type { TokenAnswer, UseCases } from '../../../core/index.js'
import { formOf, formRoutes } from '../bodies/forms.js'
import { originOf } from '../client-address.js'
import { clientCredentials } from '../client-auth.js'
import { UNCACHED } from '../headers.js'
import type { Http } from '../http.js'
import { refuseCallsOfOtherSites } from '../other-sites.js'

/** Tokens and codes, as a regular expression. */
const ISSUED = '^[A-Za-z0-9]{32}$'

/** The answer of RFC 6749 section 5.1. */
const TokenResponse = Type.Object(
  {
    access_token: Type.String({ description: 'To be sent as `Authorization: Bearer`.', pattern: ISSUED }),
    refresh_token: Type.Optional(
      Type.String({ description: 'Buys the next tokens, once. Clients without a secret get none.', pattern: ISSUED })
    ),
    expires_in: Type.Integer({ description: 'Seconds until the access token expires.', minimum: 0 }),
    token_type: Type.Literal('bearer'),
    scope: Type.Optional(Type.String({ description: 'The scopes of the access token, with spaces between them.' }))
  },
  { title: 'TokenResponse' }
)

export const tokenRoutes = (
  http: Http,
  useCases: Pick<UseCases, 'requestToken'>,
  publicUrl: () => string,
  corsOrigins: readonly string[]
): void => {
  const onRequest = refuseCallsOfOtherSites(publicUrl, corsOrigins)
  http.register(
    formRoutes('oauth', http => {
      http.post('/auth/token', { onRequest, schema: { response: { 200: TokenResponse } } }, async (request, reply) => {
        reply.headers(UNCACHED)
        const form = await formOf(request)
        const origin = originOf(request)
        const credentials = clientCredentials(request.headers.authorization, form)
        const answer = await useCases.requestToken(credentials, {
          grantType: form.get('grant_type'),
          username: form.get('username'),
          password: form.get('password'),
          refreshToken: form.get('refresh_token'),
          code: form.get('code'),
          redirectUri: form.get('redirect_uri'),
          codeVerifier: form.get('code_verifier'),
          scope: form.get('scope'),
          ...origin
        })
        return tokenResponse(answer)
      })
    })
  )
}

const tokenResponse = ({ accessToken, refreshToken, expiresInSeconds, scopes }: TokenAnswer) => ({
  access_token: accessToken,
  ...(refreshToken !== undefined && { refresh_token: refreshToken }),
  expires_in: expiresInSeconds,
  token_type: 'bearer' as const,
  ...(scopes.length > 0 && { scope: scopes.join(' ') })
})
