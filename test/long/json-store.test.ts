import { mkdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { clientWith } from '../contract/records.js'
import { openJsonStores } from '../examples/json-store.js'
import { storeContract } from '../testing.js'

t.test('a store that is written after the documentation keeps every promise: tables in a JSON file', async t => {
  const folder = t.testdir()
  let file = 0
  storeContract(
    (title, body) => t.test(title, body),
    () => openJsonStores(join(folder, `${++file}.json`))
  )
})

t.test('the JSON file has what was stored, and a write that fails changes nothing', async t => {
  const path = join(t.testdir(), 'heroes.json')
  const { heroes, clients } = await openJsonStores(path)
  const hero = await heroes.insert({ name: 'Starling' })
  const client = clientWith({ previousSecret: { digest: 'x', until: new Date(5) }, name: undefined })
  await clients.insert(client)
  const again = await openJsonStores(path)
  t.strictSame(await again.heroes.find(1), hero)
  t.strictSame(await again.clients.find(client.id), client)
  t.equal(await again.heroes.insert({ name: 'Starling' }), undefined)
  mkdirSync(`${path}.new`)
  await t.rejects(again.heroes.insert({ name: 'Robin' }), { code: 'unavailable' })
  t.strictSame(await again.heroes.list({}), [hero])
  rmdirSync(`${path}.new`)
  t.match(await again.heroes.insert({ name: 'Robin' }), { id: 2 })
})
