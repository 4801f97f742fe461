import t from 'tap'
import { ADA, addClient, blankRequest, createWorld } from '../support/world.js'

t.test('a token opens what its scopes cover, until the very instant at which it expires', async t => {
  const world = createWorld()
  const { useCases, clock, policy } = world
  const client = await addClient(world, 'app', { allowedScopes: ['heroes:read'] })
  await useCases.registerUser(ADA)
  const request = { ...blankRequest, grantType: 'password', ...ADA, scope: 'heroes:read' }
  const { accessToken } = await useCases.issueToken(client, request)
  const outcome = (token: string | undefined, scope?: string): Promise<string> =>
    useCases.verifyBearer(token, scope).then(
      () => 'passes',
      ({ code }) => code
    )
  t.equal(await outcome(accessToken), 'passes')
  t.equal(await outcome(accessToken, 'heroes:read'), 'passes')
  t.equal(await outcome(accessToken, 'other'), 'insufficient_scope')
  for (const scope of [undefined, 'heroes:read']) {
    t.equal(await outcome(undefined, scope), 'token_required')
    t.equal(await outcome('', scope), 'invalid_token')
    t.equal(await outcome('x'.repeat(32), scope), 'invalid_token')
  }
  clock.advance(policy.accessTokenSeconds - 0.001)
  t.equal(await outcome(accessToken), 'passes')
  clock.advance(0.001)
  t.equal(await outcome(accessToken), 'invalid_token')
})
