import type { Workload } from '../bench.js'
import { checkCodes } from '../checks.js'
import { usual } from '../contestants.js'
import { codePlan } from '../plan.js'
import { connectionSettings, fact, type Race, ratioOf, rowsOf, run, samplesOf } from '../race.js'

/** No contestant exchanges so many codes in a second. */
const CODES_PER_SECOND = 30_000

/** The exchange of codes that are in the database beforehand: to issue a code takes a login, whose hashing would hide the rest. */
export const code: Workload = async bench => {
  const { rows = 100_000, seconds, warmUp } = bench.options
  const settings = connectionSettings(bench, [64])
  const perSetting = (warmUp + seconds) * CODES_PER_SECOND
  const sizes = { ...usual(rows), codes: settings.length * perSetting + 1 }
  const race: Race = {
    entrants: [
      { name: 'a1', settings },
      { name: 'heroes-pg', settings }
    ],
    sizes,
    fresh: true,
    check: running => checkCodes(running, 1),
    plan: (_running, _setting, turn) => {
      const timed = turn % 2 === 1 ? warmUp * CODES_PER_SECOND : 0
      return codePlan(2 + Math.floor(turn / 2) * perSetting + timed)
    }
  }
  const results = await run(bench, race)
  await bench.postgres.forget(sizes)
  const byHand = ratioOf(samplesOf(results, 'heroes-pg', '64'), samplesOf(results, 'a1', '64'))
  return {
    title: 'code exchange, durable',
    rows: rowsOf(race, results, () => 'a1'),
    facts: fact('code exchange at 64, × a transaction of four statements', byHand, { floor: 2, goal: 3 })
  }
}
