import t, { type Test } from 'tap'
import { type Ending, type Reports, supervise } from '../../../app/serve/supervisor.js'

const KILLED: Ending = { code: null, signal: 'SIGKILL' }
const DONE: Ending = { code: 0, signal: null }

interface Timer {
  readonly at: number
  readonly fire: () => void
}

/** Workers that the test plays itself, and timers that fire when it lets time pass. */
const createWorld = (t: Pick<Test, 'intercept'>, count = 2, drainDelaySeconds = 0) => {
  let now = 0
  let timers: Timer[] = []
  t.intercept(globalThis, 'setTimeout', {
    value: (work: (...given: unknown[]) => void, milliseconds: number, ...given: unknown[]): Timer => {
      const timer = { at: now + milliseconds, fire: () => work(...given) }
      timers.push(timer)
      return timer
    }
  })
  t.intercept(globalThis, 'clearTimeout', {
    value: (timer: Timer | undefined) => {
      timers = timers.filter(other => other !== timer)
    }
  })
  /** What happened, in its order. */
  const events: string[] = []
  const running = new Map<number, Reports>()
  const note = (line: object, text: string): void => void events.push(`${text}: ${JSON.stringify(line)}`)
  const { stop, fail } = supervise(count, drainDelaySeconds, {
    fork(number, reports) {
      events.push(`fork ${number}`)
      running.set(number, reports)
      return {
        stop: () => void events.push(`stop ${number}`),
        kill: () => void events.push(`kill ${number}`)
      }
    },
    log: { warn: note, error: note },
    listening: () => void events.push('listening'),
    ended: exitCode => void events.push(`ended ${exitCode === 0 ? 'well' : 'badly'}`),
    failed: reason => void events.push(`failed: ${reason.message}`)
  })
  return {
    stop,
    fail,
    listen: (...numbers: number[]) => numbers.forEach(number => void running.get(number)?.listening()),
    end: (number: number, ending: Ending) => running.get(number)?.ended(ending),
    pass: (seconds: number): void => {
      now += seconds * 1000
      const due = timers.filter(({ at }) => at <= now)
      timers = timers.filter(({ at }) => at > now)
      for (const { fire } of due) fire()
    },
    timers: () => timers.length,
    /** The events since the last call. */
    take: () => events.splice(0)
  }
}

const replaced = (worker: number, ending: object, seconds: number): string =>
  `a worker has ended, and another takes its place: ${JSON.stringify({ worker, ...ending, seconds })}`

t.test('a worker that ends is replaced at once, under its number, and the others are left alone', async t => {
  const { listen, end, take } = createWorld(t, 3)
  t.strictSame(take(), ['fork 1', 'fork 2', 'fork 3'])
  listen(1, 2, 3)
  t.strictSame(take(), ['listening'])
  end(2, KILLED)
  t.strictSame(take(), [replaced(2, { signal: 'SIGKILL' }, 0), 'fork 2'])
  end(3, DONE)
  t.strictSame(take(), [replaced(3, { code: 0 }, 0), 'fork 3'], 'also one that ended without having been asked')
})

t.test('workers that end one after another are replaced after a pause that grows to ten seconds', async t => {
  const { listen, end, pass, take } = createWorld(t)
  listen(1, 2)
  end(1, KILLED)
  take()
  const pauses = [0.5, 1, 2, 4, 8, 10, 10]
  for (const seconds of pauses) {
    listen(1)
    end(1, { code: 1, signal: null })
    t.strictSame(take(), [replaced(1, { code: 1 }, seconds)])
    pass(seconds - 0.001)
    t.strictSame(take(), [])
    pass(0.001)
    t.strictSame(take(), ['fork 1'])
  }
})

t.test('a worker that has listened for ten seconds makes up for those that ended before it', async t => {
  const { listen, end, pass, take } = createWorld(t)
  listen(1, 2)
  end(1, KILLED)
  listen(1)
  pass(9.9)
  end(1, KILLED)
  pass(0.5)
  listen(1)
  pass(10)
  take()
  end(1, KILLED)
  t.strictSame(take(), [replaced(1, { signal: 'SIGKILL' }, 0), 'fork 1'])
})

t.test('a replacement that cannot start tells why, and waits for the next try', async t => {
  const { listen, end, pass, take } = createWorld(t)
  listen(1, 2)
  end(1, KILLED)
  take()
  end(1, { code: 1, signal: null, reason: 'the database is away' })
  t.strictSame(take(), [replaced(1, { code: 1, reason: 'the database is away' }, 1)])
  pass(1)
  end(1, KILLED)
  t.strictSame(take(), ['fork 1', replaced(1, { signal: 'SIGKILL' }, 2)])
})

t.test('a start that fails for every worker ends it all, with the reason of the last one and no line', async t => {
  const { end, take, timers } = createWorld(t)
  const failed = { code: 1, signal: null, reason: 'PORT cannot be used' }
  end(1, failed)
  t.strictSame(take(), ['fork 1', 'fork 2'], 'the first waits for what becomes of the other')
  end(2, failed)
  t.strictSame(take(), ['failed: PORT cannot be used'])
  t.equal(timers(), 0)
})

t.test('a start that fails without a reason tells how the process ended, and what runs is killed', async t => {
  const { end, pass, take } = createWorld(t)
  end(1, { code: 13, signal: null })
  pass(0.5)
  end(2, { code: 13, signal: null })
  t.strictSame(take(), ['fork 1', 'fork 2', 'fork 1', 'kill 1'])
  end(1, KILLED)
  t.strictSame(take(), ['failed: no worker can be started: its process ended with exit code 13'])
  const other = createWorld(t, 1)
  other.end(1, KILLED)
  t.strictSame(other.take(), ['fork 1', 'failed: no worker can be started: its process was ended by SIGKILL'])
})

t.test('a start that fails for some goes on with the others, and tries again', async t => {
  const { end, listen, pass, take } = createWorld(t)
  end(1, KILLED)
  listen(2)
  pass(0.5)
  t.strictSame(take(), ['fork 1', 'fork 2', 'listening', 'fork 1'])
})

t.test('when it is stopped every worker is asked, none is replaced, and it ends with the last of them', async t => {
  const { listen, end, pass, stop, take, timers } = createWorld(t, 3)
  listen(1, 2)
  end(1, KILLED)
  listen(1)
  end(1, KILLED)
  take()
  stop()
  t.strictSame(take(), ['stop 2', 'stop 3'], 'one that waits for its start does not start')
  pass(1)
  end(3, DONE)
  t.strictSame(take(), [])
  end(2, DONE)
  t.strictSame(take(), ['ended well'])
  t.equal(timers(), 0)
})

t.test('it ends badly when one that was asked to end did not do well, and one line says which', async t => {
  const { listen, end, stop, take } = createWorld(t)
  listen(1, 2)
  stop()
  take()
  end(1, { code: 1, signal: null })
  end(2, DONE)
  t.strictSame(take(), ['a worker has not ended well: {"worker":1,"code":1}', 'ended badly'])
})

t.test('a worker that the signal reached before it could hear it has ended well', async t => {
  const { end, stop, take } = createWorld(t, 3)
  stop()
  take()
  end(1, { code: null, signal: 'SIGTERM' })
  end(2, { code: null, signal: 'SIGINT' })
  end(3, DONE)
  t.strictSame(take(), ['ended well'])
})

t.test('a worker that does not end is killed after the delay and the time of a drain', async t => {
  const { listen, end, pass, stop, take } = createWorld(t, 2, 30)
  listen(1, 2)
  stop()
  end(2, DONE)
  pass(45.9)
  t.strictSame(take().slice(-2), ['stop 1', 'stop 2'])
  pass(0.1)
  t.strictSame(take(), ['kill 1'])
  end(1, KILLED)
  t.strictSame(take(), ['a worker has not ended well: {"worker":1,"signal":"SIGKILL"}', 'ended badly'])
})

t.test('a second stop is passed on, and ends the delay', async t => {
  const { listen, pass, stop, take } = createWorld(t, 2, 3600)
  listen(1, 2)
  stop()
  take()
  stop()
  t.strictSame(take(), ['stop 1', 'stop 2'])
  pass(16)
  t.strictSame(take(), ['kill 1', 'kill 2'])
})

t.test('stopped while no worker runs, it ends at once', async t => {
  const { listen, end, stop, take } = createWorld(t, 1)
  listen(1)
  end(1, KILLED)
  end(1, KILLED)
  take()
  stop()
  t.strictSame(take(), ['ended well'])
})

t.test('told to fail, it asks every worker at once to end, replaces none, and ends with the reason', async t => {
  const { listen, end, fail, take } = createWorld(t, 2, 3600)
  listen(1, 2)
  take()
  fail(new Error('the database refuses the service'))
  t.strictSame(take(), ['stop 1', 'stop 2', 'stop 1', 'stop 2'], 'the second one ends the delay')
  end(1, { code: 1, signal: null })
  fail(new Error('another reason'))
  end(2, DONE)
  t.match(take(), ['stop 2', 'stop 2', 'failed: the database refuses the service'])
})
