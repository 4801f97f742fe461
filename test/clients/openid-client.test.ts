import * as oidc from 'openid-client'
import t, { type Test } from 'tap'
import { AWKWARD, addAwkwardClient, signIn, WRONG_SECRET } from '../support/client-libraries.js'
import { startService } from '../support/listening-service.js'
import { addClient, CALLBACK, SECRET } from '../support/world.js'

const discover = async (t: Test, secret = AWKWARD.secret): Promise<oidc.Configuration> => {
  const service = await startService(t)
  await addAwkwardClient(service, CALLBACK)
  return oidc.discovery(new URL(service.url), AWKWARD.id, secret, undefined, {
    algorithm: 'oauth2',
    execute: [oidc.allowInsecureRequests]
  })
}

// The library sends the address of the callback without its query as the redirect URI, so this redirect URI has no query.
const authorize = async (config: oidc.Configuration) => {
  const pkceCodeVerifier = oidc.randomPKCECodeVerifier()
  const expectedState = oidc.randomState()
  const url = oidc.buildAuthorizationUrl(config, {
    redirect_uri: CALLBACK,
    scope: 'heroes',
    code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: expectedState
  })
  return { location: await signIn(url), checks: { pkceCodeVerifier, expectedState } }
}

t.test(
  'openid-client gets, refreshes, introspects and revokes a token with the secret in the body, its default',
  async t => {
    const config = await discover(t)
    const { location, checks } = await authorize(config)
    const tokens = await oidc.authorizationCodeGrant(config, location, checks)
    t.has(tokens, { token_type: 'bearer', scope: 'heroes' })
    t.ok(Number(tokens.expiresIn()) > 3500)

    const refreshed = await oidc.refreshTokenGrant(config, tokens.refresh_token ?? '')
    const heroes = new URL('/heroes', config.serverMetadata().issuer)
    const answer = await oidc.fetchProtectedResource(config, refreshed.access_token, heroes, 'GET')
    t.strictSame(await answer.json(), [])

    t.has(await oidc.tokenIntrospection(config, refreshed.access_token), { active: true, username: 'ada' })
    await oidc.tokenRevocation(config, refreshed.refresh_token ?? '')
    t.strictSame(await oidc.tokenIntrospection(config, refreshed.access_token), { active: false })
  }
)

t.test('openid-client reads a replayed code as an error of the service', async t => {
  const config = await discover(t)
  const { location, checks } = await authorize(config)
  await oidc.authorizationCodeGrant(config, location, checks)
  await t.rejects(oidc.authorizationCodeGrant(config, location, checks), {
    name: 'ResponseBodyError',
    error: 'invalid_grant'
  })
})

t.test('openid-client reads a wrong secret as an error of the service', async t => {
  const config = await discover(t, WRONG_SECRET)
  const { location, checks } = await authorize(config)
  await t.rejects(oidc.authorizationCodeGrant(config, location, checks), {
    name: 'WWWAuthenticateChallengeError',
    status: 401
  })
})

t.test('openid-client gets a token of a client for itself, and is told when the client may not', async t => {
  const service = await startService(t)
  const issuer = new URL(service.url)
  await addClient(service, 'robot', { grantTypes: ['client_credentials'] })
  await addClient(service, 'app')
  const discover = (id: string): Promise<oidc.Configuration> =>
    oidc.discovery(issuer, id, SECRET, undefined, { algorithm: 'oauth2', execute: [oidc.allowInsecureRequests] })
  const config = await discover('robot')
  const tokens = await oidc.clientCredentialsGrant(config, { scope: 'b a' })
  t.has(tokens, { token_type: 'bearer', scope: 'b a' })
  t.notOk('refresh_token' in tokens)
  const heroes = await oidc.fetchProtectedResource(config, tokens.access_token, new URL('/heroes', issuer), 'GET')
  t.strictSame(await heroes.json(), [])
  t.has(await oidc.tokenIntrospection(config, tokens.access_token), { active: true, sub: 'robot' })
  await oidc.tokenRevocation(config, tokens.access_token)
  t.strictSame(await oidc.tokenIntrospection(config, tokens.access_token), { active: false })
  await t.rejects(oidc.clientCredentialsGrant(await discover('app')), {
    name: 'ResponseBodyError',
    error: 'unauthorized_client'
  })
})
