import { Type } from '@sinclair/typebox'
import { DomainError, PASSWORD_MAX, USERNAME_MAX, type UseCases } from '../../../core/index.js'
import { jsonRoutes } from '../bodies/json.js'
import { originOf } from '../client-address.js'
import { DOCUMENTED } from '../documented.js'
import { examplePassword } from '../example-password.js'
import type { Http } from '../http.js'

const registration = (passwordMinLength: number) =>
  Type.Object(
    {
      id: Type.Optional(Type.Unknown({ description: 'Ignored, whatever it is.' })),
      username: Type.String({
        description: 'The name, which no other user has. It is put into the form NFC of Unicode.',
        examples: ['ada'],
        [DOCUMENTED]: { minLength: 1, maxLength: USERNAME_MAX }
      }),
      password: Type.String({
        description: 'The password. It is put into the form NFC of Unicode and never shown again.',
        examples: [examplePassword(passwordMinLength)],
        [DOCUMENTED]: { minLength: passwordMinLength, maxLength: PASSWORD_MAX, format: 'password' }
      })
    },
    { title: 'Registration', additionalProperties: false }
  )
const User = Type.Object(
  {
    id: Type.Integer({ description: 'Given out once and never again.', examples: [1] }),
    username: Type.String({ description: 'The name in the form NFC of Unicode.', examples: ['ada'] })
  },
  { title: 'User' }
)

export interface RegisterRouteOptions {
  /** Where registration is not open, `/register` refuses every request before it reads the body. */
  readonly isOpen: boolean
  /** In code points. The use case judges it; it stands here for the OpenAPI document. */
  readonly passwordMinLength: number
}

export const registerRoutes = (
  http: Http,
  useCases: Pick<UseCases, 'registerUser'>,
  { isOpen, passwordMinLength }: RegisterRouteOptions
): void => {
  const requireOpen = async (): Promise<void> => {
    if (!isOpen)
      throw new DomainError(
        'access_denied',
        'registration is closed: ask the people who run this service for an account'
      )
  }
  http.register(
    jsonRoutes(http => {
      http.post(
        '/register',
        { onRequest: requireOpen, schema: { body: registration(passwordMinLength), response: { 200: User } } },
        async request => {
          const { id, username } = await useCases.registerUser(request.body, originOf(request))
          return { id, username }
        }
      )
    })
  )
}
