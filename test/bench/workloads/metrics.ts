import { join } from 'node:path'
import type { Sample, Workload } from '../bench.js'
import { checkReads } from '../checks.js'
import { CONTESTANTS, usual } from '../contestants.js'
import { measure } from '../measure.js'
import { getPlan } from '../plan.js'
import { start } from '../processes.js'
import { ratioOf } from '../race.js'

const CONNECTIONS = 64

/**
 * Reads without and with the figures of METRICS_PORT. Both processes run all the time and are loaded in turns, so that
 * whatever else the machine does meets both alike.
 */
export const metrics: Workload = async bench => {
  const { rounds, seconds, warmUp } = bench.options
  const sizes = usual(bench.options.rows ?? 100_000)
  const clone = await bench.postgres.clone(sizes)
  const options = { sizes, databaseUrl: clone.url, folder: join(bench.folder, 'contestants') }
  const without = await start(CONTESTANTS['heroes-pg'], options)
  const within = await start(CONTESTANTS['heroes-pg-metrics'], options)
  const entrants = [
    { running: without, samples: [] as Sample[] },
    { running: within, samples: [] as Sample[] }
  ] as const
  try {
    for (const { running } of entrants) {
      await checkReads(running)
      const plan = getPlan(running, running.contestant.readPath, sizes.tokens, sizes.heroes)
      await measure(bench, running, plan, CONNECTIONS, warmUp)
    }
    for (let round = 0; round < rounds; round++) {
      for (const { running, samples } of round % 2 === 0 ? entrants : entrants.toReversed()) {
        const plan = getPlan(running, running.contestant.readPath, sizes.tokens, sizes.heroes)
        samples.push(await measure(bench, running, plan, CONNECTIONS, seconds))
      }
      const [off, on] = entrants.map(({ samples }) => Math.round(samples.at(-1)?.rate ?? 0))
      bench.say(`round ${round + 1}: ${off}/s without figures, ${on}/s with them`)
    }
  } finally {
    for (const { running } of entrants) await running.stop()
    await clone.drop()
  }
  const [off, on] = entrants
  const ratio = ratioOf(on.samples, off.samples) ?? Number.NaN
  const setting = `${CONNECTIONS}`
  return {
    title: 'reads with METRICS_PORT, beside reads without',
    rows: [
      { label: off.running.contestant.label, setting, samples: off.samples, ratio: undefined },
      { label: on.running.contestant.label, setting, samples: on.samples, ratio }
    ],
    facts: [{ what: 'reads kept with METRICS_PORT', value: ratio, floor: 0.95 }]
  }
}
