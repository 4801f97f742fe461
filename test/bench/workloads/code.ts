import type { Workload } from '../bench.js'
import { checkCodes } from '../checks.js'
import { usual } from '../contestants.js'
import { codePlan } from '../plan.js'
import { connectionSettings, fact, type Race, ratioOf, rowsOf, run, runsIn, samplesOf } from '../race.js'

/** No contestant exchanges so many codes in a second. */
const CODES_PER_SECOND = 30_000

/** The exchange of codes that are in the database beforehand: to issue a code takes a login, whose hashing would hide the rest. */
export const code: Workload = async bench => {
  const { rows = 100_000, seconds, warmUp } = bench.options
  const settings = connectionSettings(bench, [64])
  const warmUps = settings.length
  /** The number of the run's first code. */
  const firstOf = (number: number): number => {
    const time = Math.min(number, warmUps) * warmUp + Math.max(0, number - warmUps) * seconds
    return 2 + time * CODES_PER_SECOND
  }
  const sizes = { ...usual(rows), codes: firstOf(runsIn(settings)) }
  const race: Race = {
    entrants: [
      { name: 'a1', settings },
      { name: 'heroes-pg', settings }
    ],
    sizes,
    fresh: true,
    check: running => checkCodes(running, 1),
    plan: (_running, _setting, number) => codePlan(firstOf(number))
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
