import { Histogram } from 'prom-client'
import t from 'tap'
import type { Sample } from '../../../app/serve/metrics.js'
import { createWorkerMetrics } from '../../../app/serve/worker-metrics.js'

/** The metrics of a worker that has answered so many requests and has so many connections open. */
const samplesOf = async (requests: number, open: number): Promise<readonly Sample[]> => {
  const name = 'http_request_duration_seconds'
  const durations = new Histogram({ name, help: name, buckets: [0.1, 0.25], registers: [] })
  for (let request = 0; request < requests; request += 1) durations.observe(0.25)
  const value = (name: string, type: string, value: number, aggregator = 'sum') => ({
    name,
    help: name,
    type,
    aggregator,
    values: [{ value, labels: {} }]
  })
  return [
    value('logins_total', 'counter', requests * 10),
    value('connections', 'gauge', open),
    value('lag', 'gauge', open, 'max'),
    { ...(await durations.get()), aggregator: 'sum' }
  ]
}

const createWorkers = () => {
  const { join, read } = createWorkerMetrics()
  const metrics = async (): Promise<Record<string, number>> => {
    const { text } = await read()
    const lines = text.matchAll(/^(\w+)(?:\{(?:le="([^"]+)")?.*\})? (\S+)$/gm)
    return Object.fromEntries([...lines].map(([, name, bound, value]) => [bound ?? name, Number(value)]))
  }
  /** A worker that answers with the metrics that the test gives it. */
  const add = (requests: number, open: number) => {
    const worker = { requests, open }
    const member: ReturnType<typeof join> = join(
      () => void samplesOf(worker.requests, worker.open).then(member.receive)
    )
    return { worker, member }
  }
  return { join, read, metrics, add }
}

const NAMES = ['http_request_duration_seconds_count', 'logins_total', 'connections', 'lag'] as const

const pick = (metrics: Record<string, number>): (number | undefined)[] => NAMES.map(name => metrics[name])

t.test('counters, buckets and gauges of all workers add up, and a lag is that of the slowest', async t => {
  const { add, metrics, read } = createWorkers()
  add(3, 7)
  add(4, 2)
  const found = await metrics()
  t.strictSame(pick(found), [7, 70, 9, 7])
  t.equal(found['0.1'], 0)
  t.equal(found['0.25'], 7)
  t.match(await read(), {
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    text: /^# TYPE http_request_duration_seconds histogram\n/m
  })
})

t.test('what a worker has counted stays counted after its end, and its gauges go with it', async t => {
  const { add, metrics } = createWorkers()
  const { member } = add(3, 7)
  const { worker } = add(4, 2)
  await metrics()
  member.left()
  t.strictSame(pick(await metrics()), [7, 70, 2, 2])
  add(1, 1)
  worker.requests = 5
  t.strictSame(pick(await metrics()), [9, 90, 3, 2])
})

t.test('a worker that ends instead of answering holds no reader up', async t => {
  const { add, metrics, join } = createWorkers()
  add(3, 7)
  // A second that never ends.
  t.intercept(AbortSignal, 'timeout', { value: () => new AbortController().signal })
  const leaving = join(() => leaving.left())
  leaving.receive(await samplesOf(2, 50))
  t.strictSame(pick(await metrics()), [5, 50, 7, 7])
})

t.test('of a worker that does not answer there is what it had counted when it last did', async t => {
  const { add, metrics, join } = createWorkers()
  add(3, 7)
  const waits: number[] = []
  t.intercept(AbortSignal, 'timeout', {
    value: (milliseconds: number) => {
      waits.push(milliseconds)
      const over = new AbortController()
      setTimeout(() => over.abort(), 1)
      return over.signal
    }
  })
  let asked = 0
  const hung = join(() => {
    asked += 1
  })
  hung.receive(await samplesOf(2, 50))
  t.strictSame(pick(await metrics()), [5, 50, 7, 7])
  t.strictSame(waits, [1000, 1000])
  hung.receive(await samplesOf(9, 50))
  t.strictSame(pick(await metrics()), [12, 120, 7, 7], 'a late answer is of use to the next reader')
  t.equal(asked, 2)
})

t.test('without workers there are no metrics', async t => {
  t.equal((await createWorkers().read()).text.trim(), '')
})
