import { Type } from '@sinclair/typebox'
import type { UseCases } from '../../../core/index.js'
import { formOf, formRoutes } from '../bodies/forms.js'
import { originOf } from '../client-address.js'
import { clientCredentials } from '../client-auth.js'
import { UNCACHED } from '../headers.js'
import type { Http } from '../http.js'
import { refuseCallsOfOtherSites } from '../other-sites.js'

/** The answer of RFC 7662 section 2.2. */
const Introspection = Type.Object(
  {
    active: Type.Boolean({ description: 'Whether the token is of any use.' }),
    scope: Type.Optional(Type.String({ description: 'The scopes of the token, with spaces between them.' })),
    client_id: Type.Optional(Type.String({ description: 'The client to which it was issued.' })),
    username: Type.Optional(Type.String({ description: 'The user who logged in.' })),
    token_type: Type.Optional(Type.Literal('bearer', { description: 'For access tokens.' })),
    sub: Type.Optional(
      Type.String({ description: 'The id of the user, or of the client for a token that it has for itself.' })
    ),
    iss: Type.Optional(Type.String({ description: 'The issuer: the address of this service.' })),
    exp: Type.Optional(Type.Integer({ description: 'When it expires, in seconds since 1970.' })),
    iat: Type.Optional(Type.Integer({ description: 'When it was issued, in seconds since 1970.' }))
  },
  { title: 'Introspection' }
)

export const revocationRoutes = (
  http: Http,
  useCases: Pick<UseCases, 'authenticateClient' | 'revokeToken' | 'introspectToken'>,
  publicUrl: () => string,
  corsOrigins: readonly string[]
): void => {
  const refuseUnlisted = refuseCallsOfOtherSites(publicUrl, corsOrigins)
  const refuseOthers = refuseCallsOfOtherSites(publicUrl)
  http.register(
    formRoutes('oauth', http => {
      // RFC 7009. `token_type_hint` is ignored: the digest finds an access token or a refresh token without it.
      http.post('/auth/revoke', { onRequest: refuseUnlisted }, async (request, reply) => {
        const form = await formOf(request)
        const origin = originOf(request)
        const credentials = clientCredentials(request.headers.authorization, form)
        const client = await useCases.authenticateClient(credentials, origin)
        await useCases.revokeToken(client, form.get('token'), origin)
        // RFC 7009 section 2.2: clients ignore the body. simple-oauth2 takes an answer without JSON for a failure.
        return reply.headers(UNCACHED).send({})
      })

      http.post(
        '/auth/introspect',
        { onRequest: refuseOthers, schema: { response: { 200: Introspection } } },
        async (request, reply) => {
          reply.headers(UNCACHED)
          const form = await formOf(request)
          const credentials = clientCredentials(request.headers.authorization, form)
          const client = await useCases.authenticateClient(credentials, originOf(request))
          const found = await useCases.introspectToken(client, form.get('token'))
          if (found === undefined) return { active: false }
          return {
            active: true,
            ...(found.scopes.length > 0 && { scope: found.scopes.join(' ') }),
            client_id: found.clientId,
            ...(found.username !== undefined && { username: found.username }),
            ...(found.kind === 'access_token' && { token_type: 'bearer' as const }),
            sub: found.userId === undefined ? found.clientId : String(found.userId),
            iss: publicUrl(),
            exp: numericDate(found.expiresAt),
            iat: numericDate(found.issuedAt)
          }
        }
      )
    })
  )
}

/** RFC 7519's NumericDate. */
const numericDate = (instant: Date): number => Math.floor(instant.getTime() / 1000)
