import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { serveDatabase } from '../../support/database-service.js'
import { flood } from '../../support/flood.js'
import { load, statuses } from '../../support/load.js'
import { ask } from '../../support/process.js'
import { residentMemory } from '../../support/resident.js'
import { basic, bearer, type Tokens } from '../../support/service.js'
import { FORM_TYPE, JSON_TYPE, requestText } from '../../support/wire.js'
import { ADA } from '../../support/world.js'

const FIRST = 50_000
const REQUESTS = 250_000
/** By how much the memory may grow, as a part. */
const MOST_MORE = 0.1
const COLLECTIONS = 3

t.test('after 250,000 mixed requests the process takes as much memory as after 50,000', async t => {
  const service = await serveDatabase(t, {
    NODE_OPTIONS: `--import=${import.meta.resolve('../../support/collect.mjs')}`
  })
  const { url, logIn, form } = service
  // The lines of the requests are read and forgotten.
  service.child.stdout?.removeAllListeners('data').resume()
  const { headers, access } = await logIn()
  for (let i = 1; i <= 100; i++) await ask(`${url}/heroes`, { headers, body: { name: `hero ${i}` } })

  const json = { ...headers, ...JSON_TYPE }
  const token = { ...basic('app'), ...FORM_TYPE }
  const name = (text: string) => JSON.stringify({ name: text })
  const kinds: readonly (readonly [share: number, request: (n: number) => string])[] = [
    [60, n => requestText('GET', `/heroes/${(n % 100) + 1}`, headers)],
    [6, n => requestText('GET', `/heroes?limit=10&after=${n % 100}`, headers)],
    [2, n => requestText('GET', `/heroes?name=${n % 100}&limit=5`, headers)],
    [2, n => requestText('GET', `/heroes/${(n % 100) + 1}`, { ...headers, 'accept-encoding': 'gzip' })],
    [5, n => requestText('GET', '/heroes/1', bearer(access.slice(0, 24) + String(n).padStart(8, '0')))],
    [4, n => requestText('GET', `/nothing/${n}`, headers)],
    [3, n => requestText('GET', `/heroes/x${n}`, headers)],
    [3, n => requestText('POST', '/heroes', json, `{"name":${n}}`)],
    [2, n => requestText('POST', '/register', JSON_TYPE, JSON.stringify({ username: `user ${n}` }))],
    [2, n => requestText('POST', '/auth/token', token, `grant_type=refresh_token&refresh_token=${n}`)],
    [2, n => requestText('GET', `/auth/code?client_id=app&response_type=code&state=${n}`, {})],
    [2, () => requestText('GET', '/health/ready', {})],
    [2, n => requestText('POST', '/auth/introspect', token, `token=${n % 2 === 0 ? access : n}`)],
    [2, n => requestText('POST', '/heroes', json, name(`a new one ${n}`))],
    [2, n => requestText('PUT', `/heroes/${(n % 5000) + 101}`, json, name(`another ${n}`))],
    [1, n => requestText('DELETE', `/heroes/${(n % 5000) + 101}`, headers)]
  ]
  const deck = kinds.flatMap(([share, request]) => Array.from({ length: share }, () => request))
  let count = 0
  const next = (): string => {
    const n = count++
    // 61 and the length of the deck have no common divisor, so that the kinds alternate.
    return deck[(n * 61) % deck.length]?.(n) ?? ''
  }
  t.equal(deck.length, 100)
  const mixed = flood(url, { connections: 32, pipelined: 4, next })
  t.teardown(() => mixed.stop())

  /** Refreshes the tokens of one login, one after the other, and logs in anew now and then. */
  const chains = load(
    4,
    last => {
      const { refresh_token }: Partial<Tokens> = last?.status === 200 ? JSON.parse(last.body) : {}
      if (refresh_token === undefined || Math.random() < 0.01)
        return [`${url}/auth/token`, form({ grant_type: 'password', ...ADA })]
      return [`${url}/auth/token`, form({ grant_type: 'refresh_token', refresh_token })]
    },
    5
  )

  const found: Record<number, number> = {}
  let answered = 0
  const reach = async (goal: number): Promise<void> => {
    while (answered < goal) {
      await sleep(100)
      const answers = [...mixed.take(), ...chains.take()]
      answered += answers.length
      for (const [status, more] of Object.entries(statuses(answers))) {
        found[Number(status)] = (found[Number(status)] ?? 0) + more
      }
    }
  }
  /** What the process keeps, in bytes: the least after several collections of its garbage. */
  const measure = async (): Promise<number> => {
    let kept = Number.POSITIVE_INFINITY
    for (let collection = 0; collection < COLLECTIONS; collection++) {
      service.child.kill('SIGUSR2')
      if (service.child.stderr) await once(service.child.stderr, 'data')
      kept = Math.min(kept, residentMemory(service).present)
      await sleep(300)
    }
    t.comment(`${answered} answers, ${inMegabytes(kept)} kept, ${inMegabytes(residentMemory(service).peak)} at most`)
    return kept
  }

  await reach(FIRST)
  const first = await measure()
  await reach(REQUESTS / 2)
  const half = await measure()
  await reach(REQUESTS)
  const last = await measure()
  await chains.stop()
  t.strictSame(Object.keys(found), ['200', '204', '400', '401', '404'], JSON.stringify(found))
  const told = `${[first, half, last].map(inMegabytes)}`
  t.ok(last <= (1 + MOST_MORE) * first, told)
  t.ok(last <= (1 + MOST_MORE) * half, told)
})

const inMegabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed()} MB`
