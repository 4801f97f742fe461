import { ResourceOwnerPassword } from 'simple-oauth2'
import t, { type Test } from 'tap'
import { AWKWARD, addAwkwardClient, WRONG_SECRET } from '../support/client-libraries.js'
import { type Listening, startService } from '../support/listening-service.js'
import { bearer } from '../support/service.js'
import { ADA } from '../support/world.js'

type Options = ConstructorParameters<typeof ResourceOwnerPassword>[0]['options']

const open = async (
  t: Test,
  options: Options = {}
): Promise<
  Listening & { readonly owner: ResourceOwnerPassword; withSecret(secret: string): ResourceOwnerPassword }
> => {
  const service = await startService(t)
  await addAwkwardClient(service)
  const auth = { tokenHost: service.url, tokenPath: '/auth/token', revokePath: '/auth/revoke' }
  const withSecret = (secret: string) =>
    new ResourceOwnerPassword({ client: { id: AWKWARD.id, secret }, auth, options })
  return { ...service, owner: withSecret(AWKWARD.secret), withSecret }
}

for (const [form, options] of [
  ['form-encoded in the header, its default', {}],
  ['raw in the header', { credentialsEncodingMode: 'loose' }],
  ['in the body', { authorizationMethod: 'body' }]
] as const) {
  t.test(`simple-oauth2 gets and refreshes a token by password with the secret ${form}`, async t => {
    const { owner, url } = await open(t, options)
    const first = await owner.getToken({ ...ADA, scope: ['heroes', 'profile:read'] })
    t.has(first.token, { token_type: 'bearer', expires_in: 3600, scope: 'heroes profile:read' })
    t.notOk(first.expired())
    const second = await first.refresh({ scope: 'heroes' })
    t.equal(second.token.scope, 'heroes')
    t.not(second.token.refresh_token, first.token.refresh_token)
    for (const [{ token }, status] of [
      [first, 401],
      [second, 200]
    ] as const) {
      const answer = await fetch(`${url}/heroes`, { headers: { ...bearer(String(token.access_token)) } })
      t.equal(answer.status, status)
    }
  })
}

t.test(
  'simple-oauth2 reads a wrong password, a wrong secret and a spent refresh token as errors of the service',
  async t => {
    const { owner, withSecret, clock } = await open(t)
    await t.rejects(owner.getToken({ ...ADA, password: 'wrong' }), {
      message: 'Response Error: 400 Bad Request',
      data: { payload: { error: 'invalid_grant' } }
    })
    await t.rejects(withSecret(WRONG_SECRET).getToken(ADA), {
      message: 'Response Error: 401 Unauthorized',
      data: { payload: { error: 'invalid_client' } }
    })
    const token = await owner.getToken(ADA)
    await token.refresh()
    clock.advance(31)
    await t.rejects(token.refresh(), {
      message: 'Response Error: 400 Bad Request',
      data: { payload: { error: 'invalid_grant' } }
    })
  }
)

t.test('simple-oauth2 revokes both tokens of a login', async t => {
  const { owner } = await open(t)
  const token = await owner.getToken(ADA)
  await token.revokeAll()
  await t.rejects(token.refresh(), {
    message: 'Response Error: 400 Bad Request',
    data: { payload: { error: 'invalid_grant' } }
  })
})
