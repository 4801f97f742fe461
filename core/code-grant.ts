import { aboutGrant } from './events.js'
import { answerOf, couldBeIssued, type IssuingPolicy, newPair, tokenOf } from './issuing.js'
import type { Client } from './model.js'
import type { AllPorts, StoredCode } from './ports.js'
import { invalidCode } from './refusals.js'
import { type GrantHandler, requireParameter, type TokenRequest } from './token-request.js'

/** RFC 6749 section 4.1.3 with RFC 7636 section 4.6. Throws `invalid_request` and `invalid_grant`. */
export const createCodeGrant = (
  { codes, grants, secrets, clock, events }: Pick<AllPorts, 'codes' | 'grants' | 'secrets' | 'clock' | 'events'>,
  policy: IssuingPolicy
): GrantHandler<StoredCode | undefined> => {
  const matches = async (code: StoredCode, client: Client, request: TokenRequest): Promise<boolean> => {
    const { redirectUri, codeVerifier } = request
    if (redirectUri !== code.redirectUri) {
      const isRegistered = client.redirectUris.some(registered => registered === redirectUri)
      if (code.redirectUri !== undefined || !isRegistered) return false
    }
    if (code.challenge === undefined || codeVerifier === undefined) return code.challenge === codeVerifier
    return VERIFIER.test(codeVerifier) && secrets.equal(await secrets.digest(codeVerifier), code.challenge)
  }

  const find = async ({ code = '' }: TokenRequest): Promise<StoredCode | undefined> =>
    couldBeIssued(code) ? codes.find(await secrets.digest(code)) : undefined

  // RFC 9700 section 4.5: a second use means that two parties hold the code, so the tokens of the first use are
  // revoked. Of several second uses at once, the one that ended the grant is told.
  const refuseSecondUse = async ({ grant }: StoredCode, request: TokenRequest): Promise<never> => {
    if (await grants.revoke(grant.id, clock.now())) {
      events.emit({ event: 'grant.stolen', ...aboutGrant(grant, request), reason: 'code' })
    }
    throw invalidCode()
  }

  // Only a new look-up can tell whether another call has spent the code since, or its grant was revoked.
  const refuseLost = async (code: StoredCode, request: TokenRequest): Promise<never> => {
    if ((await find(request))?.spent) return refuseSecondUse(code, request)
    throw invalidCode()
  }

  return {
    find,

    async issue(client, request, code) {
      requireParameter('code', request.code)
      const now = clock.now()
      if (code === undefined || code.grant.clientId !== client.id) throw invalidCode()
      if (code.spent) return refuseSecondUse(code, request)
      if (code.expiresAt <= now || code.grant.expiresAt <= now) throw invalidCode()
      if (!(await matches(code, client, request))) {
        if (await codes.burn(code.digest)) throw invalidCode()
        return refuseLost(code, request)
      }
      const pair = await newPair(client, secrets)
      const token = await tokenOf(pair, code.grant, code.grant.scopes, now, secrets, policy)
      if (!(await codes.redeem(code.digest, token))) return refuseLost(code, request)
      events.emit({ event: 'token.issued', ...aboutGrant(code.grant, request), reason: 'authorization_code' })
      return answerOf(pair, token, now)
    }
  }
}

/** RFC 7636 section 4.1. */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/
