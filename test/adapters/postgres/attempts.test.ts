import t, { type Test } from 'tap'
import { createAttemptStore as createMemoryStore } from '../../../adapters/memory/attempts.js'
import { createAttemptStore } from '../../../adapters/postgres/attempts.js'
import type { Driver } from '../../../adapters/postgres/connection/driver.js'
import { StatementError } from '../../../adapters/postgres/connection/errors.js'
import { connectServer } from '../../../adapters/postgres/connection/server.js'
import { openServer } from '../../../adapters/postgres/database.js'
import { createLookups } from '../../../adapters/postgres/lookup/lookups.js'
import type { AttemptStore } from '../../../core/ports.js'
import { at, someDigest } from '../../contract/records.js'
import { createDatabase } from '../../support/postgres.js'

/** Returns numbers below `end` that are the same in each run. */
const createDice = (seed: number) => {
  let state = seed
  return (end: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return (state >> 8) % end
  }
}

const openAttempts = async (t: Test): Promise<AttemptStore> => {
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  const database = await openServer(url)
  t.teardown(() => database.close())
  await database.migrate()
  return database.stores.attempts
}

t.test('attempts that travel together are counted as if they had come one after the other', async t => {
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
    for (const take of takes) expected.push(await memory.take(...take))
    const results = await Promise.all(takes.map(take => attempts.take(...take)))
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

t.test('of attempts that travel together, one after the end of the window of another begins a new one', async t => {
  const attempts = await openAttempts(t)
  const limit = { key: someDigest(), most: 5 }
  for (const start of [0, 100]) {
    const seconds = [start, start + 2]
    const taken = await Promise.all(seconds.map(second => attempts.take([limit], at(second), 1)))
    t.strictSame(taken, [undefined, undefined])
    t.match(await attempts.take([{ ...limit, most: 1 }], at(start + 2.1), 1), [{ endsAt: at(start + 3) }])
  }
})

t.test('an attempt that was counted is not counted again when one behind it fails', async t => {
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  const database = await openServer(url)
  t.teardown(() => database.close())
  await database.migrate()
  const driver = connectServer(url, { pool: 2, prepare: true })
  t.teardown(() => driver.close())
  const [first, second, both] = [someDigest(), someDigest(), someDigest()].map(key => ({ key, most: 2 }))
  const limitsOf = (...limits: (typeof both)[]) => limits.flatMap(limit => limit ?? [])
  let statements = 0
  const failing: Driver = {
    ...driver,
    async write(...given) {
      statements += 1
      // Together, the first one, the second one.
      if (statements === 3) throw new StatementError('canceling statement due to lock timeout', '55P03')
      return driver.write(...given)
    }
  }
  const attempts = createAttemptStore(failing, createLookups(failing))
  await Promise.allSettled([
    attempts.take(limitsOf(first, both), at(0), 1),
    attempts.take(limitsOf(second, both), at(2), 1)
  ])
  t.ok(statements >= 3)
  t.equal(await attempts.take(limitsOf(first), at(0.5), 1), undefined, 'the second of two')
  t.match(await attempts.take(limitsOf(first), at(0.6), 1), [{ endsAt: at(1) }])
})

t.test('an attempt whose windows others begin again and again is answered with unavailable', async t => {
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  const driver = connectServer(url, { pool: 2, prepare: true })
  t.teardown(() => driver.close())
  let tries = 0
  const colliding: Driver = {
    ...driver,
    async write() {
      tries += 1
      throw new StatementError('duplicate key value violates unique constraint "attempt_pkey"', '23505')
    }
  }
  const attempts = createAttemptStore(colliding, createLookups(colliding))
  await t.rejects(attempts.take([{ key: someDigest(), most: 1 }], at(0), 60), { code: 'unavailable' })
  t.equal(tries, 3)
})
