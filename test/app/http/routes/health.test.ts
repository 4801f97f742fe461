import t from 'tap'
import { healthRoutes } from '../../../../app/http/routes/health.js'
import { DomainError } from '../../../../core/index.js'
import { createTestHttp } from '../../../support/http.js'
import { createService } from '../../../support/service.js'
import { signal } from '../../../support/waiting.js'

t.test('wire 7.1 and 7.2: health is live while the process runs, and ready as long as the database is', async t => {
  const { ask } = createService()
  t.strictSame((await ask('/health/live')).json(), { status: 'live' })
  t.strictSame((await ask('/health/ready')).json(), { status: 'ready' })
  const away = createService({
    ready: () => Promise.reject(new DomainError('unavailable', 'the database is away', { retryAfterSeconds: 1 }))
  })
  t.equal((await away.ask('/health/live')).statusCode, 200)
  t.equal((await away.ask('/health/ready')).statusCode, 503)
})

t.test('/health/ready is 503 when the database takes too long to answer, and /health/live does not ask it', async t => {
  const http = createTestHttp()
  const checked = signal()
  healthRoutes(http, () => checked.given, 20)
  const late = await http.inject('/health/ready')
  t.has(late, { statusCode: 503, headers: { 'retry-after': '1' } })
  t.same(late.json(), { error: 'the database takes too long to answer' })
  t.same((await http.inject('/health/live')).json(), { status: 'live' })
  checked.give()
  t.same((await http.inject('/health/ready')).json(), { status: 'ready' })
})

t.test('wire 7.2: a database that does not answer is told of within two seconds', async t => {
  const dueInTime: (() => void)[] = []
  const setTimeout = (act: (...given: unknown[]) => void, milliseconds: number, ...given: unknown[]) => {
    if (milliseconds < 2000) dueInTime.push(() => act(...given))
    return { unref: () => {} }
  }
  t.intercept(globalThis, 'setTimeout', { value: setTimeout })
  const http = createTestHttp()
  const checked = signal()
  healthRoutes(http, () => {
    checked.give()
    return new Promise(() => {})
  })
  const answer = http.inject('/health/ready')
  await checked.given
  for (const act of dueInTime.splice(0)) act()
  t.same((await answer).json(), { error: 'the database takes too long to answer' })
})
