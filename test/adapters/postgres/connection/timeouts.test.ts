import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createTimeouts } from '../../../../adapters/postgres/connection/timeouts.js'

t.test('timeouts of one length expire in their order and not before their time, unless they are ended', async t => {
  const { begin, milliseconds } = createTimeouts(50)
  t.equal(milliseconds, 50)
  const expired: { readonly name: string; readonly after: number }[] = []
  const start = (name: string) => {
    const startedAt = performance.now()
    return begin(() => expired.push({ name, after: performance.now() - startedAt }))
  }
  start('first')
  const end = start('ended')
  end()
  end()
  await sleep(20)
  start('second')
  while (expired.length < 2) await sleep(5)
  start('third, after a silence')
  while (expired.length < 3) await sleep(5)
  t.strictSame(
    expired.map(({ name }) => name),
    ['first', 'second', 'third, after a silence']
  )
  for (const { name, after } of expired) t.ok(after >= 50, `${name} not before its time`)
})
