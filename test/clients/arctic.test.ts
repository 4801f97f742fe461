import {
  ArcticFetchError,
  CodeChallengeMethod,
  generateCodeVerifier,
  generateState,
  OAuth2Client,
  OAuth2RequestError
} from 'arctic'
import t, { type Test } from 'tap'
import { AWKWARD, AWKWARD_CALLBACK, addAwkwardClient, signIn, WRONG_SECRET } from '../support/client-libraries.js'
import { startService } from '../support/listening-service.js'
import { bearer } from '../support/service.js'

const open = async (t: Test, secret = AWKWARD.secret) => {
  const service = await startService(t)
  await addAwkwardClient(service)
  const client = new OAuth2Client(AWKWARD.id, secret, AWKWARD_CALLBACK)
  const verifier = generateCodeVerifier()
  const code = async (): Promise<string> => {
    const state = generateState()
    const url = client.createAuthorizationURLWithPKCE(
      `${service.url}/auth/code`,
      state,
      CodeChallengeMethod.S256,
      verifier,
      ['heroes', 'profile:read']
    )
    const { searchParams } = await signIn(url)
    t.equal(searchParams.get('state'), state)
    return searchParams.get('code') ?? ''
  }
  const exchange = (code: string) => client.validateAuthorizationCode(`${service.url}/auth/token`, code, verifier)
  return { ...service, client, code, exchange }
}

t.test('arctic gets, refreshes and revokes a token with the id and secret of the client raw in the header', async t => {
  const { client, code, exchange, url } = await open(t)
  const tokens = await exchange(await code())
  t.equal(tokens.tokenType(), 'bearer')
  t.equal(tokens.accessTokenExpiresInSeconds(), 3600)
  t.strictSame(tokens.scopes(), ['heroes', 'profile:read'])

  const refreshed = await client.refreshAccessToken(`${url}/auth/token`, tokens.refreshToken(), ['heroes'])
  t.strictSame(refreshed.scopes(), ['heroes'])
  const heroes = () => fetch(`${url}/heroes`, { headers: { ...bearer(refreshed.accessToken()) } })
  t.equal((await heroes()).status, 200)
  await client.revokeToken(`${url}/auth/revoke`, refreshed.accessToken())
  t.equal((await heroes()).status, 401)
})

t.test('arctic reads a replayed code and a wrong secret as errors of the service', async t => {
  const { code, exchange } = await open(t)
  const spent = await code()
  await exchange(spent)
  t.type(await t.rejects(exchange(spent), { code: 'invalid_grant' }), OAuth2RequestError)
  const stranger = await open(t, WRONG_SECRET)
  const refusal = await t.rejects(stranger.exchange(await stranger.code()), { code: 'invalid_client' })
  t.type(refusal, OAuth2RequestError)
  t.notOk(refusal instanceof ArcticFetchError)
})
