import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createTimeouts } from '../../adapters/postgres/timeouts.js'

t.test('timeouts of one length expire in their order and in time, but for those that were ended', async t => {
  const { begin, milliseconds } = createTimeouts(50)
  t.equal(milliseconds, 50)
  const startedAt = performance.now()
  const expired: { readonly name: string; readonly after: number }[] = []
  const start = (name: string) => begin(() => expired.push({ name, after: performance.now() - startedAt }))
  start('first')
  const end = start('ended')
  await sleep(20)
  start('second')
  end()
  end()
  while (expired.length < 2) await sleep(5)
  start('third, after a silence')
  while (expired.length < 3) await sleep(5)
  const [first, second, third] = expired
  t.strictSame([first?.name, second?.name, third?.name], ['first', 'second', 'third, after a silence'])
  t.ok((first?.after ?? 0) >= 50)
  t.ok((second?.after ?? 0) >= 70)
  t.ok((third?.after ?? 0) >= 120)
})
