import t from 'tap'
import { fuzz } from '../../support/fuzz.js'

// The text of a failure names its seed and case, which `npm run fuzz -- 1 SEED CASE` repeats.
t.test('on a thousand connections with random bytes every request gets its answer in its turn', async t => {
  const { answers, failures } = await fuzz(1000, 1)
  t.strictSame(failures.slice(0, 5), [])
  t.ok(answers > 2_000)
})
