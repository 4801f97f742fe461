import t from 'tap'
import { createService, PUBLIC_URL } from '../../../support/service.js'

t.test('the metadata of RFC 8414 name the endpoints under PUBLIC_URL, whatever Host says', async t => {
  const { ask } = createService()
  const answer = await ask('/.well-known/oauth-authorization-server', { headers: { host: 'evil.example' } })
  t.equal(answer.statusCode, 200)
  const confidential = ['client_secret_basic', 'client_secret_post']
  t.strictSame(answer.json(), {
    issuer: PUBLIC_URL,
    authorization_endpoint: `${PUBLIC_URL}/auth/code`,
    token_endpoint: `${PUBLIC_URL}/auth/token`,
    revocation_endpoint: `${PUBLIC_URL}/auth/revoke`,
    introspection_endpoint: `${PUBLIC_URL}/auth/introspect`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'client_credentials', 'password', 'refresh_token'],
    token_endpoint_auth_methods_supported: [...confidential, 'none'],
    revocation_endpoint_auth_methods_supported: [...confidential, 'none'],
    introspection_endpoint_auth_methods_supported: confidential,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true
  })
})
