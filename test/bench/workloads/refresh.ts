import type { Fact, Workload } from '../bench.js'
import { checkRefreshes } from '../checks.js'
import { PEERS, usual } from '../contestants.js'
import { refreshPlan } from '../plan.js'
import { connectionSettings, fastest, type Race, ratioOf, rowsOf, run, samplesOf } from '../race.js'

/** The refresh grant, with as many chains as connections: each request uses the token of an earlier answer. */
export const refresh: Workload = async bench => {
  const all = connectionSettings(bench, [8, 64])
  const one = connectionSettings(bench, [64])
  // There are more chains than connections, as the load generator may make a request or two that it never sends.
  const chainsPerRun = 2 * Math.max(...all.map(({ connections }) => connections)) + 8
  const sizes = { ...usual(bench.options.rows ?? 100_000), chains: 2 * all.length * chainsPerRun + 1 }
  const race: Race = {
    entrants: [
      { name: 'a1', settings: all },
      { name: 'heroes-pg', settings: all },
      { name: 'heroes-memory', settings: one },
      { name: 'node-oauth', settings: one },
      { name: 'oidc-provider', settings: one },
      { name: 'jmondi', settings: one }
    ],
    sizes,
    fresh: true,
    check: running => checkRefreshes(running, 1),
    plan: (running, _setting, turn) => refreshPlan(running, running.contestant.tokenPath, 2 + turn * chainsPerRun)
  }
  const results = await run(bench, race)

  const ours = samplesOf(results, 'heroes-pg', '64')
  const facts: Fact[] = []
  const byHand = ratioOf(ours, samplesOf(results, 'a1', '64'))
  if (byHand !== undefined) {
    facts.push({ what: 'refresh at 64, × a transaction of four statements', value: byHand, floor: 2, goal: 4 })
  }
  const peers = ratioOf(ours, fastest(...PEERS.map(name => samplesOf(results, name, '64'))))
  if (peers !== undefined) {
    facts.push({ what: 'refresh at 64, × the fastest peer in memory', value: peers, floor: 1.2, goal: 3 })
  }
  return { title: 'refresh grant, durable', rows: rowsOf(race, results, () => 'a1'), facts }
}
