import { Type } from '@sinclair/typebox'
import type { TokenAnswer, UseCases } from '../../../core/index.js'
import { formOf, formRoutes } from '../bodies.js'
import { originOf } from '../client-address.js'
import { clientCredentials } from '../client-auth.js'
import { UNCACHED } from '../headers.js'
import type { Http } from '../http.js'
import { refuseCallsOfOtherSites } from '../other-sites.js'

/** The answer of RFC 6749 section 5.1. */
const TokenResponse = Type.Object({
  access_token: Type.String(),
  refresh_token: Type.Optional(Type.String()),
  expires_in: Type.Integer(),
  token_type: Type.Literal('bearer'),
  scope: Type.Optional(Type.String())
})

export const tokenRoutes = (
  http: Http,
  useCases: Pick<UseCases, 'authenticateClient' | 'issueToken'>,
  publicUrl: () => string,
  corsOrigins: readonly string[]
): void => {
  const onRequest = refuseCallsOfOtherSites(publicUrl, corsOrigins)
  http.register(
    formRoutes('oauth', http => {
      http.post('/auth/token', { onRequest, schema: { response: { 200: TokenResponse } } }, async (request, reply) => {
        reply.headers(UNCACHED)
        const form = formOf(request)
        const origin = originOf(request)
        const credentials = clientCredentials(request.headers.authorization, form)
        const client = await useCases.authenticateClient(credentials, origin)
        const answer = await useCases.issueToken(client, {
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
