import t from 'tap'
import { AwayError } from '../../../app/compose.js'
import { prepareLater, tryToPrepare } from '../../../app/serve/preparing.js'
import { DomainError } from '../../../core/index.js'
import { createTime } from '../../support/moved-time.js'
import { recordLog } from '../../support/recorded-log.js'

const reasonOf = (code: string): DomainError =>
  new DomainError('unavailable', 'the database cannot be reached', {
    cause: Object.assign(new Error(`no connection: ${code}`), { code })
  })
const away = (code: string, passes = true): AwayError => new AwayError('it is away', reasonOf(code), passes)

const RUNS = { asked: () => false }

t.test('PostgreSQL starts ten minutes later: the log says why, once and then once a minute, and the end', async t => {
  const { time, passed } = createTime()
  const { log, take } = recordLog('info')
  const attempt = async () => {
    if (passed() < 600_000) throw away('ECONNREFUSED')
    return 'prepared'
  }
  const first = await tryToPrepare(attempt, false)
  t.equal(await prepareLater(first, () => tryToPrepare(attempt, false), RUNS, log.logger, time), 'prepared')
  t.ok(passed() - 600_000 < 3000, 'it is noticed within three seconds')
  const lines = take()
  t.match(lines[0], {
    level: 40,
    seconds: 0,
    msg: 'the database cannot be used yet; meanwhile requests that need it are answered with 503',
    err: { code: 'unavailable', cause: { code: 'ECONNREFUSED' } }
  })
  t.strictSame(
    lines.map(({ seconds }) => seconds),
    [0, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600]
  )
  t.match(lines.at(-1), { level: 30, seconds: 600, msg: 'the database takes writes' })
})

t.test('a database that is there at once is worth no line', async t => {
  const { log, take } = recordLog('info')
  const first = await tryToPrepare(async () => 1, false)
  t.equal(await prepareLater(first, async () => first, RUNS, log.logger), 1)
  t.strictSame(take(), [])
})

t.test('a database that takes no writes is told as such, and a signal ends the wait', async t => {
  const { time, passed } = createTime()
  const { log, take } = recordLog('info')
  const stop = { asked: () => passed() > 1000 }
  const failing = () => tryToPrepare(() => Promise.reject(away('25006')), false)
  t.equal(await prepareLater(await failing(), failing, stop, log.logger, time), undefined)
  t.match(take(), [{ msg: /^the database takes no writes; / }])
  t.equal(await prepareLater(await failing(), failing, { asked: () => true }, undefined, time), undefined)
})

t.test('a server that refuses the service ends the wait, unless the service was ready before', async t => {
  const { time } = createTime()
  const refused = away('28P01', false)
  const attempt = async () => Promise.reject(refused)
  await t.rejects(tryToPrepare(attempt, false), refused)
  t.strictSame(await tryToPrepare(attempt, true), { failure: refused })
  const first = { failure: away('57P03') }
  await t.rejects(
    prepareLater(first, () => tryToPrepare(attempt, false), RUNS, undefined, time),
    refused
  )
  const unfit = new Error('the encoding of the database is LATIN1')
  await t.rejects(
    tryToPrepare(() => Promise.reject(unfit), true),
    unfit
  )
})
