import { Type } from '@sinclair/typebox'
import { type HeaderName, OF_LOGIN_PAGES } from './headers.js'
import type { Answer, Operations } from './operation.js'
import { OF_BODIES, OF_EVERY_REQUEST, OF_PARAMETERS, OF_STORES } from './refusals.js'

const parameters = {
  client_id: Type.String({ description: 'The id of a registered client that has a redirect URI.', examples: ['shop'] }),
  response_type: Type.String({ description: 'Always `code`.', enum: ['code'] }),
  response_mode: Type.Optional(Type.String({ description: 'Always `query`.', enum: ['query'] })),
  state: Type.String({
    description: 'A text of the client, of up to 4,096 bytes, which comes back unchanged.',
    examples: ['xyz']
  }),
  redirect_uri: Type.Optional(
    Type.String({
      description:
        'Where the browser returns to: exactly as it is registered, the port of this machine aside. Required where several are registered.',
      examples: ['https://shop.example/back']
    })
  ),
  scope: Type.Optional(
    Type.String({
      description: 'The scopes that are wanted, with spaces between them.',
      examples: ['heroes:read heroes:write']
    })
  ),
  code_challenge: Type.Optional(
    Type.String({
      description: 'RFC 7636: base64url of the SHA-256 of the verifier. Required of clients that are registered so.',
      pattern: '^[A-Za-z0-9_-]{43}$',
      examples: ['E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM']
    })
  ),
  code_challenge_method: Type.Optional(
    Type.String({ description: 'Always `S256`, and required with `code_challenge`.', enum: ['S256'] })
  )
}

const language = Type.Object({
  'Accept-Language': Type.Optional(
    Type.String({ description: 'The language of the page: English, German, French or Spanish.', examples: ['de'] })
  )
})

const html = Type.String()
const SHOWN: readonly HeaderName[] = [...OF_LOGIN_PAGES, 'Content-Language']
const page = (description: string): Answer => ({ description, schema: html, type: 'text/html', headers: SHOWN })

const told =
  '`error` and `error_description` where the request is wrong: `invalid_request`, `unsupported_response_type`, ' +
  '`unauthorized_client` or `invalid_scope`'

export const loginPage: Operations = {
  'GET /auth/code': {
    operationId: 'showLoginPage',
    tag: 'Login page',
    summary: 'Show the login page',
    description:
      'The authorization endpoint of RFC 6749, for browsers. The page holds a form that is posted to the same address. ' +
      'It carries every parameter along, unknown ones too.',
    security: [],
    query: Type.Object(parameters),
    headers: language,
    answers: {
      200: page('The login page.'),
      302: {
        description: `Back to the client, with \`state\` and \`iss\` (RFC 9207), and with ${told}.`,
        headers: [...OF_LOGIN_PAGES, 'Location', 'Content-Length']
      }
    },
    refusals: [
      ...OF_EVERY_REQUEST,
      ...OF_PARAMETERS,
      'queryNotEncoded',
      'parametersTooLong',
      'stateTooLong',
      'unknownClient',
      'noRedirectUri',
      'unnamedRedirectUri',
      'otherRedirectUri',
      ...OF_STORES
    ]
  },

  'POST /auth/code': {
    operationId: 'logIn',
    tag: 'Login page',
    summary: 'Log in by the login page',
    description:
      'What the login page posts. Each parameter but `username` and `password` may stand in the query string instead; ' +
      'two different values are refused. A browser that sends the form for another site is refused.',
    security: [],
    query: Type.Partial(Type.Object(parameters)),
    headers: language,
    form: Type.Object({
      ...Type.Partial(Type.Object(parameters)).properties,
      username: Type.Optional(Type.String({ description: 'The name of the user.', examples: ['ada'] })),
      password: Type.Optional(
        Type.String({ description: 'The password.', format: 'password', examples: ['correct horse'] })
      ),
      cancel: Type.Optional(
        Type.String({
          description: 'Of any value: the person goes back to the client without a login.',
          examples: ['yes']
        })
      )
    }),
    bodyExamples: {
      ada: {
        summary: 'The form, filled in',
        value: { client_id: 'shop', response_type: 'code', state: 'xyz', username: 'ada', password: 'correct horse' }
      }
    },
    answers: {
      302: {
        description: `Back to the client, with \`state\` and \`iss\` (RFC 9207), and with \`code\`; or with ${told}, or \`access_denied\` where the person cancelled.`,
        headers: [...OF_LOGIN_PAGES, 'Location', 'Content-Length']
      },
      403: page('The username or the password is wrong: the form again. Or a page: another website sent this form.'),
      429: {
        ...page('Too many logins were tried: the form again, which says when to come back.'),
        headers: [...SHOWN, 'Retry-After']
      },
      default: page('Any other failure: a page that says what is wrong.')
    },
    refusals: [
      ...OF_EVERY_REQUEST,
      ...OF_BODIES,
      'noForm',
      ...OF_PARAMETERS,
      'queryNotEncoded',
      'parametersTooLong',
      'stateTooLong',
      'formAgainstLink',
      'unknownClient',
      'noRedirectUri',
      'unnamedRedirectUri',
      'otherRedirectUri',
      ...OF_STORES,
      'tooManyHashes'
    ]
  },

  'GET /callback': {
    operationId: 'showCode',
    tag: 'Login page',
    summary: 'Show the code of the first client',
    description:
      'The redirect URI of the client `local`, which a trial without a database server has. The page shows the code ' +
      'and the line that redeems it, or the error.',
    security: [],
    query: Type.Object({
      code: Type.Optional(Type.String({ description: 'The code.', examples: ['Zk3Vq0pTn8LwYc5RbXs7HdJf2MgKa9Ue'] })),
      error: Type.Optional(
        Type.String({ description: 'Why there is no code (RFC 6749 section 4.1.2.1).', examples: ['invalid_scope'] })
      ),
      error_description: Type.Optional(
        Type.String({
          description: 'The same for a person.',
          examples: ['the client is allowed none of the requested scopes: request others, or none']
        })
      ),
      state: Type.Optional(Type.String({ description: 'Ignored.', examples: ['xyz'] })),
      iss: Type.Optional(Type.String({ description: 'Ignored.', examples: ['http://localhost:3000'] }))
    }),
    headers: language,
    answers: { 200: page('The code, or the error.') },
    refusals: [...OF_EVERY_REQUEST, ...OF_PARAMETERS, 'queryNotEncoded', 'parametersTooLong', 'neitherCodeNorError']
  }
}
