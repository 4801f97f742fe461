import { join } from 'node:path'
import { type Fact, median, type Row, type Sample, type Workload } from '../bench.js'
import { CONTESTANTS, usual } from '../contestants.js'
import { PREFIX } from '../data.js'
import type { Prepare } from '../database.js'
import { loadTokens } from '../load.js'
import { measure } from '../measure.js'
import { getPlan } from '../plan.js'
import { start } from '../processes.js'

const EXPIRED = 1_000_000
const CONNECTIONS = 16

const expired: Prepare = {
  name: 'a million expired tokens',
  async run(execute) {
    await loadTokens(execute, 2, EXPIRED + 1, {
      access: PREFIX.expired,
      refresh: 'benchexpiredrefresh',
      expires: "- interval '1 day'"
    })
    await execute('vacuum analyze')
  }
}

/** Bearer checks before and during the removal of a million expired tokens, which begins when the service starts. */
export const housekeeping: Workload = async bench => {
  const { rounds, seconds, warmUp } = bench.options
  const sizes = usual(bench.options.rows ?? 100_000)
  const folder = join(bench.folder, 'contestants')
  const before: Sample[] = []
  const during: Sample[] = []

  const clean = await bench.postgres.clone(sizes)
  const idle = await start(CONTESTANTS['heroes-pg'], { sizes, databaseUrl: clean.url, folder })
  try {
    const reads = getPlan(idle, '/heroes/{hero}', sizes.tokens, sizes.heroes)
    await measure(bench, idle, reads, CONNECTIONS, warmUp)
    for (let round = 0; round < rounds; round++) before.push(await measure(bench, idle, reads, CONNECTIONS, seconds))
  } finally {
    await idle.stop()
    await clean.drop()
  }

  bench.say('loading a million expired tokens')
  const full = await bench.postgres.clone(sizes, expired)
  await bench.postgres.forget(sizes, expired)
  const left = async (): Promise<number> =>
    Number(await full.value("select count(*)::int4 from token where expirationdate < now() - interval '1 hour'"))
  const busy = await start(CONTESTANTS['heroes-pg'], { sizes, databaseUrl: full.url, folder })
  const started = performance.now()
  let took: number
  try {
    const reads = getPlan(busy, '/heroes/{hero}', sizes.tokens, sizes.heroes)
    await measure(bench, busy, reads, CONNECTIONS, warmUp)
    const at = { rows: await left(), time: performance.now() }
    for (let rows = at.rows; rows > 0 && during.length < 10 * rounds; rows = await left()) {
      during.push(await measure(bench, busy, reads, CONNECTIONS, seconds))
      bench.say(`${rows} are left, p99 ${during.at(-1)?.p99} µs`)
    }
    const rest = await left()
    const removed = EXPIRED - rest
    took = ((performance.now() - started) / 1000 / Math.max(1, removed)) * EXPIRED
  } finally {
    await busy.stop()
    await full.drop()
  }
  const of = (samples: readonly Sample[], figure: 'rate' | 'p99'): number => median(samples.map(one => one[figure]))
  const { label } = CONTESTANTS['heroes-pg']
  const ratio = of(during, 'rate') / of(before, 'rate')
  const rows: Row[] = [
    { label, setting: '16, reads before', samples: before, ratio: undefined },
    { label, setting: '16, reads during', samples: during, ratio }
  ]
  const facts: Fact[] = [
    {
      what: 'p99 of bearer checks during, × before',
      value: of(during, 'p99') / of(before, 'p99'),
      floor: 2,
      goal: 1.5,
      atMost: true
    },
    { what: 'a million tokens removed beside them in', value: took, unit: ' s' }
  ]
  return { title: 'housekeeping of 1,000,000 expired tokens', rows, facts }
}
