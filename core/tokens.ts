import { DomainError } from './errors.js'
import { answerOf, couldBeIssued, type IssuingPolicy, newPair, type TokenAnswer, tokenOf } from './issuing.js'
import type { Login, LoginAttempt } from './login.js'
import type { AccessToken, Client } from './model.js'
import type { Policy } from './policy.js'
import type { Ports, StoredCode } from './ports.js'
import { createRefreshGrant } from './refresh-grant.js'
import { anyCovers, grantScopes, parseScope } from './scope.js'

/** RFC 6749's access token request, whatever its grant type, as it arrived. */
export interface TokenRequest {
  readonly grantType: string | undefined
  readonly username: string | undefined
  readonly password: string | undefined
  readonly refreshToken: string | undefined
  readonly code: string | undefined
  readonly redirectUri: string | undefined
  readonly codeVerifier: string | undefined
  readonly scope: string | undefined
  /** Where the request comes from, as in {@link LoginAttempt}. */
  readonly address: string
}

export interface TokenUseCases {
  /**
   * Issues, refreshes or exchanges for an authenticated client, as `grantType` says. Throws `unsupported_grant_type`, `invalid_request`,
   * `invalid_grant`, `invalid_scope`, `unauthorized_client`, `too_many_attempts` and `overloaded`.
   */
  issueToken(client: Client, request: TokenRequest): Promise<TokenAnswer>
  /**
   * The access token behind a bearer credential. Throws `token_required` when there is none, `invalid_token`,
   * and `insufficient_scope` when none of its scopes covers the required one.
   */
  verifyBearer(accessToken: string | undefined, requiredScope: string | undefined): Promise<AccessToken>
}

export const createTokenUseCases = (
  { codes, tokens, secrets, clock }: Pick<Ports, 'codes' | 'tokens' | 'secrets' | 'clock'>,
  policy: IssuingPolicy & Pick<Policy, 'grantSeconds' | 'refreshGraceSeconds'>,
  login: Login
): TokenUseCases => {
  /** RFC 6749 section 4.3. */
  const passwordGrant = async (
    client: Client,
    attempt: LoginAttempt,
    scope: string | undefined
  ): Promise<TokenAnswer> => {
    const scopes = grantScopes(scope === undefined ? [] : parseScope(scope), client.allowedScopes)
    const user = await login(attempt)
    if (user !== undefined) {
      const now = clock.now()
      const grant = {
        id: await secrets.grantId(),
        userId: user.id,
        clientId: client.id,
        scopes,
        expiresAt: new Date(now.getTime() + policy.grantSeconds * 1000)
      }
      const pair = await newPair(client, secrets)
      const token = await tokenOf(pair, grant, scopes, now, secrets, policy)
      if (await tokens.insert(token, user.generation)) return answerOf(pair, token, now)
    }
    throw new DomainError('invalid_grant', 'the username or the password is wrong')
  }

  /** RFC 6749 section 4.1.3, RFC 7636 section 4.6. */
  const codeGrant = async (client: Client, codeSecret: string, request: TokenRequest): Promise<TokenAnswer> => {
    if (!couldBeIssued(codeSecret)) throw invalidCode()
    const digest = await secrets.digest(codeSecret)
    const now = clock.now()
    const code = await codes.find(digest)
    if (code === undefined || code.grant.clientId !== client.id) throw invalidCode()
    // RFC 9700 section 4.5: a second use means that two parties hold the code, so what the first one bought ends.
    const secondUse = async (): Promise<DomainError> => {
      await tokens.revokeGrant(code.grant.id, now)
      return invalidCode()
    }
    if (code.spent) throw await secondUse()
    if (code.expiresAt <= now) throw invalidCode()
    if (!(await matches(code, client, request))) throw (await codes.burn(digest)) ? invalidCode() : await secondUse()
    const pair = await newPair(client, secrets)
    const token = await tokenOf(pair, code.grant, code.grant.scopes, now, secrets, policy)
    if (!(await codes.redeem(digest, token))) throw await secondUse()
    return answerOf(pair, token, now)
  }

  const matches = async (code: StoredCode, client: Client, request: TokenRequest): Promise<boolean> => {
    const { redirectUri, codeVerifier } = request
    if (redirectUri !== code.redirectUri) {
      if (code.redirectUri !== undefined || redirectUri !== client.redirectUri) return false
    }
    if (code.challenge === undefined || codeVerifier === undefined) return code.challenge === codeVerifier
    return VERIFIER.test(codeVerifier) && secrets.equal(await secrets.digest(codeVerifier), code.challenge)
  }

  const refreshGrant = createRefreshGrant({ tokens, secrets, clock }, policy)

  return {
    async issueToken(client, request) {
      switch (request.grantType) {
        case 'password': {
          const username = required('username', request.username)
          const password = required('password', request.password)
          return passwordGrant(client, { username, password, address: request.address }, request.scope)
        }
        case 'refresh_token':
          return refreshGrant(client, request)
        case 'authorization_code':
          return codeGrant(client, required('code', request.code), request)
        default:
          required('grant_type', request.grantType)
          throw new DomainError(
            'unsupported_grant_type',
            'grant_type must be password, refresh_token or authorization_code'
          )
      }
    },

    async verifyBearer(accessToken, requiredScope) {
      if (accessToken === undefined) throw new DomainError('token_required', 'a bearer access token is required')
      const known = couldBeIssued(accessToken)
      const token = known ? await tokens.findByAccess(await secrets.digest(accessToken)) : undefined
      if (token === undefined || token.expiresAt <= clock.now()) {
        throw new DomainError('invalid_token', 'the access token is unknown, expired or revoked')
      }
      if (requiredScope !== undefined && !anyCovers(token.scopes, requiredScope)) {
        throw new DomainError('insufficient_scope', 'the access token lacks the scope for this', { requiredScope })
      }
      return token
    }
  }
}

/** RFC 7636 section 4.1. */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/

const required = (parameter: string, value: string | undefined): string => {
  if (value === undefined) throw new DomainError('invalid_request', `${parameter} is missing`)
  return value
}

const invalidCode = (): DomainError =>
  new DomainError(
    'invalid_grant',
    'the code is unknown, expired, used, or bound to another client, redirect URI or verifier'
  )
