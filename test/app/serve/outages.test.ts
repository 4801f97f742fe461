import t from 'tap'
import { createOutageWatch } from '../../../app/serve/outages.js'
import { DomainError } from '../../../core/index.js'
import { createTime } from '../../support/moved-time.js'
import { recordLog } from '../../support/recorded-log.js'

const AWAY = new DomainError('unavailable', 'the database cannot be reached')

/** A watch over a database that is away until so many milliseconds have passed. */
const createWatched = (until: number, asked = () => false) => {
  const { time, passed } = createTime()
  const { log, take } = recordLog('info')
  let looks = 0
  const check = async (): Promise<void> => {
    looks += 1
    if (passed() < until) throw AWAY
  }
  return { watch: createOutageWatch(check, { asked }, log, time), log, take, looks: () => looks, time, passed }
}

t.test('the end of an outage is logged once, with its length, however many requests have failed', async t => {
  const { watch, take } = createWatched(42_000)
  await Promise.all([watch(AWAY), watch(AWAY), watch(AWAY)])
  t.match(take(), [{ level: 30, seconds: 42, msg: 'the database can be used again' }])
  await watch(AWAY)
  t.strictSame(take(), [], 'a failure while the database can be used is no outage')
})

t.test('an outage soon after another one is logged with its cause as well', async t => {
  const { watch, log, take } = createWatched(2000)
  for (const id of ['req-1', 'req-2']) log.requestFailed(AWAY, id)
  await watch(AWAY)
  log.requestFailed(AWAY, 'req-3')
  t.match(take(), [
    { msg: 'a request failed', reqId: 'req-1' },
    { msg: 'more requests failed', failed: 1 },
    { msg: 'the database can be used again' },
    { msg: 'a request failed', reqId: 'req-3' }
  ])
})

t.test('no other failure is taken for an outage', async t => {
  const { watch, looks } = createWatched(1000)
  for (const error of [new Error('a bug'), new DomainError('overloaded', 'too many logins are waiting'), undefined]) {
    await watch(error)
  }
  t.equal(looks(), 0)
})

t.test('a service that ends looks no longer', async t => {
  let left = 3
  const { watch, take, looks } = createWatched(Number.POSITIVE_INFINITY, () => {
    left -= 1
    return left < 0
  })
  await watch(AWAY)
  t.equal(looks(), 3)
  t.strictSame(take(), [])
})
