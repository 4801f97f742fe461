import t from 'tap'
import { createHosts } from '../../../../adapters/postgres/connection/hosts.js'
import { openLane } from '../../../../adapters/postgres/connection/lane.js'
import type { Timeouts } from '../../../../adapters/postgres/connection/timeouts.js'

/** Timeouts that expire when the test says so. */
const createExpiries = () => {
  const running = new Set<() => void>()
  const timeouts: Timeouts = {
    milliseconds: 0,
    begin(expire) {
      // A function of its own: two timeouts may be given the same one to call.
      const expireThis = () => expire()
      running.add(expireThis)
      return () => running.delete(expireThis)
    }
  }
  return { timeouts, running: () => [...running] }
}

t.test('silence is timed from the last answer, while another answer is due', async t => {
  const lane = openLane(createHosts(process.env.TEST_DATABASE_URL ?? '', {}), { prepare: true, lookups: false })
  t.teardown(() => lane.end())
  const { timeouts, running } = createExpiries()
  await lane.run('select 1', [], timeouts)
  t.strictSame(running(), [], 'nothing is due')

  const first = lane.run('select pg_sleep(0.01)', [], timeouts)
  const second = lane.run('select pg_sleep(60)', [], timeouts)
  const lost = t.rejects(second, { code: 'CONNECTION_CLOSED' })
  const [whileBothAreDue, ...more] = running()
  t.strictSame(more, [], 'one timeout for the connection')
  await first
  const [whileTheSecondIsDue] = running()
  t.ok(whileTheSecondIsDue, 'the second answer is due')
  t.not(whileTheSecondIsDue, whileBothAreDue, 'its time began with the first answer')

  whileTheSecondIsDue?.()
  await lost
  t.ok(lane.lost)
  t.strictSame(running(), [])
})
