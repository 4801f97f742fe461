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
      { name: 'heroes-pg', settings },
      { name: 'heroes-memory', settings: connectionSettings(bench, [64]) }
    ],
    sizes,
    fresh: true,
    check: checkCreates,
    plan: () => createPlan(sizes.tokens)
  }
  const results = await run(bench, race)
  const ours = (label: string) => samplesOf(results, 'heroes-pg', label)
  const byHand = (label: string) => ratioOf(ours(label), samplesOf(results, 'a1', label))
  return {
    title: 'POST /heroes, durable',
    rows: rowsOf(race, results, () => 'a1'),
    facts: [
      ...fact(
        "POST /heroes at 1, p50 × one statement's by hand",
        ratioOf(ours('1'), samplesOf(results, 'a1', '1'), 'p50'),
        {
          floor: 1.3,
          goal: 1.1,
          atMost: true
        }
      ),
      ...fact('POST /heroes at 4, × one statement by hand', byHand('4'), { floor: 1, goal: 1.3 }),
      ...fact('POST /heroes at 8, × the same', byHand('8'), { floor: 1, goal: 1.3 }),
      ...fact('POST /heroes at 64, × the same', byHand('64'), { floor: 1.8, goal: 2.5 })
    ]
  }
}
