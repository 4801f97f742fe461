import type { Workload } from '../bench.js'
import { checkRefreshes } from '../checks.js'
import { PEERS, usual } from '../contestants.js'
import { refreshPlan } from '../plan.js'
import { connectionSettings, fact, fastest, type Race, ratioOf, rowsOf, run, runsIn, samplesOf } from '../race.js'

/** The refresh grant, with as many chains as connections: each request uses the token of an earlier answer. */
export const refresh: Workload = async bench => {
  const all = connectionSettings(bench, [1, 4, 8, 64])
  const one = connectionSettings(bench, [64])
  // There are more chains than connections, as the load generator may make a request or two that it never sends.
  const chainsPerRun = 2 * Math.max(...all.map(({ connections }) => connections)) + 8
  const sizes = { ...usual(bench.options.rows ?? 100_000), chains: runsIn(all) * chainsPerRun + 1 }
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
    plan: (running, _setting, number) => refreshPlan(running, running.contestant.tokenPath, 2 + number * chainsPerRun)
  }
  const results = await run(bench, race)

  const ours = (label: string) => samplesOf(results, 'heroes-pg', label)
  const byHand = (label: string) => ratioOf(ours(label), samplesOf(results, 'a1', label))
  const peers = fastest(...PEERS.map(name => samplesOf(results, name, '64')))
  const facts = [
    ...fact("refresh at 1, p50 × a transaction's of four", ratioOf(ours('1'), samplesOf(results, 'a1', '1'), 'p50'), {
      floor: 1.1,
      goal: 0.9,
      atMost: true
    }),
    ...fact('refresh at 4, × a transaction of four statements', byHand('4'), { floor: 1, goal: 1.5 }),
    ...fact('refresh at 8, × the same', byHand('8'), { floor: 1, goal: 1.5 }),
    ...fact('refresh at 64, × the same', byHand('64'), { floor: 2.7, goal: 4 }),
    ...fact('refresh at 64, × the fastest peer in memory', ratioOf(ours('64'), peers), { floor: 2, goal: 3 })
  ]
  return { title: 'refresh grant, durable', rows: rowsOf(race, results, () => 'a1'), facts }
}
