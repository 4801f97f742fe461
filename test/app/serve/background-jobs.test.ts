import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { startBackgroundJobs } from '../../../app/serve/background-jobs.js'
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

const NO_CLOCK = { clock: undefined }

/** A database whose clock is ahead by what `offsetSeconds` returns. */
const ahead = (offsetSeconds: () => number) => ({ clock: { now: () => new Date(), offsetSeconds } })

t.test('a clock that is more than five seconds off leads to one warning, until it is right again', async t => {
  const turns = holdIntervals(t)
  const log = createLines()
  const offsets = [0, 4, -4, 7, 8, -7, 5, -6]
  const stop = startBackgroundJobs(
    { sweep: async () => {} },
    ahead(() => offsets.shift() ?? 0),
    log
  )
  while (offsets.length > 0) {
    await setImmediate()
    turns[1]?.[0]()
  }
  await stop()
  const text = "this machine's clock and the database's differ"
  t.strictSame(log.lines, [
    [{ offsetSeconds: 7 }, text],
    [{ offsetSeconds: -6 }, text]
  ])
})

t.test('housekeeping runs at the start', async t => {
  const { ports, useCases, clock } = createWorld()
  await ports.attempts.take([{ key: 'x', most: 1 }], clock.now(), 1)
  clock.advance(100)
  const stop = startBackgroundJobs(useCases, NO_CLOCK, createLines())
  await setImmediate()
  await stop()
  t.equal(await ports.attempts.removeExpired(clock.now(), 10), 0)
})

t.test('a job that fails is logged and harms nothing', async t => {
  const log = createLines()
  const away = new Error('the database is away')
  await startBackgroundJobs({ sweep: () => Promise.reject(away) }, NO_CLOCK, log)()
  t.strictSame(log.lines, [[away, 'a background job failed']])
})

t.test('an outage that lasts is logged once, and again when another one begins', async t => {
  const turns = holdIntervals(t)
  const away = new DomainError('unavailable', 'the database is away')
  const bug = new Error('a bug')
  const outcomes = [away, away, bug, bug, away, undefined, away, away]
  const sweep = async () => {
    const outcome = outcomes.shift()
    if (outcome !== undefined) throw outcome
  }
  const log = createLines()
  const stop = startBackgroundJobs({ sweep }, NO_CLOCK, log)
  while (outcomes.length > 0) {
    await setImmediate()
    turns[0]?.[0]()
  }
  await stop()
  t.strictSame(
    log.lines.map(([error]) => error),
    [away, bug, bug, away, away]
  )
})

t.test('a job that waits for long does not hold up the end', async t => {
  const stop = startBackgroundJobs({ sweep: () => new Promise(() => {}) }, NO_CLOCK, createLines())
  await setImmediate()
  const limits: unknown[] = []
  t.intercept(globalThis, 'setTimeout', {
    value: (over: () => void, milliseconds: number) => {
      limits.push(milliseconds)
      over()
      return { unref: () => {} }
    }
  })
  await stop()
  t.strictSame(limits, [9000])
})

t.test('the jobs come again: housekeeping twice a minute, the clocks each minute', async t => {
  const turns = holdIntervals(t)
  const done: string[] = []
  const useCases = {
    sweep: async () => {
      done.push('sweep')
    }
  }
  const offsetSeconds = () => {
    done.push('compare')
    return 0
  }
  const stop = startBackgroundJobs(useCases, ahead(offsetSeconds), createLines())
  t.strictSame(
    turns.map(([, milliseconds]) => milliseconds),
    [30_000, 60_000]
  )
  await setImmediate()
  for (const [turn] of turns) turn()
  await stop()
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
  const stop = startBackgroundJobs({ sweep }, NO_CLOCK, createLines())
  for (let i = 0; i < 20; i += 1) turns[0]?.[0]()
  give()
  await stop()
  t.equal(sweeps, 1)
})
