import * as oauth from 'oauth4webapi'
import t, { type Test } from 'tap'
import { AWKWARD, AWKWARD_CALLBACK, addAwkwardClient, signIn, WRONG_SECRET } from '../support/client-libraries.js'
import { type Listening, startService } from '../support/listening-service.js'
import { addClient, SECRET } from '../support/world.js'

const client: oauth.Client = { client_id: AWKWARD.id }
const plain = { [oauth.allowInsecureRequests]: true }

/** Starts the service, and lets the library discover its metadata. */
const discover = async (t: Test): Promise<Listening & { readonly server: oauth.AuthorizationServer }> => {
  const service = await startService(t)
  await addAwkwardClient(service)
  const issuer = new URL(service.url)
  const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...plain })
  return { ...service, server: await oauth.processDiscoveryResponse(issuer, response) }
}

/** Signs in: the parameters of the redirect, whose state and issuer the library has checked. */
const authorize = async (server: oauth.AuthorizationServer, verifier: string): Promise<URLSearchParams> => {
  const state = oauth.generateRandomState()
  const url = new URL(server.authorization_endpoint ?? '')
  url.search = new URLSearchParams({
    client_id: AWKWARD.id,
    redirect_uri: AWKWARD_CALLBACK,
    response_type: 'code',
    scope: 'heroes profile:read',
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state
  }).toString()
  return oauth.validateAuthResponse(server, client, await signIn(url), state)
}

for (const [method, authentication] of [
  ['client_secret_basic', oauth.ClientSecretBasic(AWKWARD.secret)],
  ['client_secret_post', oauth.ClientSecretPost(AWKWARD.secret)]
] as const) {
  t.test(
    `oauth4webapi discovers the service, and gets, refreshes, introspects and revokes a token with ${method}`,
    async t => {
      const { server, url } = await discover(t)
      t.ok(server.token_endpoint_auth_methods_supported?.includes(method))
      const verifier = oauth.generateRandomCodeVerifier()
      const answer = await authorize(server, verifier)
      const exchange = () =>
        oauth.authorizationCodeGrantRequest(server, client, authentication, answer, AWKWARD_CALLBACK, verifier, plain)
      const tokens = await oauth.processAuthorizationCodeResponse(server, client, await exchange())
      t.has(tokens, { token_type: 'bearer', expires_in: 3600, scope: 'heroes profile:read' })

      const refresh = await oauth.refreshTokenGrantRequest(
        server,
        client,
        authentication,
        tokens.refresh_token ?? '',
        plain
      )
      const { access_token: token } = await oauth.processRefreshTokenResponse(server, client, refresh)
      t.not(token, tokens.access_token)
      const heroes = await oauth.protectedResourceRequest(
        token,
        'GET',
        new URL(`${url}/heroes`),
        undefined,
        null,
        plain
      )
      t.strictSame(await heroes.json(), [])

      const introspect = async () => {
        const response = await oauth.introspectionRequest(server, client, authentication, token, plain)
        return oauth.processIntrospectionResponse(server, client, response)
      }
      t.has(await introspect(), {
        active: true,
        client_id: AWKWARD.id,
        username: 'ada',
        scope: 'heroes profile:read',
        iss: url
      })
      await oauth.processRevocationResponse(await oauth.revocationRequest(server, client, authentication, token, plain))
      t.strictSame(await introspect(), { active: false })
    }
  )
}

t.test('oauth4webapi reads a replayed code, a wrong secret and a dead token as errors of the service', async t => {
  const { server, url } = await discover(t)
  const verifier = oauth.generateRandomCodeVerifier()
  const answer = await authorize(server, verifier)
  const exchange = async (secret: string) => {
    const authentication = oauth.ClientSecretBasic(secret)
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      authentication,
      answer,
      AWKWARD_CALLBACK,
      verifier,
      plain
    )
    return oauth.processAuthorizationCodeResponse(server, client, response)
  }
  await t.rejects(exchange(WRONG_SECRET), {
    name: 'WWWAuthenticateChallengeError',
    status: 401,
    cause: [{ scheme: 'basic', parameters: { realm: 'heroes' } }]
  })
  const { access_token } = await exchange(AWKWARD.secret)
  await t.rejects(exchange(AWKWARD.secret), { name: 'ResponseBodyError', status: 400, error: 'invalid_grant' })
  const heroes = new URL(`${url}/heroes`)
  await t.rejects(oauth.protectedResourceRequest(access_token, 'GET', heroes, undefined, null, plain), {
    name: 'WWWAuthenticateChallengeError',
    status: 401,
    cause: [{ scheme: 'bearer', parameters: { error: 'invalid_token' } }]
  })
})

t.test('oauth4webapi reads a redirect with an error as an answer of this service and no other', async t => {
  const { server } = await discover(t)
  const url = new URL(server.authorization_endpoint ?? '')
  url.search = new URLSearchParams({
    client_id: AWKWARD.id,
    response_type: 'code',
    scope: 'none',
    state: 'x'
  }).toString()
  const location = await signIn(url)
  t.throws(() => oauth.validateAuthResponse(server, client, location, 'x'), {
    name: 'AuthorizationResponseError',
    error: 'invalid_scope'
  })
  location.searchParams.set('iss', 'https://mallory.example')
  t.throws(() => oauth.validateAuthResponse(server, client, location, 'x'), { name: 'OperationProcessingError' })
})

t.test('oauth4webapi gets a token of a client for itself, and introspects and revokes it', async t => {
  const { server, url, useCases } = await discover(t)
  await addClient({ useCases }, 'robot', { grantTypes: ['client_credentials'] })
  t.ok(server.grant_types_supported?.includes('client_credentials'))
  const robot: oauth.Client = { client_id: 'robot' }
  const authentication = oauth.ClientSecretBasic(SECRET)
  const ask = async (scope: string) => {
    const response = await oauth.clientCredentialsGrantRequest(server, robot, authentication, { scope }, plain)
    return oauth.processClientCredentialsResponse(server, robot, response)
  }
  const tokens = await ask('a')
  t.has(tokens, { token_type: 'bearer', expires_in: 3600, scope: 'a' })
  t.equal(tokens.refresh_token, undefined)
  const token = tokens.access_token
  const heroes = new URL(`${url}/heroes`)
  const opened = await oauth.protectedResourceRequest(token, 'GET', heroes, undefined, null, plain)
  t.strictSame(await opened.json(), [])
  const introspect = async () => {
    const response = await oauth.introspectionRequest(server, robot, authentication, token, plain)
    return oauth.processIntrospectionResponse(server, robot, response)
  }
  const told = await introspect()
  t.has(told, { active: true, client_id: 'robot', sub: 'robot', scope: 'a', iss: url })
  t.equal(told.username, undefined)
  await oauth.processRevocationResponse(await oauth.revocationRequest(server, robot, authentication, token, plain))
  t.strictSame(await introspect(), { active: false })
  await t.rejects(ask('none'), { name: 'ResponseBodyError', status: 400, error: 'invalid_scope' })
  await useCases.changeClient('robot', { grantTypes: ['password'] })
  await t.rejects(ask('a'), { name: 'ResponseBodyError', status: 400, error: 'unauthorized_client' })
})

t.test('oauth4webapi discovers a service whose public URL has a path', async t => {
  let url = ''
  const service = await startService(t, { publicUrl: () => `${url}/shop/heroes` })
  url = service.url
  const issuer = new URL(`${url}/shop/heroes`)
  const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...plain })
  const server = await oauth.processDiscoveryResponse(issuer, response)
  t.equal(server.token_endpoint, `${issuer}/auth/token`)
})
