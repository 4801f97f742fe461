import t, { type Test } from 'tap'
import { createLog } from '../../../app/serve/log.js'
import { DomainError } from '../../../core/index.js'
import { createTestHttp } from '../../support/http.js'

/** Timers that fire when the test lets time pass. */
const createTime = (t: Test) => {
  let now = 0
  let timers: { readonly at: number; readonly work: () => void }[] = []
  let unreferenced = 0
  const value = (work: (...given: unknown[]) => void, milliseconds: number, ...given: unknown[]) => {
    timers.push({ at: now + milliseconds, work: () => work(...given) })
    return {
      unref: () => {
        unreferenced += 1
      }
    }
  }
  t.intercept(globalThis, 'setTimeout', { value })
  return {
    pass: (seconds: number): void => {
      now += seconds * 1000
      const due = timers.filter(({ at }) => at <= now)
      timers = timers.filter(({ at }) => at > now)
      for (const { work } of due) work()
    },
    /** Timers that have not fired. */
    pending: () => timers.length,
    unreferenced: () => unreferenced
  }
}

const createLines = () => {
  const lines: string[] = []
  const log = createLog('error', { write: line => lines.push(line) })
  return { log, read: () => lines.splice(0).map(line => JSON.parse(line)) }
}

const away = (code: string): DomainError =>
  new DomainError('unavailable', 'the database cannot be reached', {
    cause: Object.assign(new Error(`no connection: ${code}`), { code, parameters: ['secret'] })
  })
const overloaded = new DomainError('overloaded', 'too many logins are waiting')

t.test('an outage is logged once, with its cause and without stacks, and each request has its own line', async t => {
  const lines: string[] = []
  const logged = createTestHttp({ log: createLog('info', { write: line => lines.push(line) }) })
  t.teardown(() => logged.close())
  logged.get('/away', async () => {
    throw away('ECONNREFUSED')
  })
  for (let i = 0; i < 20; i++) t.equal((await logged.inject('/away')).statusCode, 503)
  t.notMatch(lines.join(), /secret|stack/)
  const [failure, ...requests] = lines.map(line => JSON.parse(line)).sort((a, b) => b.level - a.level)
  t.match(failure, { level: 50, msg: 'a request failed', reqId: requests[0]?.reqId })
  t.strictSame(failure.err, {
    type: 'DomainError',
    code: 'unavailable',
    message: 'the database cannot be reached',
    cause: { type: 'Error', code: 'ECONNREFUSED', message: 'no connection: ECONNREFUSED' }
  })
  t.equal(requests.length, 20)
  t.ok(requests.every(({ level, path, status }) => level === 30 && path === '/away' && status === 503))
})

t.test('while an outage goes on, each minute says how many requests it failed, and why the last of them', async t => {
  const time = createTime(t)
  const { log, read } = createLines()
  for (let i = 0; i < 1000; i++) log.requestFailed(away('ECONNREFUSED'), `req-${i}`)
  t.match(read(), [{ reqId: 'req-0' }])
  log.requestFailed(overloaded, 'req-x')
  t.match(read(), [{ reqId: 'req-x', err: { code: 'overloaded' } }], 'what fails for another reason is told apart')
  time.pass(59)
  log.requestFailed(away('57P03'), 'req-1000')
  t.strictSame(read(), [])
  time.pass(1)
  t.match(read(), [
    {
      level: 50,
      msg: 'more requests failed',
      failed: 1000,
      seconds: 60,
      reqId: 'req-1000',
      err: { cause: { code: '57P03' } }
    }
  ])
  log.requestFailed(away('57P03'), 'req-1001')
  time.pass(60)
  t.match(read(), [{ failed: 1 }])
  t.equal(time.pending(), 1)
  time.pass(60)
  t.strictSame(read(), [])
  t.equal(time.pending(), 0, 'a minute without ends it')
  log.requestFailed(away('ECONNREFUSED'), 'req-1002')
  t.match(read(), [{ msg: 'a request failed', reqId: 'req-1002', err: { cause: { code: 'ECONNREFUSED' } } }])
  t.equal(time.unreferenced(), 5, 'no timer keeps the process alive')
})

t.test('a bug is logged with its stack, once a second at most when it is the same', async t => {
  const time = createTime(t)
  const { log, read } = createLines()
  for (let i = 0; i < 100; i++) {
    log.requestFailed(new TypeError('x is undefined'), `req-${i}`)
    log.requestFailed(new Error('x is undefined'), `req-${i}`)
    log.requestFailed(Object.assign(new Error('x is undefined'), { code: '22003' }), `req-${i}`)
    log.requestFailed(new Error(`y is undefined`), `req-${i}`)
    log.requestFailed({ secret: 'secret' }, `req-${i}`)
  }
  const first = read()
  t.equal(first.length, 5)
  t.match(first[0], { err: { type: 'TypeError', message: 'x is undefined', stack: /x is undefined\n +at / } })
  time.pass(1)
  const second = read()
  t.equal(second.length, 5)
  t.match(second[0], { reqId: 'req-99', failed: 99, seconds: 1, err: { stack: /x is undefined\n +at / } })
  time.pass(1)
  t.strictSame(read(), [])
  t.equal(time.pending(), 0)
})

t.test('bugs of more than a hundred kinds in a second are counted together', async t => {
  const time = createTime(t)
  const { log, read } = createLines()
  for (let i = 0; i < 1000; i++) log.requestFailed(new Error(`${i} is undefined`), `req-${i}`)
  t.equal(read().length, 101)
  log.requestFailed(away('ECONNREFUSED'), 'req-x')
  t.match(read(), [{ reqId: 'req-x' }], 'which hides no outage')
  time.pass(1)
  t.match(read(), [{ failed: 899, reqId: 'req-999' }])
})

t.test('what has been counted by the end is logged, and what follows is logged anew', async t => {
  const time = createTime(t)
  const { log, read } = createLines()
  for (let i = 0; i < 3; i++) log.requestFailed(away('ECONNREFUSED'), `req-${i}`)
  log.requestFailed(overloaded, 'req-x')
  read()
  log.end()
  t.match(read(), [{ failed: 2, err: { code: 'unavailable' } }])
  log.end()
  t.strictSame(read(), [])
  time.pass(30)
  log.requestFailed(away('28P01'), 'req-3')
  t.match(read(), [{ msg: 'a request failed', reqId: 'req-3', err: { cause: { code: '28P01' } } }])
  time.pass(30)
  log.requestFailed(away('28P01'), 'req-4')
  t.strictSame(read(), [], 'the minute of what was forgotten is not that of what follows')
  time.pass(30)
  t.match(read(), [{ failed: 1, reqId: 'req-4' }])
})
