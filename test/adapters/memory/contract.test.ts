import t from 'tap'
import { createMemoryStores } from '../../../adapters/memory/stores.js'
import { storeContract } from '../../contract/stores.js'

t.test('the stores in memory', t => storeContract(t, async () => createMemoryStores()))
