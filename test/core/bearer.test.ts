import t from 'tap'
import { createMemoryStores } from '../../adapters/memory/stores.js'
import type { Digest } from '../../core/index.js'
import { ADA, addClient, blankRequest, createWorld } from '../support/world.js'

/** A world with a login, whose store finds expiries by themselves if `findsExpiry`. It notes what is asked. */
const createAsked = async (findsExpiry: boolean) => {
  const { tokens, ...stores } = createMemoryStores()
  const asked: string[] = []
  const noted = {
    ...tokens,
    findByAccess(digest: Digest) {
      asked.push('findByAccess')
      return tokens.findByAccess(digest)
    },
    ...(findsExpiry && {
      async findExpiry(digest: Digest) {
        asked.push('findExpiry')
        return (await tokens.findByAccess(digest))?.expiresAt
      }
    })
  }
  const world = createWorld({ stores: { ...stores, tokens: noted } })
  const client = await addClient(world, 'app', { allowedScopes: ['heroes:read'] })
  await world.useCases.registerUser(ADA)
  const logIn = () =>
    world.useCases.issueToken(client, { ...blankRequest, grantType: 'password', ...ADA, scope: 'heroes:read' })
  return { ...world, asked, accessToken: (await logIn()).accessToken }
}

t.test('a check throws what a verification throws, whether or not the store finds expiries by themselves', async t => {
  for (const findsExpiry of [true, false]) {
    const { useCases, clock, policy, accessToken } = await createAsked(findsExpiry)
    const outcomes = (token: string | undefined, scope: string | undefined) =>
      Promise.all(
        [useCases.verifyBearer, useCases.checkBearer].map(ask =>
          ask(token, scope).then(
            () => 'passes',
            ({ code }) => code
          )
        )
      )
    t.strictSame(await outcomes(accessToken, undefined), ['passes', 'passes'])
    t.strictSame(await outcomes(accessToken, 'heroes:read'), ['passes', 'passes'])
    t.strictSame(await outcomes(accessToken, 'other'), ['insufficient_scope', 'insufficient_scope'])
    for (const scope of [undefined, 'heroes:read']) {
      t.strictSame(await outcomes(undefined, scope), ['token_required', 'token_required'])
      t.strictSame(await outcomes('', scope), ['invalid_token', 'invalid_token'])
      t.strictSame(await outcomes('x'.repeat(32), scope), ['invalid_token', 'invalid_token'])
    }
    clock.advance(policy.accessTokenSeconds - 0.001)
    t.strictSame(await outcomes(accessToken, undefined), ['passes', 'passes'])
    clock.advance(0.001)
    t.strictSame(await outcomes(accessToken, undefined), ['invalid_token', 'invalid_token'], 'at the very instant')
  }
})

t.test('a check asks for the expiry alone where the store finds it and no scope is required', async t => {
  const expiry = await createAsked(true)
  await expiry.useCases.checkBearer(expiry.accessToken)
  await expiry.useCases.checkBearer(expiry.accessToken, 'heroes:read')
  t.strictSame(expiry.asked, ['findExpiry', 'findByAccess'])
  const token = await createAsked(false)
  await token.useCases.checkBearer(token.accessToken)
  t.strictSame(token.asked, ['findByAccess'])
})
