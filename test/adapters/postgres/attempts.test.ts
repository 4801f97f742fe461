import postgres from 'postgres'
import t, { type Test } from 'tap'
import { createAttemptStore as createMemoryStore } from '../../../adapters/memory/attempts.js'
import { createAttemptStore } from '../../../adapters/postgres/attempts.js'
import type { Driver } from '../../../adapters/postgres/connection/driver.js'
import { StatementError } from '../../../adapters/postgres/connection/errors.js'
import { connectServer } from '../../../adapters/postgres/connection/server.js'
import { openServer } from '../../../adapters/postgres/database.js'
import { createLookups } from '../../../adapters/postgres/lookups.js'
import type { AttemptStore, FullWindow } from '../../../core/ports.js'
import { at, someDigest } from '../../contract/records.js'
import { migratedDatabase } from '../../support/databases.js'
import { createDatabase } from '../../support/postgres.js'

/** Returns numbers below `end` that are the same in each run. */
const createDice = (seed: number) => {
  let state = seed
  return (end: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return (state >> 8) % end
  }
}

const inOrder = (full: readonly FullWindow[] | undefined) => full?.toSorted((a, b) => (a.key < b.key ? -1 : 1))

const openAttempts = async (t: Test): Promise<AttemptStore> => {
  const url = await migratedDatabase(t)
  const database = await openServer(url)
  t.teardown(() => database.close())
  return database.stores.attempts
}

t.test('attempts are counted, given back and cleared as in memory', async t => {
  const attempts = await openAttempts(t)
  const memory = createMemoryStore()
  const roll = createDice(1)
  const limits = Array.from({ length: 6 }, (_, index) => ({ key: someDigest(), most: 1 + 3 * index }))
  const some = () => limits.filter(() => roll(3) === 0)
  let second = 0
  let [refused, counted] = [0, 0]
  for (let round = 0; round < 150; round += 1) {
    const takes = Array.from({ length: 1 + roll(12) }, () => {
      // Windows of four seconds: some end between two attempts of a round.
      second += roll(8) === 0 ? 1 + roll(3) : 0
      return [some(), at(second), 4] as const
    })
    const expected: unknown[] = []
    const results: unknown[] = []
    for (const take of takes) {
      expected.push(inOrder(await memory.take(...take)))
      results.push(inOrder(await attempts.take(...take)))
    }
    t.strictSame(results, expected, `round ${round}`)
    refused += results.filter(full => full !== undefined).length
    counted += results.filter(full => full === undefined).length
    const keys = some().map(({ key }) => key)
    const cleared = limits[roll(12)]?.key
    for (const store of [memory, attempts]) {
      await store.fail(keys)
      await store.giveBack(keys.slice(1), cleared)
    }
  }
  t.ok(refused > 100, `${refused} were refused`)
  t.ok(counted > 100, `${counted} were counted`)
})

t.test('an attempt is given back while a table is locked that it does not need', async t => {
  const url = await migratedDatabase(t)
  const { stores, close } = await openServer(url)
  t.teardown(close)
  const limit = { key: someDigest(), most: 1 }
  await stores.attempts.take([limit], at(0), 60)
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  t.teardown(() => sql.end())
  await sql.begin(async locked => {
    await locked`lock table known_login in share mode`
    await stores.attempts.giveBack([limit.key], undefined)
  })
  t.equal(await stores.attempts.take([limit], at(0), 60), undefined)
})

t.test('an attempt whose windows others begin again and again is answered with unavailable', async t => {
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  const driver = connectServer(url, { pool: 2, prepare: true })
  t.teardown(() => driver.close())
  let tries = 0
  const colliding: Driver = {
    ...driver,
    async query() {
      tries += 1
      throw new StatementError('duplicate key value violates unique constraint "attempt_pkey"', '23505')
    }
  }
  const attempts = createAttemptStore(colliding, createLookups(colliding))
  await t.rejects(attempts.take([{ key: someDigest(), most: 1 }], at(0), 60), { code: 'unavailable' })
  t.equal(tries, 3)
})
