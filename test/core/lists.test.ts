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
