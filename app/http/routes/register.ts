import { Type } from '@sinclair/typebox'
import { DomainError, type UseCases } from '../../../core/index.js'
import { jsonRoutes } from '../bodies.js'
import { originOf } from '../client-address.js'
import type { Http } from '../http.js'

const Registration = Type.Object(
  { id: Type.Optional(Type.Unknown()), username: Type.String(), password: Type.String() },
  { additionalProperties: false }
)
const User = Type.Object({ id: Type.Integer(), username: Type.String() })

/** Where registration is not open, `/register` refuses every request before it reads the body. */
export const registerRoutes = (http: Http, useCases: Pick<UseCases, 'registerUser'>, isOpen: boolean): void => {
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
        { onRequest: requireOpen, schema: { body: Registration, response: { 200: User } } },
        async request => {
          const { id, username } = await useCases.registerUser(request.body, originOf(request))
          return { id, username }
        }
      )
    })
  )
}
