import type { Workload } from '../bench.js'
import { checkCreates } from '../checks.js'
import { usual } from '../contestants.js'
import { createPlan } from '../plan.js'
import { connectionSettings, fact, type Race, ratioOf, rowsOf, run, samplesOf } from '../race.js'

/** `POST /heroes`. A hero is on the disk before the answer. */
export const create: Workload = async bench => {
  const sizes = usual(bench.options.rows ?? 100_000)
  const settings = connectionSettings(bench, [1, 4, 8, 64])
  const race: Race = {
    entrants: [
      { name: 'a1', settings },
      { name: 'af', settings },
      { name: 'heroes-pg', settings },
      { name: 'heroes-memory', settings: connectionSettings(bench, [64]) }
    ],
    sizes,
    fresh: true,
    check: checkCreates,
    plan: () => createPlan(sizes.tokens)
  }
  const results = await run(bench, race)
  const times = (label: string, hand: 'a1' | 'af', figure: 'rate' | 'p50' = 'rate') =>
    ratioOf(samplesOf(results, 'heroes-pg', label), samplesOf(results, hand, label), figure)
  return {
    title: 'POST /heroes, durable',
    rows: rowsOf(race, results, () => 'a1'),
    facts: [
      ...fact('POST /heroes at 1, p50 × that by hand on Fastify', times('1', 'af', 'p50'), {
        floor: 1.3,
        goal: 1.1,
        atMost: true
      }),
      ...fact('POST /heroes at 4, × by hand on Fastify', times('4', 'af'), { floor: 1, goal: 1.3 }),
      ...fact('POST /heroes at 8, × the same', times('8', 'af'), { floor: 1, goal: 1.3 }),
      ...fact('POST /heroes at 64, × the same', times('64', 'af'), { floor: 1.8, goal: 2.5 }),
      ...fact('POST /heroes at 1, p50 × that by hand on node:http', times('1', 'a1', 'p50')),
      ...fact('POST /heroes at 4, × by hand on node:http', times('4', 'a1')),
      ...fact('POST /heroes at 8, × the same', times('8', 'a1')),
      ...fact('POST /heroes at 64, × the same', times('64', 'a1'))
    ]
  }
}
