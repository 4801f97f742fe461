import t from 'tap'
import type { SecurityEvent } from '../../core/index.js'
import { addClient, createWorld, SECRET } from '../support/world.js'

t.test('the event of a wrong secret names the client, whatever the other readings of the header name', async t => {
  const told: SecurityEvent[] = []
  const world = createWorld({ events: { emit: event => void told.push(event) } })
  await addClient(world, 'app')
  told.splice(0)
  const wrong = { id: 'app', secret: `${SECRET}!` }
  const nobody = { id: 'nobody', secret: SECRET }
  for (const candidates of [[wrong], [wrong, nobody], [nobody, wrong]]) {
    await t.rejects(world.useCases.authenticateClient(candidates), { code: 'invalid_client' })
    t.strictSame(told.splice(0), [{ event: 'client.authentication_failed', client: 'app', reason: 'wrong_secret' }])
  }
  await t.rejects(world.useCases.authenticateClient([nobody]), { code: 'invalid_client' })
  t.strictSame(told, [{ event: 'client.authentication_failed', reason: 'unknown_client' }])
})
