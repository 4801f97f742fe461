import type { Workload } from '../bench.js'
import { checkReads } from '../checks.js'
import { PEERS, usual } from '../contestants.js'
import { getPlan } from '../plan.js'
import { connectionSettings, fact, fastest, type Race, ratioOf, rowsOf, run, samplesOf } from '../race.js'

/** `GET /heroes/{id}` with a random token and a random id. */
export const read: Workload = async bench => {
  const sizes = usual(bench.options.rows ?? 100_000)
  const all = connectionSettings(bench, [1, 8, 16, 64, 256])
  const one = connectionSettings(bench, [64])
  const race: Race = {
    entrants: [
      { name: 'a1', settings: all },
      { name: 'heroes-pg', settings: all },
      { name: 'ag', settings: all },
      { name: 'heroes-pg-info', settings: one },
      { name: 'node-memory', settings: one },
      { name: 'heroes-memory', settings: one },
      { name: 'heroes-embedded', settings: one },
      { name: 'node-oauth', settings: one },
      { name: 'oidc-provider', settings: one },
      { name: 'jmondi', settings: one }
    ],
    sizes,
    fresh: false,
    check: checkReads,
    plan: running => getPlan(running, running.contestant.readPath, sizes.tokens, sizes.heroes)
  }
  const results = await run(bench, race)

  const on = (label: string) => samplesOf(results, 'heroes-pg', label)
  const a1 = (label: string) => samplesOf(results, 'a1', label)
  const memory = samplesOf(results, 'heroes-memory', '64')
  const peers = fastest(...PEERS.map(name => samplesOf(results, name, '64')))
  const logged = samplesOf(results, 'heroes-pg-info', '64')
  const nodeMemory = samplesOf(results, 'node-memory', '64')
  const facts = [
    ...fact('PostgreSQL at 256, × a1', ratioOf(on('256'), a1('256'))),
    ...fact('PostgreSQL at 64, × a1', ratioOf(on('64'), a1('64')), { floor: 1.5, goal: 2 }),
    ...fact('PostgreSQL at 16, × a1', ratioOf(on('16'), a1('16')), { floor: 1.3, goal: 1.7 }),
    ...fact('PostgreSQL at 8, × a1', ratioOf(on('8'), a1('8')), { floor: 0.9, goal: 1.2 }),
    ...fact('with the request log, at 64, × a1', ratioOf(logged, a1('64')), { floor: 1, goal: 1.4 }),
    ...fact('PostgreSQL at 64, × this service in memory', ratioOf(on('64'), memory), { floor: 0.5, goal: 0.7 }),
    ...fact('PostgreSQL at 64, × the fastest peer in memory', ratioOf(on('64'), peers), { floor: 2, goal: 5 }),
    ...fact("PostgreSQL at 64, Node µs × node:http's in memory", ratioOf(on('64'), nodeMemory, 'nodeCpu'), {
      floor: 1.45,
      goal: 1.25,
      atMost: true
    }),
    ...fact('memory at 64, × node:http in memory', ratioOf(memory, nodeMemory), { floor: 0.8, goal: 0.9 })
  ]
  return {
    title: 'GET /heroes/{id} with a random token and id',
    rows: rowsOf(race, results, name => (name === 'heroes-memory' ? 'node-memory' : 'a1')),
    facts
  }
}
