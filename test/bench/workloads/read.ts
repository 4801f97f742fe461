import type { Fact, Workload } from '../bench.js'
import { checkReads } from '../checks.js'
import { PEERS, usual } from '../contestants.js'
import { getPlan } from '../plan.js'
import { connectionSettings, fastest, type Race, ratioOf, rowsOf, run, samplesOf } from '../race.js'

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

  const facts: Fact[] = []
  const add = (what: string, value: number | undefined, floor?: number, goal?: number, atMost = false): void => {
    if (value === undefined) return
    facts.push({ what, value, atMost, ...(floor !== undefined && { floor }), ...(goal !== undefined && { goal }) })
  }
  const on = (label: string) => samplesOf(results, 'heroes-pg', label)
  const a1 = (label: string) => samplesOf(results, 'a1', label)
  const memory = samplesOf(results, 'heroes-memory', '64')
  const peers = fastest(...PEERS.map(name => samplesOf(results, name, '64')))
  add('PostgreSQL at 256, × a1', ratioOf(on('256'), a1('256')))
  add('PostgreSQL at 64, × a1', ratioOf(on('64'), a1('64')), 1.5, 2)
  add('PostgreSQL at 16, × a1', ratioOf(on('16'), a1('16')), 1.3, 1.7)
  add('PostgreSQL at 8, × a1', ratioOf(on('8'), a1('8')), 0.9, 1.2)
  add("PostgreSQL at 1, p50 × a1's", ratioOf(on('1'), a1('1'), 'p50'), 1.25, 1.05, true)
  add('with the request log, at 64, × a1', ratioOf(samplesOf(results, 'heroes-pg-info', '64'), a1('64')), 1, 1.4)
  add('PostgreSQL at 64, × this service in memory', ratioOf(on('64'), memory), 0.5, 0.7)
  add('PostgreSQL at 64, × the fastest peer in memory', ratioOf(on('64'), peers), 2, 5)
  add('memory at 64, × node:http in memory', ratioOf(memory, samplesOf(results, 'node-memory', '64')), 0.7, 0.85)
  return {
    title: 'GET /heroes/{id} with a random token and id',
    rows: rowsOf(race, results, name => (name === 'heroes-memory' ? 'node-memory' : 'a1')),
    facts
  }
}
