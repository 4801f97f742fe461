import { createPasswordHasher } from '../../../adapters/crypto/argon2.js'
import type { Workload } from '../bench.js'
import { checkLogins } from '../checks.js'
import { usual } from '../contestants.js'
import { CHEAPEST, PASSWORD } from '../data.js'
import { loginPlan } from '../plan.js'
import { connectionSettings, fact, type Race, ratioOf, rowsOf, run, samplesOf } from '../race.js'

/** The password grant with hashes that cost next to nothing: what a login is beside its hash. */
export const password: Workload = async bench => {
  const settings = connectionSettings(bench, [64])
  const { hash, salt } = await createPasswordHasher({ parameters: CHEAPEST }).hash(PASSWORD)
  const race: Race = {
    entrants: [
      { name: 'a1', settings },
      { name: 'heroes-pg-cheap', settings }
    ],
    sizes: usual(bench.options.rows ?? 100_000),
    prepare: {
      name: 'cheapest hashes',
      async run(execute) {
        await execute(`update "user" set hashedpassword = '${hash}', salt = '${salt}'`)
      }
    },
    fresh: true,
    check: checkLogins,
    plan: loginPlan
  }
  const results = await run(bench, race)
  const byHand = ratioOf(samplesOf(results, 'heroes-pg-cheap', '64'), samplesOf(results, 'a1', '64'))
  return {
    title: 'password grant without the hash, durable',
    rows: rowsOf(race, results, () => 'a1'),
    facts: fact('password grant without the hash at 64, × a transaction by hand', byHand, { floor: 1.5, goal: 2.5 })
  }
}
