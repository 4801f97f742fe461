import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { startChores } from '../../../app/serve/chores.js'
import { DomainError } from '../../../core/index.js'
import { signal } from '../../support/waiting.js'
import { createWorld } from '../../support/world.js'

/** A log that keeps its warnings. */
const createLines = () => {
  const lines: unknown[][] = []
  return { lines, warn: (...line: unknown[]) => void lines.push(line) }
}

/** The intervals that are begun from now on. Their turns come when the test takes them. */
const holdIntervals = (t: Pick<Test, 'intercept'>) => {
  const turns: [turn: () => void, milliseconds: number][] = []
  t.intercept(globalThis, 'setInterval', {
    value: (turn: () => void, milliseconds: number) => {
      turns.push([turn, milliseconds])
      return { unref: () => {} }
    }
  })
  return turns
}

const shifted = (seconds: number) => ({ now: async () => new Date(Date.now() + seconds * 1000) })

t.test('a clock that is more than five seconds off leads to a warning at the start', async t => {
  for (const [seconds, warned] of [
    [0, false],
    [4, false],
    [-4, false],
    [7, true],
    [-7, true]
  ] as const) {
    const log = createLines()
    await startChores(createWorld().useCases, shifted(seconds), log).stop()
    t.equal(log.lines.length, warned ? 1 : 0, String(seconds))
    if (warned) t.match(log.lines[0], [{ offSeconds: Number }, "this machine's clock and the database's differ"])
  }
})

t.test('the time that the database takes to answer does not count as a difference between the clocks', async t => {
  let milliseconds = 0
  t.intercept(Date, 'now', { value: () => milliseconds })
  for (const [theirs, warned] of [
    [6_000, false],
    [1_000, false],
    [11_000, false],
    [11_001, true],
    [999, true]
  ] as const) {
    milliseconds = 0
    const now = async () => {
      milliseconds = 12_000
      return new Date(theirs)
    }
    const log = createLines()
    await startChores(createWorld().useCases, { now }, log).stop()
    t.equal(log.lines.length, warned ? 1 : 0, String(theirs))
  }
})

t.test('housekeeping runs at the start', async t => {
  const { ports, useCases, clock } = createWorld()
  await ports.attempts.take([{ key: 'x', most: 1 }], clock.now(), 1)
  clock.advance(100)
  const chores = startChores(useCases, shifted(0), createLines())
  await setImmediate()
  await chores.stop()
  t.equal(await ports.attempts.removeExpired(clock.now(), 10), 0)
})

t.test('a chore that fails is logged and harms nothing', async t => {
  const log = createLines()
  const away = new Error('the database is away')
  const failing = { sweep: () => Promise.reject(away) }
  await startChores(failing, { now: () => Promise.reject(away) }, log).stop()
  t.strictSame(log.lines, [
    [away, 'a background chore failed'],
    [away, 'a background chore failed']
  ])
})

t.test('an outage that lasts is logged once for each chore, and again when another one begins', async t => {
  const turns = holdIntervals(t)
  const away = new DomainError('unavailable', 'the database is away')
  const bug = new Error('a bug')
  const outcomes = [away, away, bug, bug, away, undefined, away, away]
  const sweep = async () => {
    const outcome = outcomes.shift()
    if (outcome !== undefined) throw outcome
  }
  const log = createLines()
  const chores = startChores({ sweep }, shifted(0), log)
  while (outcomes.length > 0) {
    await setImmediate()
    turns[0]?.[0]()
  }
  await chores.stop()
  t.strictSame(
    log.lines.map(([error]) => error),
    [away, bug, bug, away, away]
  )
})

t.test('a chore that waits for long does not hold up the end', async t => {
  const chores = startChores({ sweep: () => new Promise(() => {}) }, shifted(0), createLines())
  await setImmediate()
  const limits: unknown[] = []
  t.intercept(globalThis, 'setTimeout', {
    value: (over: () => void, milliseconds: number) => {
      limits.push(milliseconds)
      over()
      return { unref: () => {} }
    }
  })
  await chores.stop()
  t.strictSame(limits, [9000])
})

t.test('the chores come again: housekeeping twice a minute, the clocks each minute', async t => {
  const turns = holdIntervals(t)
  const done: string[] = []
  const useCases = {
    sweep: async () => {
      done.push('sweep')
    }
  }
  const database = {
    now: async () => {
      done.push('compare')
      return new Date()
    }
  }
  const chores = startChores(useCases, database, createLines())
  t.strictSame(
    turns.map(([, milliseconds]) => milliseconds),
    [30_000, 60_000]
  )
  await setImmediate()
  for (const [turn] of turns) turn()
  await chores.stop()
  t.strictSame(done.sort(), ['compare', 'compare', 'sweep', 'sweep'])
})

t.test('a turn that comes while the one before it is under way is left out', async t => {
  const turns = holdIntervals(t)
  const { given, give } = signal()
  let sweeps = 0
  const sweep = () => {
    sweeps += 1
    return given
  }
  const chores = startChores({ sweep }, shifted(0), createLines())
  for (let i = 0; i < 20; i += 1) turns[0]?.[0]()
  give()
  await chores.stop()
  t.equal(sweeps, 1)
})
