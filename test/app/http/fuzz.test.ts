import t from 'tap'
import { fuzz } from '../../support/fuzz.js'

t.test(
  'requests and answers are in step on 5,000 connections, whatever is sent: npm run fuzz repeats a case',
  async t => {
    const { answers, failures } = await fuzz(5000, 1)
    t.strictSame(failures.slice(0, 5), [])
    t.ok(answers > 10_000)
  }
)
