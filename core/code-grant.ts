import { aboutGrant } from './events.js'
import { answerOf, newPair, tokenOf } from './issuing.js'
import type { Client } from './model.js'
import type { Policy } from './policy.js'
import type { AllPorts, StoredCode } from './ports.js'
import { codeRefusals as refusals } from './refusals.js'
import { anyCovers } from './scope.js'
import { couldBeIssued } from './text.js'
import { type GrantHandler, requireParameter, type TokenRequest } from './token-request.js'

/** RFC 6749 section 4.1.3 with RFC 7636 section 4.6. Throws `invalid_request`, `invalid_grant` and `invalid_scope`. */
export const createCodeGrant = (
  { codes, grants, secrets, clock, events }: AllPorts,
  policy: Policy
): GrantHandler<StoredCode | undefined> => {
  /** What in the request differs from the authorization request, if anything does. */
  const mismatchOf = async (code: StoredCode, client: Client, { redirectUri, codeVerifier }: TokenRequest) => {
    const expected = code.redirectUri === undefined ? [undefined, ...client.redirectUris] : [code.redirectUri]
    if (!expected.includes(redirectUri)) return 'redirectUri'
    if (code.challenge === undefined) return codeVerifier === undefined ? undefined : 'verifierUnasked'
    if (codeVerifier === undefined) return 'verifierMissing'
    if (!VERIFIER.test(codeVerifier)) return 'verifier'
    return (await secrets.equal(await secrets.digest(codeVerifier), code.challenge)) ? undefined : 'verifier'
  }

  const find = async ({ code = '' }: TokenRequest): Promise<StoredCode | undefined> =>
    couldBeIssued(code) ? codes.find(await secrets.digest(code)) : undefined

  // RFC 9700 section 4.5: a second use means that two parties hold the code, so the tokens of the first use are
  // revoked. Of several second uses at once, only the one that ended the grant emits it.
  const refuseSecondUse = async ({ grant }: StoredCode, request: TokenRequest): Promise<never> => {
    if (await grants.revoke(grant.id, clock.now())) {
      events.emit({ event: 'grant.stolen', ...aboutGrant(grant, request), reason: 'code' })
    }
    throw refusals.used(grant)
  }

  // Only a new look-up can tell whether another call has spent the code since, or its grant was revoked.
  const refuseLost = async (code: StoredCode, request: TokenRequest): Promise<never> => {
    const lost = await find(request)
    if (lost?.spent && !lost.ended) return refuseSecondUse(code, request)
    throw refusals.ended(code.grant)
  }

  return {
    find,

    async issue(client, request, code) {
      requireParameter('code', request.code)
      const now = clock.now()
      if (code === undefined) throw refusals.unknown()
      const { grant } = code
      if (grant.clientId !== client.id) throw refusals.otherClient()
      if (code.ended) throw refusals.ended(grant)
      if (code.spent) return refuseSecondUse(code, request)
      if (code.expiresAt <= now || grant.expiresAt <= now) throw refusals.expired(grant)
      const scopes = grant.scopes.filter(scope => anyCovers(client.allowedScopes, scope))
      const scopeFault = scopes.length === 0 && grant.scopes.length > 0 ? 'scope' : undefined
      const fault = (await mismatchOf(code, client, request)) ?? scopeFault
      if (fault !== undefined) {
        if (!(await codes.burn(code.digest))) return refuseLost(code, request)
        throw refusals[fault](grant)
      }
      const pair = await newPair(client, secrets)
      const token = await tokenOf(pair, grant, scopes, now, secrets, policy)
      if (!(await codes.redeem(code.digest, token))) return refuseLost(code, request)
      events.emit({ event: 'token.issued', ...aboutGrant(grant, request), reason: 'authorization_code' })
      return answerOf(pair, token)
    }
  }
}

/** In the length of RFC 7636 section 4.1, and of any printable character: clients exist that use base64's alphabet. */
const VERIFIER = /^[\x21-\x7e]{43,128}$/
