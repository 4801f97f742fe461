import t from 'tap'
import { createHeroStore } from '../../../adapters/memory/heroes.js'

t.test('a search among thousands of names lets others have their turn', async t => {
  const heroes = createHeroStore()
  await heroes.insertAll(Array.from({ length: 5000 }, (_, id) => ({ name: `hero ${id}` })))
  let hadTurn = false
  setImmediate(() => {
    hadTurn = true
  })
  t.strictSame(await heroes.list({ nameContains: 'HERO 4999' }), [{ id: 5000, name: 'hero 4999' }])
  t.ok(hadTurn)
})
