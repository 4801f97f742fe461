import { aboutGrant } from './events.js'
import { answerOf, newGrant, newPair, tokenOf } from './issuing.js'
import { emitLogin, type Login, type LoginFound } from './login.js'
import type { Policy } from './policy.js'
import type { AllPorts } from './ports.js'
import { wrongCredentials } from './refusals.js'
import { grantScopes, parseScope } from './scope.js'
import { type GrantHandler, requireParameter } from './token-request.js'

/**
 * RFC 6749 section 4.3. Throws `invalid_request`, `invalid_scope`, `invalid_grant`, `too_many_attempts` and
 * `overloaded`.
 */
export const createPasswordGrant = (
  { tokens, secrets, clock, events }: AllPorts,
  policy: Policy,
  login: Login
): GrantHandler<LoginFound> => ({
  find: ({ username = '', password = '' }) => login.find({ username, password }),

  async issue(client, request, found) {
    requireParameter('username', request.username)
    requireParameter('password', request.password)
    const scopes = grantScopes(parseScope(request.scope), client.allowedScopes)
    const user = await login.admit(client.id, request, found)
    if (user !== undefined) {
      const now = clock.now()
      const grant = await newGrant(user, client, scopes, now, secrets, policy)
      const pair = await newPair(client, secrets)
      const token = await tokenOf(pair, grant, scopes, now, secrets, policy)
      const begun = await tokens.insert(token, user.generation)
      emitLogin(events, begun, user, grant, request)
      if (begun) {
        events.emit({ event: 'token.issued', ...aboutGrant(grant, request), reason: 'password' })
        return answerOf(pair, token)
      }
    }
    throw wrongCredentials()
  }
})
