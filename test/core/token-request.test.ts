import t from 'tap'
import type { TokenRequest } from '../../core/index.js'
import { addClient, blankRequest, createWorld, SECRET } from '../support/world.js'

t.test('a request with a value that is no text rejects, and leaves no rejection that nobody hears', async t => {
  const unheard: unknown[] = []
  const hear = (reason: unknown): void => void unheard.push(reason)
  process.on('unhandledRejection', hear)
  t.teardown(() => process.off('unhandledRejection', hear))
  const world = createWorld()
  await addClient(world, 'app')
  const { authenticateClient, issueToken } = world.useCases
  const wrong = [{ id: 'app', secret: `${SECRET}?` }]
  for (const value of [5, ['a'], { a: 'b' }, null]) {
    for (const [grantType, name] of [
      ['password', 'username'],
      ['password', 'password'],
      ['authorization_code', 'code'],
      ['refresh_token', 'refreshToken']
    ] as const) {
      // What a framework makes of `username[]=a` and of `"username":5`.
      const request: TokenRequest = { ...blankRequest, username: 'ada', password: 'x', grantType, [name]: value }
      await t.rejects(issueToken(authenticateClient(wrong), request), `${name}: ${JSON.stringify(value)}`)
    }
  }
  // Node tells of a rejection after the promise callbacks of the turn.
  await new Promise(resolve => setImmediate(resolve))
  t.strictSame(unheard, [])
})
