import t from 'tap'
import type { SecurityEvent } from '../../core/index.js'
import { onEveryStore } from '../support/stores.js'
import { addTenant, blankRequest, createWorld } from '../support/world.js'

t.test('when a client revokes one refresh token twenty times at once, the end of the grant is told once', async t => {
  await onEveryStore(t, async (t, stores) => {
    const told: SecurityEvent[] = []
    const world = createWorld({ stores, events: { emit: event => void told.push(event) } })
    const { useCases } = world
    const { id, user } = await addTenant(world)
    const client = await useCases.findClient(id)
    const { refreshToken } = await useCases.issueToken(client, { ...blankRequest, grantType: 'password', ...user })
    told.length = 0
    await Promise.all(Array.from({ length: 20 }, () => useCases.revokeToken(client, refreshToken)))
    t.strictSame(
      told.map(({ event }) => event),
      ['grant.revoked']
    )
  })
})

t.test(
  'introspection tells the scopes of a narrowed access token, and of its refresh token those of the grant',
  async t => {
    await onEveryStore(t, async (t, stores) => {
      const world = createWorld({ stores })
      const { useCases } = world
      const { id, user } = await addTenant(world)
      const client = await useCases.findClient(id)
      const login = await useCases.issueToken(client, { ...blankRequest, grantType: 'password', ...user, scope: 'a b' })
      const narrow = { ...blankRequest, grantType: 'refresh_token', refreshToken: login.refreshToken, scope: 'b' }
      const narrowed = await useCases.issueToken(client, narrow)
      t.strictSame((await useCases.introspectToken(client, narrowed.accessToken))?.scopes, ['b'])
      t.strictSame((await useCases.introspectToken(client, narrowed.refreshToken))?.scopes, ['a', 'b'])
    })
  }
)
