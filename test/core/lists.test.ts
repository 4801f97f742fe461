import t from 'tap'
import { createWorld } from '../support/world.js'

t.test('all heroes are read in short pieces, none twice and none left out, however many they are', async t => {
  const { useCases } = createWorld()
  const names: string[] = []
  for (const count of [0, 1, 249, 250, 251, 500, 1001]) {
    while (names.length < count) {
      names.push(`hero ${names.length}`)
      await useCases.createHero({ name: `hero ${names.length - 1}` })
    }
    const found: string[] = []
    for await (const piece of useCases.allHeroes({})) {
      t.ok(piece.length <= 250, 'no piece holds the event loop for long')
      found.push(...piece.map(({ name }) => name))
    }
    t.strictSame(found, names)
  }
})

t.test('users come in pages', async t => {
  const { useCases } = createWorld()
  t.strictSame(await useCases.userPage({ limit: 1 }), { users: [], nextAfter: undefined })
  const registered = []
  for (const username of ['carol', 'bob', 'alice']) {
    registered.push(await useCases.registerUser({ username, password: 'x' }))
  }
  const [carol, bob, alice] = registered
  t.strictSame(Object.keys(Object(carol)), ['id', 'username'])
  t.strictSame(await useCases.userPage({ limit: 2 }), { users: [carol, bob], nextAfter: bob?.id })
  t.strictSame(await useCases.userPage({ after: bob?.id, limit: 2 }), { users: [alice], nextAfter: undefined })
  t.strictSame(await useCases.userPage({ limit: 3 }), { users: registered, nextAfter: undefined })
})
