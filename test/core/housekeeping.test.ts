import t from 'tap'
import { createMemoryStores } from '../../adapters/memory/stores.js'
import { createWorld } from '../support/world.js'

t.test('a sweep stops when it is told to', async t => {
  const { ports, useCases, clock } = createWorld()
  await ports.attempts.take([{ key: 'x', most: 1 }], clock.now(), 1)
  clock.advance(100)
  await useCases.sweep({ aborted: true })
  t.equal(await ports.attempts.removeExpired(clock.now(), 10), 1)
})

t.test('a sweep leaves what has ended within the last minute to requests under way', async t => {
  const { ports, useCases, clock } = createWorld()
  const removals = t.capture(ports.attempts, 'removeExpired', ports.attempts.removeExpired)
  await useCases.sweep()
  t.equal(Number(removals()[0]?.args[0]), clock.now().getTime() - 60_000)
})

t.test('a sweep goes on as long as its batches are full', async t => {
  const { ports, useCases, clock } = createWorld()
  for (let i = 0; i < 2500; i += 1) await ports.attempts.take([{ key: String(i), most: 1 }], clock.now(), 1)
  clock.advance(100)
  await useCases.sweep()
  t.equal(await ports.attempts.removeExpired(clock.now(), 10), 0)
})

t.test('a sweep of the memory stores lets others have the event loop between two batches', async t => {
  const stores = createMemoryStores()
  const { useCases, clock } = createWorld({ stores })
  for (let i = 0; i < 1000; i += 1) await stores.attempts.take([{ key: String(i), most: 1 }], clock.now(), 1)
  clock.advance(100)
  const signal = { aborted: false }
  setImmediate(() => {
    signal.aborted = true
  })
  await useCases.sweep(signal)
  t.equal(await stores.attempts.removeExpired(clock.now(), 1000), 900)
})

/** A world whose sweep removes grants in so many batches, each of which takes so many seconds. */
const createSlowWorld = (batches: number, seconds: number, eraseNonces: (before: Date) => Promise<number>) => {
  const stores = createMemoryStores()
  const removed = { batches: 0 }
  const world = createWorld({
    stores: {
      ...stores,
      tokens: { ...stores.tokens, eraseNonces },
      grants: {
        ...stores.grants,
        async removeExpired(_at, limit) {
          world.clock.advance(seconds)
          removed.batches += 1
          return removed.batches < batches ? limit : 0
        }
      }
    }
  })
  return { ...world, removed }
}

t.test('a sweep that takes long erases nonces again every half minute', async t => {
  const erased: number[] = []
  const { useCases, clock, policy } = createSlowWorld(10, 10, async before => {
    erased.push((clock.now().getTime() - before.getTime()) / 1000 - policy.refreshGraceSeconds)
    return 0
  })
  await useCases.sweep()
  t.strictSame(erased, [10, 10, 10, 10], 'at the start, and after 30, 60 and 90 seconds')
})

t.test('what fails in a sweep keeps nothing else from being swept, and the first failure is told', async t => {
  const stores = createMemoryStores()
  const failing = (message: string) => (): Promise<never> => Promise.reject(new Error(message))
  const { useCases, clock } = createWorld({
    stores: {
      ...stores,
      tokens: { ...stores.tokens, eraseNonces: failing('no nonces') },
      grants: { ...stores.grants, removeExpired: failing('no grants') }
    }
  })
  await stores.attempts.take([{ key: 'x', most: 1 }], clock.now(), 1)
  clock.advance(100)
  await t.rejects(useCases.sweep(), { message: 'no nonces' })
  t.equal(await stores.attempts.removeExpired(clock.now(), 10), 0, 'nothing is left')
})

t.test('nonces that cannot be erased in the middle of a sweep keep no grant from being removed', async t => {
  let erasures = 0
  const { useCases, removed } = createSlowWorld(3, 40, async () => {
    erasures += 1
    if (erasures > 1) throw new Error('no nonces')
    return 0
  })
  await t.rejects(useCases.sweep(), { message: 'no nonces' })
  t.equal(removed.batches, 3, 'every batch was removed')
  t.equal(erasures, 3)
})
