import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Sample, Workload } from '../bench.js'
import { checkReads } from '../checks.js'
import { CONTESTANTS, usual } from '../contestants.js'
import { measure } from '../measure.js'
import { getPlan } from '../plan.js'
import { type Running, start, track } from '../processes.js'
import { fact, ratioOf } from '../race.js'

const CONNECTIONS = 64

/**
 * What real clients see of reads: through TLS, which ends in a process in front, and from `fetch`. Both contestants run all
 * the time and are loaded in turns. Front and client have the core of the load, and take most of it.
 */
export const clients: Workload = async bench => {
  const { rounds, seconds, warmUp } = bench.options
  const sizes = usual(bench.options.rows ?? 100_000)
  const clone = await bench.postgres.clone(sizes)
  const options = { sizes, databaseUrl: clone.url, folder: join(bench.folder, 'contestants') }
  const entrants = [await enter('a1'), await enter('heroes-pg')] as const

  async function enter(name: 'a1' | 'heroes-pg') {
    const running = await start(CONTESTANTS[name], options)
    const front = await startFront(running)
    const plan = getPlan(running, running.contestant.readPath, sizes.tokens, sizes.heroes)
    const ways = [
      { way: 'plain', target: running, plan, samples: [] as Sample[] },
      { way: 'TLS', target: { ...running, url: front.url }, plan, samples: [] as Sample[] },
      { way: 'fetch', target: running, plan: { ...plan, client: 'fetch' as const }, samples: [] as Sample[] }
    ]
    return { running, front, ways }
  }

  try {
    for (const { running, ways } of entrants) {
      await checkReads(running)
      for (const { target, plan } of ways) await measure(bench, target, plan, CONNECTIONS, warmUp)
    }
    for (let round = 0; round < rounds; round++) {
      for (const { running, ways } of round % 2 === 0 ? entrants : entrants.toReversed()) {
        for (const { way, target, plan, samples } of ways) {
          const sample = await measure(bench, target, plan, CONNECTIONS, seconds)
          samples.push(sample)
          bench.say(`round ${round + 1}: ${running.contestant.name}, ${way}: ${Math.round(sample.rate)}/s`)
        }
      }
    }
  } finally {
    for (const { running, front } of entrants) {
      front.stop()
      await running.stop()
    }
    await clone.drop()
  }
  const [byHand, heroes] = entrants.map(({ ways }) => ways)
  const ratios = (heroes ?? []).map(({ samples }, index) => ratioOf(samples, byHand?.[index]?.samples ?? []))
  return {
    title: 'reads over TLS and by fetch',
    rows: entrants.flatMap(({ running, ways }) =>
      ways.map(({ way, samples }, index) => ({
        label: running.contestant.label,
        setting: `${CONNECTIONS}, ${way}`,
        samples,
        ratio: ways === heroes ? ratios[index] : undefined
      }))
    ),
    facts: ratios.flatMap((ratio, index) => fact(`reads, ${heroes?.[index]?.way}, × by hand`, ratio))
  }
}

const startFront = async ({ url }: Running) => {
  const program = fileURLToPath(new URL('../tls-front.ts', import.meta.url))
  const child = track(
    spawn(process.execPath, ['--import', 'tsx', program, new URL(url).port], { stdio: ['ignore', 'pipe', 'inherit'] })
  )
  const [port] = await once(createInterface({ input: child.stdout }), 'line')
  return { url: `https://127.0.0.1:${port}`, stop: () => child.kill() }
}
