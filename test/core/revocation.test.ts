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
