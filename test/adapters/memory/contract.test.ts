import t from 'tap'
import { createMemoryStores } from '../../../adapters/memory/stores.js'
import { storeContract } from '../../contract/stores.js'

t.test('the stores in memory', async t => {
  storeContract(
    (title, body) => t.test(title, body),
    async () => createMemoryStores()
  )
})
