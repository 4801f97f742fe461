import { Type } from '@sinclair/typebox'
import { refusals, type UseCases } from '../../../core/index.js'
import { formOf, formRoutes } from '../bodies/forms.js'
import { originOf } from '../client-address.js'
import { clientCredentials } from '../client-auth.js'
import { UNCACHED } from '../headers.js'
import type { Http } from '../http.js'
import { clientFormRefusals, clientOperation, EXAMPLES, tokenQuestion, UNKEPT } from '../openapi/oauth.js'
import type { Operation } from '../openapi/operation.js'
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

const operation: Operation = {
  ...clientOperation,
  operationId: 'introspectToken',
  summary: 'Ask about a token',
  description: 'RFC 7662. Tells any client that has a secret about any token.',
  form: tokenQuestion,
  bodyExamples: { 'An access token': { token: EXAMPLES.accessToken } },
  answers: {
    200: {
      description: 'What is known of the token. Of one that is not active, nothing else is told.',
      headers: UNKEPT,
      examples: {
        'An access token': {
          active: true,
          scope: 'heroes:read',
          client_id: 'shop',
          username: 'ada',
          token_type: 'bearer',
          sub: '1',
          iss: 'https://heroes.example',
          exp: 1795000000,
          iat: 1794996400
        },
        'A token that is unknown, expired or revoked': { active: false }
      }
    }
  },
  refusals: {
    ...clientFormRefusals,
    tokenMissing: () => refusals.missingParameter('token'),
    publicIntrospection: refusals.publicIntrospection
  }
}

export const introspectionRoutes = (
  http: Http,
  useCases: Pick<UseCases, 'authenticateClient' | 'introspectToken'>,
  publicUrl: () => string
): void => {
  // Not for pages of any origin: it answers servers.
  const onRequest = refuseCallsOfOtherSites(publicUrl)
  const options = { onRequest, schema: { response: { 200: Introspection } }, config: { operation } }
  http.register(
    formRoutes('oauth', http => {
      http.post('/auth/introspect', options, async (request, reply) => {
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
      })
    })
  )
}

/** RFC 7519's NumericDate. */
const numericDate = (instant: Date): number => Math.floor(instant.getTime() / 1000)
