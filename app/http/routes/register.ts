import { type TObject, Type } from '@sinclair/typebox'
import { DomainError, PASSWORD_MAX, refusals, USERNAME_MAX, type UseCases } from '../../../core/index.js'
import { jsonRoutes } from '../bodies/json.js'
import { originOf } from '../client-address.js'
import type { Http } from '../http.js'
import { schemaRefusals } from '../openapi/answers.js'
import { DOCUMENTED, type Operation } from '../openapi/operation.js'
import { jsonRefusals, storeRefusals } from '../refusals.js'
import { examplePassword } from '../trial.js'

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
export const User = Type.Object(
  {
    id: Type.Integer({ description: 'Given out once and never again.', examples: [1] }),
    username: Type.String({ description: 'The name in the form NFC of Unicode.', examples: ['ada'] })
  },
  { title: 'User' }
)

interface RegisterRouteOptions {
  /** Where registration is not open, `/register` refuses every request before it reads the body. */
  readonly isOpen: boolean
  /** In code points. The use case judges it; it stands here for the OpenAPI document. */
  readonly passwordMinLength: number
}

const registrationClosed = (): DomainError =>
  new DomainError('access_denied', 'registration is closed: ask the people who run this service for an account')

const shared = { operationId: 'registerUser', tag: 'Users' as const, summary: 'Register a user' }

const CLOSED: Operation = {
  ...shared,
  description: 'Registration is closed: every request is 403. The people who run this service register users.',
  answers: {},
  refusals: { registrationClosed }
}

const openOperation = (body: TObject, passwordMinLength: number): Operation => ({
  ...shared,
  description: 'Registers a user, who can log in from then on. The password is stored as a salted hash alone.',
  bodyExamples: { 'A user': { username: 'ada', password: examplePassword(passwordMinLength) } },
  answers: { 200: { description: 'The user with its id.', examples: { 'A user': { id: 1, username: 'ada' } } } },
  refusals: {
    ...jsonRefusals,
    ...schemaRefusals(body),
    usernameTaken: refusals.usernameTaken,
    tooManyRegistrations: refusals.tooManyRegistrations,
    ...storeRefusals,
    tooManyHashes: refusals.tooManyHashes
  }
})

export const registerRoutes = (
  http: Http,
  useCases: Pick<UseCases, 'registerUser'>,
  { isOpen, passwordMinLength }: RegisterRouteOptions
): void => {
  const requireOpen = async (): Promise<void> => {
    if (!isOpen) throw registrationClosed()
  }
  const body = registration(passwordMinLength)
  const config = { cors: true, operation: isOpen ? openOperation(body, passwordMinLength) : CLOSED }
  http.register(
    jsonRoutes(http => {
      http.post('/register', { onRequest: requireOpen, config, schema: { body, response: { 200: User } } }, request =>
        useCases.registerUser(request.body, originOf(request))
      )
    })
  )
}
