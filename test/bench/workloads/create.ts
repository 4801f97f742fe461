import type { Workload } from '../bench.js'
import { checkCreates } from '../checks.js'
import { usual } from '../contestants.js'
import { createPlan } from '../plan.js'
import { connectionSettings, type Race, ratioOf, rowsOf, run, samplesOf } from '../race.js'

/** `POST /heroes`. A hero is on the disk before the answer. */
export const create: Workload = async bench => {
  const sizes = usual(bench.options.rows ?? 100_000)
  const settings = connectionSettings(bench, [1, 16, 64])
  const race: Race = {
    entrants: [
      { name: 'a1', settings },
      { name: 'heroes-pg', settings },
      { name: 'heroes-memory', settings: connectionSettings(bench, [64]) }
    ],
    sizes,
    fresh: true,
    check: checkCreates,
    plan: () => createPlan(sizes.tokens)
  }
  const results = await run(bench, race)
  const value = ratioOf(samplesOf(results, 'heroes-pg', '64'), samplesOf(results, 'a1', '64'))
  return {
    title: 'POST /heroes, durable',
    rows: rowsOf(race, results, () => 'a1'),
    facts:
      value === undefined
        ? []
        : [{ what: 'POST /heroes at 64, × the one-statement hand-written form', value, floor: 1, goal: 2 }]
  }
}
