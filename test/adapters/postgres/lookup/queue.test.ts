import t from 'tap'
import { createQueue, type Waiting } from '../../../../adapters/postgres/lookup/queue.js'

t.test('an item that has waited for four seconds is rejected and not sent', async t => {
  const sent: number[] = []
  const queue = createQueue<number, number>({
    maxBatches: 1,
    maxItems: 10,
    async sendBatch(batch: readonly Waiting<number, number>[]) {
      for (const { item, resolve } of batch) {
        sent.push(item)
        resolve(item)
      }
    }
  })
  const ask = (item: number, secondsAgo: number) =>
    new Promise<number>((resolve, reject) => {
      queue.add({ item, askedAt: performance.now() - secondsAgo * 1000, resolve, reject })
    })
  const asked = await Promise.allSettled([ask(1, 4), ask(2, 4), ask(3, 0)])
  const late = { reason: { code: 'unavailable', cause: { message: 'waited for 4000 ms to be sent' } } }
  t.match(asked, [late, late, { value: 3 }])
  t.strictSame(sent, [3])
})

t.test('all who ask because of one answer share a batch, which is sent before the event loop goes on', async t => {
  const sent: (readonly number[])[] = []
  const queue = createQueue<number, number>({
    maxBatches: 2,
    maxItems: 10,
    async sendBatch(batch) {
      sent.push(batch.map(({ item }) => item))
      for (const { item, resolve } of batch) resolve(item)
    }
  })
  const ask = (item: number) =>
    new Promise<number>((resolve, reject) => {
      queue.add({ item, askedAt: performance.now(), resolve, reject })
    })
  /** Asks after so many promise callbacks. */
  const askAfter = async (steps: number): Promise<number> => {
    for (let step = 0; step < steps; step++) await undefined
    return ask(steps)
  }
  let wentOn = false
  setImmediate(() => {
    wentOn = true
  })
  await Promise.all([0, 1, 20].map(askAfter))
  t.strictSame(sent, [[0, 1, 20]])
  t.notOk(wentOn)
})
