import { Type } from '@sinclair/typebox'
import { grantTypes, refusals, type TokenAnswer, type UseCases } from '../../../core/index.js'
import { formOf, formRoutes } from '../bodies/forms.js'
import { originOf } from '../client-address.js'
import { clientCredentials } from '../client-auth.js'
import { UNCACHED } from '../headers.js'
import type { Http } from '../http.js'
import { clientForm, clientFormRefusals, clientOperation, EXAMPLES, UNKEPT } from '../openapi/oauth.js'
import { type Operation, optionalSecret, optionalText } from '../openapi/operation.js'
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

const answer = {
  access_token: EXAMPLES.accessToken,
  refresh_token: EXAMPLES.refreshToken,
  expires_in: 3600,
  token_type: 'bearer'
}

const operation: Operation = {
  ...clientOperation,
  operationId: 'issueToken',
  summary: 'Get a token',
  description:
    'The token endpoint of RFC 6749. A client that has a secret sends it by HTTP Basic or in the form; a public ' +
    'client sends an empty one, or its `client_id` alone. A repeated refresh within the grace gets the same answer ' +
    'again; after it, the whole login ends. The query string is not read.',
  form: clientForm({
    grant_type: Type.String({ description: 'How the client gets the token.', enum: [...grantTypes] }),
    username: optionalText('`password`: the name of the user.', 'ada'),
    password: optionalSecret('`password`: the password of the user.', 'correct horse'),
    code: optionalText('`authorization_code`: the code that the login page gave.', EXAMPLES.code),
    redirect_uri: optionalText(
      '`authorization_code`: required when the authorization request had one, and the same.',
      'https://shop.example/back'
    ),
    code_verifier: optionalText(
      '`authorization_code`: required when the authorization request had a `code_challenge` (RFC 7636).',
      EXAMPLES.verifier
    ),
    refresh_token: optionalText('`refresh_token`: the refresh token.', EXAMPLES.refreshToken),
    scope: optionalText(
      'The scopes that are wanted, with spaces between them. Those that the client is not allowed are left out. ' +
        'With `refresh_token`, a part of what was granted.',
      'heroes:read heroes:write'
    )
  }),
  bodyExamples: {
    'By the username and password of a user': { grant_type: 'password', username: 'ada', password: 'correct horse' },
    'By the code of the login page, with PKCE, as a public client': {
      grant_type: 'authorization_code',
      code: EXAMPLES.code,
      code_verifier: EXAMPLES.verifier,
      client_id: 'shop'
    },
    'For the client itself, without a user': { grant_type: 'client_credentials', scope: 'heroes:read' },
    'By a refresh token': { grant_type: 'refresh_token', refresh_token: EXAMPLES.refreshToken }
  },
  answers: {
    200: {
      description:
        'The tokens. A refresh token is there for a client that has a secret and the refresh grant, and a user.',
      headers: UNKEPT,
      examples: {
        'For a client with a secret': answer,
        'With scopes': { ...answer, scope: 'heroes:read heroes:write' }
      }
    }
  },
  refusals: {
    ...clientFormRefusals,
    clientGone: refusals.clientGone,
    withoutGrantType: () => refusals.missingParameter('grant_type'),
    unsupportedGrantType: () => refusals.unsupportedGrantType(grantTypes),
    otherGrantType: refusals.otherGrantType,
    publicForItself: refusals.publicForItself,
    usernameMissing: () => refusals.missingParameter('username'),
    passwordMissing: () => refusals.missingParameter('password'),
    wrongCredentials: refusals.wrongCredentials,
    codeMissing: () => refusals.missingParameter('code'),
    codeUnknown: refusals.codeRefusals.unknown,
    codeExpired: refusals.codeRefusals.expired,
    codeUsed: refusals.codeRefusals.used,
    loginEnded: refusals.codeRefusals.ended,
    otherRedirectUri: refusals.codeRefusals.redirectUri,
    otherVerifier: refusals.codeRefusals.verifier,
    verifierMissing: refusals.codeRefusals.verifierMissing,
    verifierUnasked: refusals.codeRefusals.verifierUnasked,
    scopesLost: refusals.codeRefusals.scope,
    refreshTokenMissing: () => refusals.missingParameter('refresh_token'),
    publicRefresh: refusals.publicRefresh,
    refreshTokenUnknown: refusals.refreshRefusals.unknown,
    refreshTokenExpired: refusals.refreshRefusals.expired,
    refreshTokenUsed: refusals.refreshRefusals.used,
    refreshLoginEnded: refusals.refreshRefusals.ended,
    refreshScopesLost: refusals.refreshRefusals.scope,
    scopeMalformed: refusals.scopeMalformed,
    scopeTooLong: refusals.scopeTooLong,
    scopeNotAllowed: refusals.scopeNotAllowed,
    scopeBeyondGrant: refusals.scopeBeyondGrant,
    tooManyLogins: refusals.tooManyLogins,
    tooManyHashes: refusals.tooManyHashes
  }
}

export const tokenRoutes = (
  http: Http,
  useCases: Pick<UseCases, 'authenticateClient' | 'issueToken'>,
  publicUrl: () => string,
  corsOrigins: readonly string[]
): void => {
  const onRequest = refuseCallsOfOtherSites(publicUrl, corsOrigins)
  http.register(
    formRoutes('oauth', http => {
      http.post(
        '/auth/token',
        { onRequest, schema: { response: { 200: TokenResponse } }, config: { cors: true, operation } },
        async (request, reply) => {
          reply.headers(UNCACHED)
          const form = await formOf(request)
          const origin = originOf(request)
          const credentials = clientCredentials(request.headers.authorization, form)
          // Not awaited: what the request names is looked up meanwhile.
          const client = useCases.authenticateClient(credentials, origin)
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
        }
      )
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
