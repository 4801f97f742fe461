import { type TObject, type TProperties, Type } from '@sinclair/typebox'
import { clientRefusals } from '../client-auth.js'
import { bodyRefusals, formRefusals, parameterRefusals, storeRefusals } from '../refusals.js'
import { type HeaderName, OF_LOGIN_PAGES } from './headers.js'
import type { Answer, Security } from './operation.js'

export const EXAMPLES = {
  accessToken: 'q7XbLd2MfV9sRkT4hYwC6nJz1PgEaU8o',
  refreshToken: 'B3nKx8QmWz5TfLr0JvHc7SdYp2GiEa6u',
  code: 'Zk3Vq0pTn8LwYc5RbXs7HdJf2MgKa9Ue',
  verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
}

export const text = (description: string, example: string) => Type.String({ description, examples: [example] })
export const secretText = (description: string, example?: string) =>
  Type.String({ description, format: 'password', ...(example !== undefined && { examples: [example] }) })

/** What every answer has that must not be kept, because a token or a code is in it. */
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
    client_id: Type.Optional(text('The id of the client, where it does not authenticate by Basic.', 'shop')),
    client_secret: Type.Optional(
      secretText('The secret of the client, where it does not authenticate by Basic. A public client has none.')
    )
  })

/** What is refused of any {@link clientForm}. */
export const clientFormRefusals = {
  ...clientRefusals,
  ...bodyRefusals,
  ...formRefusals,
  ...parameterRefusals,
  ...storeRefusals
}

/** The form of RFC 7009 and RFC 7662. */
export const tokenQuestion = clientForm({
  token: text('An access token or a refresh token.', EXAMPLES.accessToken),
  token_type_hint: Type.Optional(text('Ignored: the token is found without it.', 'refresh_token'))
})

/** The header by which a page chooses its language. */
export const language = Type.Object({
  'Accept-Language': Type.Optional(text('The language of the page: English, German, French or Spanish.', 'de'))
})

export const SHOWN: readonly HeaderName[] = [...OF_LOGIN_PAGES, 'Content-Language']

/** An answer that is a page of the login. */
export const loginPageAnswer = (description: string): Answer => ({
  description,
  schema: Type.String(),
  type: 'text/html',
  headers: SHOWN
})
