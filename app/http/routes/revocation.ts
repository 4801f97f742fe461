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

const operation: Operation = {
  ...clientOperation,
  operationId: 'revokeToken',
  summary: 'End a token',
  description:
    'RFC 7009. A refresh token ends with its whole login, an access token by itself. From then on no instance takes ' +
    'it. A token that is not known is no error.',
  form: tokenQuestion,
  bodyExamples: { 'Log out': { token: EXAMPLES.refreshToken } },
  answers: {
    200: {
      description: 'The token is of no use any more.',
      schema: Type.Object({}),
      headers: UNKEPT,
      examples: { 'Nothing to tell': {} }
    }
  },
  refusals: {
    ...clientFormRefusals,
    tokenMissing: () => refusals.missingParameter('token'),
    tokenOfAnother: refusals.tokenOfAnother
  }
}

export const revocationRoutes = (
  http: Http,
  useCases: Pick<UseCases, 'authenticateClient' | 'revokeToken'>,
  publicUrl: () => string,
  corsOrigins: readonly string[]
): void => {
  const onRequest = refuseCallsOfOtherSites(publicUrl, corsOrigins)
  http.register(
    formRoutes('oauth', http => {
      // RFC 7009. `token_type_hint` is ignored: the digest finds an access token or a refresh token without it.
      http.post('/auth/revoke', { onRequest, config: { cors: true, operation } }, async (request, reply) => {
        const form = await formOf(request)
        const origin = originOf(request)
        const credentials = clientCredentials(request.headers.authorization, form)
        const client = await useCases.authenticateClient(credentials, origin)
        await useCases.revokeToken(client, form.get('token'), origin)
        // RFC 7009 section 2.2: clients ignore the body. simple-oauth2 takes an answer without JSON for a failure.
        return reply.headers(UNCACHED).send({})
      })
    })
  )
}
