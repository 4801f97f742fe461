import { type TObject, type TProperties, Type } from '@sinclair/typebox'
import { clientRefusals } from '../client-auth.js'
import { oauthFormRefusals, storeRefusals } from '../refusals.js'
import { type HeaderName, OF_PERSONAL_PAGES } from './headers.js'
import { type Answer, optionalSecret, optionalText, type Security, text } from './operation.js'

// What the operations of clients and of pages have in common.

export const EXAMPLES = {
  accessToken: 'q7XbLd2MfV9sRkT4hYwC6nJz1PgEaU8o',
  refreshToken: 'B3nKx8QmWz5TfLr0JvHc7SdYp2GiEa6u',
  code: 'Zk3Vq0pTn8LwYc5RbXs7HdJf2MgKa9Ue',
  verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
}

/** The headers of answers with which a client is told of tokens: no cache may keep them. */
export const UNKEPT: readonly HeaderName[] = ['Cache-Control', 'Pragma']

/** What is said of a route at which clients authenticate: by Basic, or by `client_id` and `client_secret` in the form. */
export const clientOperation = {
  tag: 'Tokens' as const,
  security: [{ client: [] }, {}] satisfies Security
}

/** A form in which a client may authenticate. */
export const clientForm = (properties: TProperties): TObject =>
  Type.Object({
    ...properties,
    // Without examples: a page that fills them in beside a Basic header would authenticate in two ways.
    client_id: Type.Optional(
      Type.String({ description: 'The id of the client, where it does not authenticate by Basic.' })
    ),
    client_secret: optionalSecret(
      'The secret of the client, where it does not authenticate by Basic. A public client has none.'
    )
  })

/** What is refused of any {@link clientForm}. */
export const clientFormRefusals = { ...clientRefusals, ...oauthFormRefusals, ...storeRefusals }

/** The form of RFC 7009 and RFC 7662. */
export const tokenQuestion = clientForm({
  token: text('An access token or a refresh token.', EXAMPLES.accessToken),
  token_type_hint: optionalText('Ignored: the token is found without it.', 'refresh_token')
})

/** What the login page sends back (RFC 6749 section 4.1.2, RFC 9207), as the query of a redirect URI of the service's own. */
export const authorizationAnswer = Type.Object({
  code: optionalText('The code.', EXAMPLES.code),
  error: optionalText('Why there is no code.', 'access_denied'),
  error_description: optionalText('The same for a person.', 'state is missing'),
  state: optionalText('The state of the request.', 'xyz'),
  iss: optionalText('The issuer.', 'https://heroes.example')
})

/** The header by which a page chooses its language. */
export const language = Type.Object({
  'Accept-Language': optionalText('The language of the page: English, German, French or Spanish.', 'de')
})

export const pageAnswer = (description: string, headers: readonly HeaderName[] = OF_PERSONAL_PAGES): Answer => ({
  description,
  schema: Type.String(),
  type: 'text/html',
  headers
})

/** The fields with which a person logs in. */
export const loginFields = {
  username: optionalText('The name of the user.', 'ada'),
  password: optionalSecret('The password.', 'correct horse')
}

/** How a page answers a login that fails. */
export const loginFailures = {
  403: pageAnswer('The username or the password is wrong: the form again. Or a page: another website sent this form.'),
  429: pageAnswer('Too many logins were tried: the form again, which says when to come back.', [
    ...OF_PERSONAL_PAGES,
    'Retry-After'
  ]),
  default: pageAnswer('Any other failure: a page that says what is wrong.')
}
