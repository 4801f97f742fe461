import { auth, type OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import t from 'tap'
import { signIn } from '../support/client-libraries.js'
import { startService } from '../support/listening-service.js'
import { bearer } from '../support/service.js'
import { addClient } from '../support/world.js'

const CALLBACK = 'http://127.0.0.1:4000/callback'

t.test(
  'the client of the MCP SDK finds the authorization server by the 401 and gets a token without a state',
  async t => {
    const { url, useCases } = await startService(t)
    const scopes = { allowedScopes: ['heroes'], redirectUris: [CALLBACK] }
    await addClient({ useCases }, 'agent', { secret: undefined, requirePkce: true, requireState: false, ...scopes })

    let tokens: OAuthTokens | undefined
    let verifier = ''
    let address: URL | undefined
    // app/http/CLIENTS.md has these lines.
    const provider: OAuthClientProvider = {
      redirectUrl: CALLBACK,
      clientMetadata: { redirect_uris: [CALLBACK], scope: 'heroes' },
      clientInformation: () => ({ client_id: 'agent' }),
      tokens: () => tokens,
      saveTokens: saved => {
        tokens = saved
      },
      redirectToAuthorization: to => {
        address = to
      },
      saveCodeVerifier: saved => {
        verifier = saved
      },
      codeVerifier: () => verifier
    }

    const { headers } = await fetch(`${url}/heroes`)
    const [, metadata = ''] = /resource_metadata="([^"]*)"/.exec(headers.get('www-authenticate') ?? '') ?? []
    const server = { serverUrl: url, resourceMetadataUrl: new URL(metadata) }
    t.equal(await auth(provider, server), 'REDIRECT')
    t.equal(address?.searchParams.get('resource'), url)
    const back = await signIn(address ?? '')
    t.equal(await auth(provider, { ...server, authorizationCode: back.searchParams.get('code') ?? '' }), 'AUTHORIZED')
    t.equal((await fetch(`${url}/heroes`, { headers: { ...bearer(tokens?.access_token ?? '') } })).status, 200)
  }
)
