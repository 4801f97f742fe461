import { OidcClient, WebStorageStateStore } from 'oidc-client-ts'
import t, { type Test } from 'tap'
import { signIn } from '../support/client-libraries.js'
import { startService } from '../support/listening-service.js'
import { bearer } from '../support/service.js'
import { addClient } from '../support/world.js'

const CALLBACK = 'http://127.0.0.1:4000/callback'

/** What a page keeps in `sessionStorage`. */
const createStorage = (): Storage => {
  const items = new Map<string, string>()
  return {
    get length() {
      return items.size
    },
    clear: () => items.clear(),
    getItem: name => items.get(name) ?? null,
    key: index => [...items.keys()][index] ?? null,
    removeItem: name => void items.delete(name),
    setItem: (name, value) => void items.set(name, value)
  }
}

const open = async (t: Test) => {
  const service = await startService(t)
  await addClient(service, 'page', { secret: undefined, redirectUris: [CALLBACK], allowedScopes: ['heroes'] })
  const client = new OidcClient({
    authority: service.url,
    metadataUrl: `${service.url}/.well-known/oauth-authorization-server`,
    client_id: 'page',
    redirect_uri: CALLBACK,
    scope: 'heroes',
    loadUserInfo: false,
    stateStore: new WebStorageStateStore({ store: createStorage() })
  })
  return { ...service, client }
}

t.test('oidc-client-ts finds the addresses by the metadata, and gets a token for a page', async t => {
  const { client, url } = await open(t)
  const request = await client.createSigninRequest({})
  const { access_token, expires_in, refresh_token } = await client.processSigninResponse(
    String(await signIn(request.url))
  )
  t.equal(expires_in, 3600)
  t.equal(refresh_token, undefined, 'a client without a secret gets none')
  t.equal((await fetch(`${url}/heroes`, { headers: { ...bearer(access_token) } })).status, 200)
})

t.test('oidc-client-ts reads a refusal as an error of the service', async t => {
  const { client } = await open(t)
  const request = await client.createSigninRequest({ scope: 'admin' })
  const answer = signIn(request.url).then(back => client.processSigninResponse(String(back)))
  t.match(await answer.catch((error: unknown) => error), { error: 'invalid_scope' })
})
