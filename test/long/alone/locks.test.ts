import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { serveDatabase } from '../../support/database-service.js'
import { load, quantile, statuses, type Timed } from '../../support/load.js'
import { ask, type Question } from '../../support/process.js'
import { LOGIN, loginPath, REQUEST } from '../../support/service.js'
import { ADA } from '../../support/world.js'

const LOCKED_SECONDS = 6
/** The tables that a service on a database of its own sees locked, one after the other. */
const TABLES = [
  ['hero', 'user', 'client'],
  ['grant', 'code'],
  ['token', 'attempt']
]

interface Endpoint {
  /** The tables that the endpoint reads or writes. */
  readonly tables: readonly string[]
  /** The status of its answers when all is well. */
  readonly succeeds: number
  ask(last: Timed | undefined): readonly [path: string, question: Question]
}

const testLocks = async (t: Test, locked: readonly string[]): Promise<void> => {
  const { url, sql, logIn, form } = await serveDatabase(t, { LOGIN_ATTEMPTS: '100000', REGISTER_ATTEMPTS: '100000' })
  const { headers, access } = await logIn()
  const { refresh: first } = await logIn()
  await ask(`${url}/heroes`, { headers, body: { name: 'the first' } })
  let count = 0
  let refresh = first
  const bearer = ['token', 'grant']
  const password = ['user', 'attempt', 'client', 'grant']
  const endpoints: Record<string, Endpoint> = {
    'GET /heroes/1': { tables: [...bearer, 'hero'], succeeds: 200, ask: () => ['/heroes/1', { headers }] },
    'GET /heroes': { tables: [...bearer, 'hero'], succeeds: 200, ask: () => ['/heroes?limit=2', { headers }] },
    'POST /heroes': {
      tables: [...bearer, 'hero'],
      succeeds: 200,
      ask: () => ['/heroes', { headers, body: { name: `hero ${count++}` } }]
    },
    'POST /register': {
      tables: ['user', 'attempt'],
      succeeds: 200,
      ask: () => ['/register', { body: { username: `user ${count++}`, password: 'a password' } }]
    },
    'the password grant': {
      tables: [...password, 'token'],
      succeeds: 200,
      ask: () => ['/auth/token', form(LOGIN)]
    },
    'the refresh grant': {
      tables: ['client', 'token', 'grant'],
      succeeds: 200,
      ask: last => {
        if (last?.status === 200) refresh = JSON.parse(last.body).refresh_token
        return ['/auth/token', form({ grant_type: 'refresh_token', refresh_token: refresh })]
      }
    },
    introspection: {
      tables: ['client', 'token', 'grant', 'user'],
      succeeds: 200,
      ask: () => ['/auth/introspect', form({ token: access })]
    },
    'the login page': {
      tables: ['client'],
      succeeds: 200,
      ask: () => [loginPath(), {}]
    },
    'a login on the page': {
      tables: [...password, 'code'],
      succeeds: 302,
      ask: () => ['/auth/code', { body: new URLSearchParams({ ...REQUEST, ...ADA }) }]
    },
    metadata: { tables: [], succeeds: 200, ask: () => ['/.well-known/oauth-authorization-server', {}] },
    'GET /health/ready': { tables: [], succeeds: 200, ask: () => ['/health/ready', {}] },
    'GET /health/live': { tables: [], succeeds: 200, ask: () => ['/health/live', {}] }
  }
  const loads = Object.entries(endpoints).map(([name, endpoint]) => {
    // The pauses keep requests from waiting for the processor, which would be measured too.
    const asking = load(
      2,
      last => {
        const [path, question] = endpoint.ask(last)
        return [`${url}${path}`, question]
      },
      50
    )
    return { name, ...endpoint, asking }
  })
  const take = (): Map<string, Timed[]> => new Map(loads.map(({ name, asking }) => [name, asking.take()]))

  await sleep(2000)
  take()
  await sleep(3000)
  const without = take()
  for (const table of locked) {
    const reserved = await sql.reserve()
    await reserved.unsafe(`begin; lock table "${table}"`)
    await sleep(LOCKED_SECONDS * 1000)
    await reserved.unsafe('commit')
    reserved.release()
    await sleep(1000)
    // Requests that are sent before this may have met the lock.
    const freeFrom = performance.now()
    const isFree = ({ askedAt }: Timed): boolean => askedAt >= freeFrom
    const taken = take()
    // Where the machine is busy, a registration takes seconds.
    while ([...taken.values()].some(answers => !answers.some(isFree))) {
      await sleep(1000)
      for (const [name, more] of take()) taken.get(name)?.push(...more)
    }
    for (const { name, tables, succeeds } of loads) {
      const all = taken.get(name) ?? []
      const answers = all.filter(answer => !isFree(answer))
      const slowest = quantile(answers, 1)
      const what = `${table} locked, ${name}: ${JSON.stringify(statuses(answers))}, at most ${slowest.toFixed()} ms`
      t.comment(what)
      t.ok(slowest < 5500, what)
      const after = all.filter(isFree)
      t.ok(
        after.every(({ status }) => status === succeeds),
        `${table} free again, ${name}: ${JSON.stringify(statuses(after))}`
      )
      if (tables.includes(table)) continue
      t.ok(answers.length > 0 && answers.every(({ status }) => status === succeeds), what)
      const [p90, control] = [quantile(answers, 0.9), quantile(without.get(name) ?? [], 0.9)]
      t.ok(p90 <= 2 * control + 50, `${what}: p90 ${p90.toFixed(1)} ms, ${control.toFixed(1)} without`)
    }
  }
  await Promise.all(loads.map(({ asking }) => asking.stop()))
}

t.jobs = TABLES.length
for (const locked of TABLES) {
  t.test(`when ${locked.join(', ')} are locked for six seconds each, no endpoint waits that does not use them`, t =>
    testLocks(t, locked)
  )
}
