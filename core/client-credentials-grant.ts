import { aboutGrant } from './events.js'
import { answerOf, newGrant, tokenOf } from './issuing.js'
import type { Policy } from './policy.js'
import type { AllPorts } from './ports.js'
import { clientGone, publicForItself } from './refusals.js'
import { grantScopes, parseScope } from './scope.js'
import type { GrantHandler } from './token-request.js'

/**
 * RFC 6749 section 4.4: a token for the client itself, with no user and no refresh token. Throws `unauthorized_client`,
 * `invalid_scope`, and `invalid_client` when the client was removed meanwhile.
 */
export const createClientCredentialsGrant = (
  { tokens, secrets, clock, events }: AllPorts,
  policy: Policy
): GrantHandler<void> => ({
  find: async () => {},

  async issue(client, request) {
    if (client.secretDigest === undefined) throw publicForItself()
    const scopes = grantScopes(parseScope(request.scope), client.allowedScopes)
    const now = clock.now()
    const grant = await newGrant(undefined, client, scopes, now, secrets, policy)
    const pair = { accessToken: await secrets.random(), refreshToken: undefined }
    const token = await tokenOf(pair, grant, scopes, now, secrets, policy)
    if (!(await tokens.insert(token, undefined))) throw clientGone()
    events.emit({ event: 'token.issued', ...aboutGrant(grant, request), reason: 'client_credentials' })
    return answerOf(pair, token)
  }
})
