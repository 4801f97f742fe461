import { refusals, type UseCases } from '../../../core/index.js'
import { bearerRefusals, bearerToken } from '../bearer.js'
import { originOf } from '../client-address.js'
import type { Http } from '../http.js'
import type { Operation } from '../openapi/operation.js'
import { storeRefusals } from '../refusals.js'
import { User } from './register.js'

const operation: Operation = {
  operationId: 'getMe',
  tag: 'Users',
  summary: 'Tell whose token this is',
  description: 'The user who logged in for the access token, for programs that want to know who signed in.',
  security: [{ oauth2: [] }, { bearer: [] }],
  answers: { 200: { description: 'The user.', examples: { 'A user': { id: 1, username: 'ada' } } } },
  refusals: { ...bearerRefusals, tokenOfNoUser: refusals.tokenOfNoUser, ...storeRefusals }
}

export const meRoute = (http: Http, useCases: Pick<UseCases, 'whoAmI'>): void => {
  const config = { cors: true, cacheControl: 'private', operation }
  http.get('/me', { schema: { response: { 200: User } }, config }, request =>
    useCases.whoAmI(bearerToken(request.headers.authorization), originOf(request))
  )
}
