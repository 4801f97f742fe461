import type { Fact, Row, Workload } from '../bench.js'
import { ask } from '../checks.js'
import { CONTESTANTS, usual } from '../contestants.js'
import { PREFIX, secret } from '../data.js'
import { getPlan } from '../plan.js'
import type { Running } from '../processes.js'
import { type Race, ratioOf, run, type Setting, samplesOf } from '../race.js'

/** The number of heroes. The name of the first makes the body of its answer 60 bytes long. */
const HEROES = 40_000
const AUTHORIZATION = { authorization: `Bearer ${secret(PREFIX.access, 1)}` }

const BODIES = [
  { size: '60 B', path: '/heroes/1', connections: 64, floor: 0.4, goal: 0.85 },
  { size: '10 kB', path: '/heroes?limit=360', connections: 16 },
  { size: '1 MB', path: '/heroes', connections: 4 }
]

/** The same reads with and without gzip, in memory, where nothing but the compression differs. */
export const gzip: Workload = async bench => {
  const settings: Setting[] = BODIES.flatMap(({ size, path, connections }) => [
    { label: size, path, connections },
    { label: `${size}, gzip`, path, connections, gzip: true }
  ])
  const sizes = { ...usual(10_000), heroes: HEROES }
  const race: Race = {
    entrants: [{ name: 'heroes-memory', settings }],
    sizes,
    fresh: false,
    check: prepare,
    plan: (running, { path = '', gzip }) => getPlan(running, path, sizes.tokens, HEROES, gzip)
  }
  const results = await run(bench, race)
  const rows: Row[] = []
  const facts: Fact[] = []
  for (const { size, floor, goal } of BODIES) {
    const plain = samplesOf(results, 'heroes-memory', size)
    const packed = samplesOf(results, 'heroes-memory', `${size}, gzip`)
    const ratio = ratioOf(packed, plain)
    const { label } = CONTESTANTS['heroes-memory']
    rows.push({ label, setting: size, samples: plain, ratio: undefined })
    rows.push({ label: `${label}, gzip`, setting: size, samples: packed, ratio })
    if (ratio === undefined) continue
    const limits = { ...(floor !== undefined && { floor }), ...(goal !== undefined && { goal }) }
    facts.push({ what: `gzip of ${size}, × uncompressed`, value: ratio, ...limits })
  }
  return { title: 'gzip', rows, facts }
}

const prepare = async (running: Running): Promise<void> => {
  const name = 'n'.repeat(60 - '{"id":1,"name":""}'.length)
  await ask(running, '/heroes/1', {
    method: 'PUT',
    headers: { ...AUTHORIZATION, 'content-type': 'application/json' },
    body: JSON.stringify({ name })
  })
  for (const { path } of BODIES) {
    const plain = await ask(running, path, { headers: { ...AUTHORIZATION, 'accept-encoding': 'identity' } })
    const response = await fetch(running.url + path, { headers: { ...AUTHORIZATION, 'accept-encoding': 'gzip' } })
    // fetch decompresses the body, and the headers tell what was sent.
    const text = await response.text()
    const encoding = response.headers.get('content-encoding')
    const length = response.headers.get('content-length')
    if (plain.status !== 200 || text !== plain.text || encoding !== 'gzip' || length === null) {
      throw new Error(`${path}: ${response.status}, ${encoding}, content-length ${length}`)
    }
  }
}
