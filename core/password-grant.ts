import { DomainError } from './errors.js'
import { aboutGrant } from './events.js'
import { answerOf, type IssuingPolicy, newGrant, newPair, tokenOf } from './issuing.js'
import { type Login, tellLogin } from './login.js'
import type { AllPorts } from './ports.js'
import { grantScopes, parseScope } from './scope.js'
import { type GrantHandler, requireParameter } from './token-request.js'

/**
 * RFC 6749 section 4.3. Throws `invalid_request`, `invalid_scope`, `invalid_grant`, `too_many_attempts` and
 * `overloaded`.
 */
export const createPasswordGrant =
  (
    { tokens, secrets, clock, events }: Pick<AllPorts, 'tokens' | 'secrets' | 'clock' | 'events'>,
    policy: IssuingPolicy,
    login: Login
  ): GrantHandler =>
  request => {
    const { username = '', password = '', address, requestId, traceId } = request
    const admit = login({ username, password, address, requestId, traceId })
    return async client => {
      requireParameter('username', request.username)
      requireParameter('password', request.password)
      const scopes = grantScopes(parseScope(request.scope), client.allowedScopes)
      const admission = await admit(client)
      if (admission !== undefined) {
        const { user, noted } = admission
        const now = clock.now()
        const grant = await newGrant(user, client, scopes, now, secrets, policy)
        const pair = await newPair(client, secrets)
        const token = await tokenOf(pair, grant, scopes, now, secrets, policy)
        const [begun] = await Promise.all([tokens.insert(token, user.generation), noted])
        tellLogin(events, begun, user, grant, request)
        if (begun) {
          events.tell({ event: 'token.issued', ...aboutGrant(grant, request), reason: 'password' })
          return answerOf(pair, token, now)
        }
      }
      throw new DomainError('invalid_grant', 'the username or the password is wrong: check both')
    }
  }
