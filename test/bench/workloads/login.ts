import type { Workload } from '../bench.js'
import { checkLogins } from '../checks.js'
import { usual } from '../contestants.js'
import { loginPlan } from '../plan.js'
import { connectionSettings, type Race, rowsOf, run } from '../race.js'

/** The password grant with the default settings. Nearly all its time is hashing. */
export const login: Workload = async bench => {
  const race: Race = {
    entrants: [
      { name: 'heroes-pg', settings: connectionSettings(bench, [1, 8]) },
      { name: 'heroes-memory', settings: connectionSettings(bench, [8]) }
    ],
    sizes: usual(bench.options.rows ?? 100_000),
    fresh: true,
    check: checkLogins,
    plan: loginPlan
  }
  const results = await run(bench, race)
  return { title: 'logins (password grant)', rows: rowsOf(race, results, () => undefined), facts: [] }
}
