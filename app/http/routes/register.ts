import { Type } from '@sinclair/typebox'
import type { UseCases } from '../../../core/index.js'
import { jsonRoutes } from '../bodies.js'
import type { Http } from '../http.js'

const Registration = Type.Object(
  { id: Type.Optional(Type.Unknown()), username: Type.String(), password: Type.String() },
  { additionalProperties: false }
)
const User = Type.Object({ id: Type.Integer(), username: Type.String() })

export const registerRoutes = (http: Http, useCases: Pick<UseCases, 'registerUser'>): void => {
  http.register(
    jsonRoutes(http => {
      http.post('/register', { schema: { body: Registration, response: { 200: User } } }, async request => {
        const { id, username } = await useCases.registerUser(request.body)
        return { id, username }
      })
    })
  )
}
