import { type TObject, type TProperties, Type } from '@sinclair/typebox'
import { grantTypes } from '../../../core/index.js'
import { UNKEPT } from './headers.js'
import type { Operations, Security } from './operation.js'
import { OF_BODIES, OF_CLIENTS, OF_EVERY_REQUEST, OF_PARAMETERS, OF_STORES } from './refusals.js'

/** By Basic, or by `client_id` and `client_secret` in the form. */
const security: Security = [{ client: [] }, {}]

const form = (properties: TProperties): TObject =>
  Type.Object({
    ...properties,
    client_id: Type.Optional(
      Type.String({ description: 'The id of the client, where it does not authenticate by Basic.', examples: ['shop'] })
    ),
    client_secret: Type.Optional(
      Type.String({
        description: 'The secret of the client, where it does not authenticate by Basic. A public client has none.',
        format: 'password'
      })
    )
  })

const token = (description: string, example: string) => Type.String({ description, examples: [example] })

const ACCESS = 'q7XbLd2MfV9sRkT4hYwC6nJz1PgEaU8o'
const REFRESH = 'B3nKx8QmWz5TfLr0JvHc7SdYp2GiEa6u'
const CODE = 'Zk3Vq0pTn8LwYc5RbXs7HdJf2MgKa9Ue'
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'

const tokenForm = form({
  grant_type: Type.String({ description: 'How the client gets the token.', enum: [...grantTypes] }),
  username: Type.Optional(Type.String({ description: '`password`: the name of the user.', examples: ['ada'] })),
  password: Type.Optional(
    Type.String({
      description: '`password`: the password of the user.',
      format: 'password',
      examples: ['correct horse']
    })
  ),
  code: Type.Optional(token('`authorization_code`: the code that the login page gave.', CODE)),
  redirect_uri: Type.Optional(
    Type.String({
      description: '`authorization_code`: required when the authorization request had one, and the same.',
      examples: ['https://shop.example/back']
    })
  ),
  code_verifier: Type.Optional(
    token('`authorization_code`: required when the authorization request had a `code_challenge` (RFC 7636).', VERIFIER)
  ),
  refresh_token: Type.Optional(token('`refresh_token`: the refresh token.', REFRESH)),
  scope: Type.Optional(
    Type.String({
      description:
        'The scopes that are wanted, with spaces between them. Those that the client is not allowed are left out. ' +
        'With `refresh_token`, a part of what was granted.',
      examples: ['heroes:read heroes:write']
    })
  )
})

const tokenQuestion = form({
  token: token('An access token or a refresh token.', ACCESS),
  token_type_hint: Type.Optional(
    Type.String({ description: 'Ignored: the token is found without it.', examples: ['refresh_token'] })
  )
})

const answer = { access_token: ACCESS, refresh_token: REFRESH, expires_in: 3600, token_type: 'bearer' }

export const tokens: Operations = {
  'POST /auth/token': {
    operationId: 'issueToken',
    tag: 'Tokens',
    summary: 'Get a token',
    description:
      'The token endpoint of RFC 6749. A client that has a secret sends it by HTTP Basic or in the form; a public ' +
      'client sends an empty one, or its `client_id` alone. A repeated refresh within the grace gets the same answer ' +
      'again; after it, the whole login ends. The query string is not read.',
    security,
    form: tokenForm,
    bodyExamples: {
      password: {
        summary: 'By the username and password of a user',
        value: { grant_type: 'password', username: 'ada', password: 'correct horse' }
      },
      authorizationCode: {
        summary: 'By the code of the login page, with PKCE, as a public client',
        value: { grant_type: 'authorization_code', code: CODE, code_verifier: VERIFIER, client_id: 'shop' }
      },
      clientCredentials: {
        summary: 'For the client itself, without a user',
        value: { grant_type: 'client_credentials', scope: 'heroes:read' }
      },
      refreshToken: {
        summary: 'By a refresh token',
        value: { grant_type: 'refresh_token', refresh_token: REFRESH }
      }
    },
    answers: {
      200: {
        description:
          'The tokens. A refresh token is there for a client that has a secret and the refresh grant, and a user.',
        headers: UNKEPT,
        examples: {
          token: { summary: 'For a client with a secret', value: answer },
          scoped: { summary: 'With scopes', value: { ...answer, scope: 'heroes:read heroes:write' } }
        }
      }
    },
    refusals: [
      ...OF_EVERY_REQUEST,
      ...OF_CLIENTS,
      ...OF_BODIES,
      'noForm',
      ...OF_PARAMETERS,
      'withoutGrantType',
      'unsupportedGrantType',
      'otherGrantType',
      'publicForItself',
      'usernameMissing',
      'passwordMissing',
      'wrongCredentials',
      'codeMissing',
      'invalidCode',
      'refreshTokenMissing',
      'publicRefresh',
      'invalidRefreshToken',
      'scopeMalformed',
      'scopeTooLong',
      'scopeNotAllowed',
      'scopeBeyondGrant',
      'tooManyLogins',
      ...OF_STORES,
      'tooManyHashes'
    ]
  },

  'POST /auth/revoke': {
    operationId: 'revokeToken',
    tag: 'Tokens',
    summary: 'End a token',
    description:
      'RFC 7009. A refresh token ends with its whole login, an access token by itself. From then on no instance takes ' +
      'it. A token that is not known is no error.',
    security,
    form: tokenQuestion,
    bodyExamples: { token: { summary: 'Log out', value: { token: REFRESH } } },
    answers: {
      200: {
        description: 'The token is of no use any more.',
        schema: Type.Object({}),
        headers: UNKEPT,
        examples: { revoked: { summary: 'Nothing to tell', value: {} } }
      }
    },
    refusals: [
      ...OF_EVERY_REQUEST,
      ...OF_CLIENTS,
      ...OF_BODIES,
      'noForm',
      ...OF_PARAMETERS,
      'tokenMissing',
      'tokenOfAnother',
      ...OF_STORES
    ]
  },

  'POST /auth/introspect': {
    operationId: 'introspectToken',
    tag: 'Tokens',
    summary: 'Ask about a token',
    description: 'RFC 7662. Tells any client that has a secret about any token.',
    security,
    form: tokenQuestion,
    bodyExamples: { token: { summary: 'An access token', value: { token: ACCESS } } },
    answers: {
      200: {
        description: 'What is known of the token. Of one that is not active, nothing else is told.',
        headers: UNKEPT,
        examples: {
          active: {
            summary: 'An access token',
            value: {
              active: true,
              scope: 'heroes:read',
              client_id: 'shop',
              username: 'ada',
              token_type: 'bearer',
              sub: '1',
              iss: 'https://heroes.example',
              exp: 1795000000,
              iat: 1794996400
            }
          },
          inactive: { summary: 'A token that is unknown, expired or revoked', value: { active: false } }
        }
      }
    },
    refusals: [
      ...OF_EVERY_REQUEST,
      ...OF_CLIENTS,
      ...OF_BODIES,
      'noForm',
      ...OF_PARAMETERS,
      'tokenMissing',
      'publicIntrospection',
      ...OF_STORES
    ]
  }
}
