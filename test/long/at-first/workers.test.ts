import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { serveDatabase } from '../../support/database-service.js'
import { load, statuses, type Timed } from '../../support/load.js'
import { createDatabase, setDatabase } from '../../support/postgres.js'
import { ask, keptConnection, type RunningService, serveProcess } from '../../support/process.js'
import { linesOf, workersOf } from '../../support/workers.js'

/** Which worker answered each request, by the log. A worker that was killed has not written its latest lines. */
const answersOf = (service: RunningService): ReadonlyMap<number, number> => {
  const counts = new Map<number, number>()
  for (const { worker, path } of linesOf(service)) {
    if (path !== undefined) counts.set(Number(worker), (counts.get(Number(worker)) ?? 0) + 1)
  }
  return counts
}

/**
 * Sends reads, writes and `/health/ready` over so many connections, each of which is opened anew when it ends, until it
 * is stopped. Resolves to the answers and to the requests that got none.
 */
const loadGently = (
  service: { readonly url: string },
  headers: Readonly<Record<string, string>>,
  connections: number
) => {
  let stopping = false
  const answers: Pick<Timed, 'status'>[] = []
  const lost: unknown[] = []
  const acknowledged: string[] = []
  const work = async (connection: number): Promise<void> => {
    let agent = keptConnection()
    for (let count = 0; !stopping; count += 1) {
      const name = `hero ${connection} ${count}`
      try {
        const answer = await (count % 3 === 0
          ? ask(`${service.url}/heroes`, { headers, body: { name }, agent })
          : ask(`${service.url}/heroes?limit=1`, { headers, agent }))
        answers.push(answer)
        if (count % 3 === 0 && answer.status === 200) acknowledged.push(name)
      } catch (error) {
        lost.push(Object(error).code)
        agent.destroy()
        agent = keptConnection()
      }
      await sleep(2)
    }
    agent.destroy()
  }
  const working = Promise.all(Array.from({ length: connections }, (_, connection) => work(connection)))
  return {
    answers,
    lost,
    acknowledged,
    async stop() {
      stopping = true
      await working
    }
  }
}

const start = async (t: Test, settings: Readonly<Record<string, string>> = {}) => {
  const service = await serveDatabase(t, { WORKERS: '2', DATABASE_POOL: '5', HASH_CONCURRENCY: '1', ...settings })
  const workers = await workersOf(service, 2)
  return { service, workers, ...(await service.logIn()) }
}

t.test(
  'workers killed under load, one after another, are replaced, and every connection but theirs goes on',
  async t => {
    const { service, headers } = await start(t)
    const { answers, lost, acknowledged, stop } = loadGently(service, headers, 20)
    const kills = 2
    for (let kill = 0; kill < kills; kill += 1) {
      const before = await workersOf(service, 2 + kill)
      const answered = answers.length
      while (answers.length < answered + 200) await sleep(10)
      process.kill(Number(before.get(1 + (kill % 2))), 'SIGKILL')
      const others = answers.length
      while (answers.length < others + 100) await sleep(10)
    }
    await workersOf(service, 2 + kills)
    await sleep(1000)
    await stop()
    t.strictSame(Object.keys(statuses(answers)), ['200'])
    t.comment(`${answers.length} answers, ${lost.length} connections lost with ${kills} workers`)
    t.ok(lost.length <= kills * 20, 'no connection is lost but those of workers that were killed')
    t.ok(lost.length > 0)
    const [{ count } = { count: 0 }] =
      await service.sql`select count(*)::int from hero where name = any(${acknowledged})`
    t.equal(count, acknowledged.length, 'every write that was acknowledged is there')
    t.equal(await service.stop(), 0)
    t.strictSame([...answersOf(service).keys()].sort(), [1, 2], 'both workers answer')
  }
)

t.test('a worker that hangs holds up neither the others nor a scrape, and is killed at the end', async t => {
  const { service, workers, headers } = await start(t, { METRICS_PORT: '0' })
  const [, port] = await service.until(/"port":(\d+),"msg":"metrics listening"/)
  const agent = keptConnection()
  t.teardown(() => agent.destroy())
  for (let request = 0; request < 100; request += 1) await ask(`${service.url}/heroes`, { headers })
  const counted = async (): Promise<number> => {
    const { status, body } = await ask(`http://127.0.0.1:${port}/metrics`)
    t.equal(status, 200)
    const counts = [...body.matchAll(/^http_request_duration_seconds_count\{.*route="\/heroes".*\} (\d+)$/gm)]
    return counts.reduce((sum, [, count]) => sum + Number(count), 0)
  }
  t.equal(await counted(), 100)
  process.kill(Number(workers.get(2)), 'SIGSTOP')
  t.teardown(() => {
    try {
      process.kill(Number(workers.get(2)), 'SIGKILL')
    } catch {
      // It has ended.
    }
  })
  for (let request = 0; request < 50; request += 1) {
    t.equal((await ask(`${service.url}/heroes`, { headers })).status, 200)
  }
  t.equal(await counted(), 150)
  t.equal(await service.stop(), 1, 'one that does not end makes the exit code 1')
  t.match(service.output(), /"level":50,[^\n]*"worker":2,"signal":"SIGKILL","msg":"a worker has not ended well"/)
})

t.test('SIGTERM under load fails no request that was sent, and both workers say that the connection ends', async t => {
  const answering = new Set<number>()
  // The kernel gives a connection to whichever worker is free, so that all of one round may go to one.
  for (let round = 0; answering.size < 2 && round < 5; round += 1) {
    const { service, headers } = await start(t, { DRAIN_DELAY: '1' })
    const failed: unknown[] = []
    let answered = 0
    const clients = Array.from({ length: 20 }, async () => {
      const agent = keptConnection()
      for (;;) {
        const answer = await ask(`${service.url}/heroes?limit=1`, { headers, agent }).catch((error: unknown) => {
          failed.push(Object(error).code)
          return undefined
        })
        if (answer?.status !== 200) failed.push(answer?.status)
        answered += 1
        // A client that was told goes to another instance.
        if (answer === undefined || answer.headers.connection === 'close') break
      }
      agent.destroy()
    })
    while (answered < 500) await sleep(10)
    const ending = service.stop('SIGTERM')
    await Promise.all(clients)
    t.strictSame(failed, [])
    t.equal(await ending, 0)
    for (const worker of answersOf(service).keys()) answering.add(worker)
  }
  t.strictSame([...answering].sort(), [1, 2])
})

t.test('when every worker is killed at once, the service is back on its port', async t => {
  const { service, workers, headers } = await start(t)
  for (const pid of workers.values()) process.kill(pid, 'SIGKILL')
  await workersOf(service, 4)
  t.equal((await ask(`${service.url}/heroes`, { headers })).status, 200)
  t.equal(await service.stop(), 0)
})

t.test('when the first process is killed, the workers end and the port is free', async t => {
  const { service, workers } = await start(t)
  service.child.kill('SIGKILL')
  await service.ended
  const runs = (pid: number): boolean => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }
  while ([...workers.values()].some(runs)) await sleep(20)
  const { port } = new URL(service.url)
  const next = await serveProcess(t, { ...service.env, PORT: port })
  t.equal(await next.stop(), 0, next.output())
})

t.test('SIGINT to every process, as from a terminal, drains once, and a second one ends DRAIN_DELAY', async t => {
  const { service, workers } = await start(t, { DRAIN_DELAY: '3600' })
  const all = [Number(service.child.pid), ...workers.values()]
  for (const pid of all) process.kill(pid, 'SIGINT')
  for (const worker of [1, 2]) await service.until(new RegExp(`"worker":${worker},"seconds":3600,"msg":"not ready, `))
  await sleep(1500)
  t.match(await ask(`${service.url}/health/ready`), { status: 503 }, 'still in the delay')
  for (const pid of all) process.kill(pid, 'SIGINT')
  t.equal(await service.ended, 0)
})

t.test('started on a standby, the workers answer 503 until the database takes writes, and migrate once', async t => {
  const { url: DATABASE_URL, drop } = await createDatabase()
  t.teardown(drop)
  await setDatabase(DATABASE_URL, 'set default_transaction_read_only = on')
  const service = await serveProcess(t, { DATABASE_URL, WORKERS: '2', DATABASE_POOL: '2' })
  await workersOf(service, 2)
  for (let request = 0; request < 10; request += 1) {
    t.match(await ask(`${service.url}/health/ready`), { status: 503 })
  }
  await setDatabase(DATABASE_URL, 'reset default_transaction_read_only')
  await service.until(/"worker":1,"seconds":\d+,"msg":"the database takes writes"/)
  const ready = async (): Promise<boolean> => (await ask(`${service.url}/health/ready`)).status === 200
  // A new connection goes to either worker.
  for (let inARow = 0; inARow < 10; inARow = (await ready()) ? inARow + 1 : 0);
  t.equal(await service.stop(), 0)
})

t.test('the lines of several workers come whole through one pipe', async t => {
  const { service, headers } = await start(t)
  const { take, stop } = load(16, () => [`${service.url}/heroes?limit=1`, { headers }])
  for (let answered = 0; answered < 5000; answered += take().length) await sleep(20)
  await stop()
  t.equal(await service.stop(), 0)
  const lines = service.output().trimEnd().split('\n')
  t.strictSame(
    lines.filter(line => !/^\{.*\}$/.test(line)),
    []
  )
  for (const line of lines) JSON.parse(line)
  t.ok(lines.length > 5000)
})
