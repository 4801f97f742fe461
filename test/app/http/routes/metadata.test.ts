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

const WELL_KNOWN = '/.well-known/oauth-authorization-server'

t.test(
  'wire 7.3: where PUBLIC_URL has a path, the metadata are at the address that RFC 8414 makes of it too',
  async t => {
    for (const path of ['/a', '/a/b', '/h%C3%A9ros', '/a:b*', '/a%2fb']) {
      const issuer = `https://heroes.example${path}`
      const { ask } = createService({ publicUrl: () => issuer })
      for (const target of [
        WELL_KNOWN,
        `${WELL_KNOWN}${path}`,
        `${WELL_KNOWN}${path}?x=1`,
        `http://x${WELL_KNOWN}${path}`
      ]) {
        const answer = await ask(target)
        t.has([answer.statusCode, answer.json()], [200, { issuer, token_endpoint: `${issuer}/auth/token` }], target)
      }
      for (const other of ['/b', `${path}/x`, `${path}x`, `${path}/`, '/', `${path.toUpperCase()}%20`]) {
        for (const method of ['GET', 'POST'] as const) {
          const answer = await ask(`${WELL_KNOWN}${other}`, { method })
          t.match([answer.statusCode, answer.json()], [404, { error: 'there is nothing at this path' }], other)
        }
      }
      const { statusCode, headers } = await ask(`${WELL_KNOWN}${path}?x=1`, { method: 'POST' })
      t.strictSame([statusCode, headers.allow], [405, 'GET, HEAD'])
    }
  }
)

t.test('wire 7.3: without a path in PUBLIC_URL nothing lies behind the well-known address', async t => {
  const { ask } = createService()
  for (const path of ['/', '/heroes', '/.']) t.equal((await ask(`${WELL_KNOWN}${path}`)).statusCode, 404, path)
})

const RESOURCE = '/.well-known/oauth-protected-resource'

t.test('wire 7.9: the metadata of RFC 9728 name the resource, its authorization server and its scopes', async t => {
  const resource = { resource: PUBLIC_URL, authorization_servers: [PUBLIC_URL], bearer_methods_supported: ['header'] }
  t.strictSame((await createService().ask(RESOURCE)).json(), resource)
  const { ask } = createService({ readScope: 'read', writeScope: 'write' })
  t.strictSame((await ask(RESOURCE)).json(), { ...resource, scopes_supported: ['read', 'write'] })
  const same = createService({ readScope: 'heroes', writeScope: 'heroes' })
  t.strictSame((await same.ask(RESOURCE)).json().scopes_supported, ['heroes'])
})

t.test('wire 7.9: where PUBLIC_URL has a path, a 401 names the metadata behind which it stands', async t => {
  const { ask } = createService({ publicUrl: () => 'https://heroes.example/a' })
  const challenge = `Bearer realm="heroes", resource_metadata="https://heroes.example${RESOURCE}/a"`
  t.equal((await ask('/heroes')).headers['www-authenticate'], challenge)
  const wrong = await ask('/heroes', { headers: { authorization: 'Bearer x' } })
  t.equal(wrong.headers['www-authenticate'], `${challenge}, error="invalid_token"`)
  t.match((await ask(`${RESOURCE}/a`)).json(), { resource: 'https://heroes.example/a' })
  t.equal((await ask(`${RESOURCE}/b`)).statusCode, 404)
})
