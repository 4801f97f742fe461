import { generateCodeVerifier, OAuth2Client, OAuth2HttpError } from '@badgateway/oauth2-client'
import t, { type Test } from 'tap'
import { AWKWARD, AWKWARD_CALLBACK, addAwkwardClient, signIn, WRONG_SECRET } from '../support/client-libraries.js'
import { startService } from '../support/listening-service.js'
import { ADA } from '../support/world.js'

type Settings = ConstructorParameters<typeof OAuth2Client>[0]

const open = async (t: Test, settings: Partial<Settings> = {}): Promise<OAuth2Client> => {
  const service = await startService(t)
  await addAwkwardClient(service)
  return new OAuth2Client({
    server: service.url,
    clientId: AWKWARD.id,
    clientSecret: AWKWARD.secret,
    ...settings
  })
}

/** Gets a token by the code flow, and then refreshes, introspects and revokes it. */
const useToken = async (t: Test, client: OAuth2Client): Promise<void> => {
  const codeVerifier = await generateCodeVerifier()
  const page = { redirectUri: AWKWARD_CALLBACK, state: 'a state', codeVerifier }
  const location = await signIn(await client.authorizationCode.getAuthorizeUri({ ...page, scope: ['heroes'] }))
  const token = await client.authorizationCode.getTokenFromCodeRedirect(location, page)
  t.strictSame(token.scope, ['heroes'])
  const refreshed = await client.refreshToken(token)
  t.not(refreshed.refreshToken, token.refreshToken)
  t.has(await client.introspect(refreshed), { active: true, client_id: AWKWARD.id, username: 'ada' })
  await client.revoke(refreshed)
  t.strictSame(await client.introspect(refreshed), { active: false })
}

t.test(
  '@badgateway/oauth2-client finds every endpoint, and gets, refreshes, introspects and revokes a token',
  async t => {
    await useToken(t, await open(t))
  }
)

for (const authenticationMethod of [
  'client_secret_basic',
  'client_secret_basic_interop',
  'client_secret_post'
] as const) {
  t.test(
    `@badgateway/oauth2-client gets, refreshes, introspects and revokes a token with ${authenticationMethod}`,
    async t => {
      await useToken(t, await open(t, { authenticationMethod }))
    }
  )
}

t.test('@badgateway/oauth2-client gets a token by password', async t => {
  const client = await open(t)
  t.has(await client.password({ ...ADA, scope: ['profile:read'] }), { scope: ['profile:read'] })
})

t.test('@badgateway/oauth2-client reads a wrong secret and a wrong password as errors of the service', async t => {
  const stranger = await open(t, { clientSecret: WRONG_SECRET })
  const unknown = await t.rejects(stranger.password(ADA), {
    name: 'Error',
    oauth2Code: 'invalid_client',
    httpCode: 401
  })
  t.type(unknown, OAuth2HttpError)
  const client = await open(t)
  await t.rejects(client.password({ ...ADA, password: 'wrong' }), {
    name: 'Error',
    oauth2Code: 'invalid_grant',
    httpCode: 400
  })
})

t.test('@badgateway/oauth2-client reads a redirect with an error as an error of the service', async t => {
  const { authorizationCode } = await open(t)
  const page = { redirectUri: AWKWARD_CALLBACK, state: 'a state' }
  const location = await signIn(await authorizationCode.getAuthorizeUri({ ...page, scope: ['none'] }))
  await t.rejects(authorizationCode.getTokenFromCodeRedirect(location, page), {
    name: 'Error',
    oauth2Code: 'invalid_scope'
  })
})
