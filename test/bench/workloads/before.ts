import type { Fact, Workload } from '../bench.js'
import { checkCreates, checkReads, checkRefreshes } from '../checks.js'
import { type ContestantName, usual } from '../contestants.js'
import { createPlan, getPlan, refreshPlan } from '../plan.js'
import { connectionSettings, type Race, ratioOf, rowsOf, run, runsIn, samplesOf } from '../race.js'

/** What a change of the code may cost: no figure below this, as a ratio to the checkout that `--before` names. */
const FLOOR = 0.95

/** Reads, new heroes and refreshes of this checkout beside those of another. */
export const before: Workload = async bench => {
  if (bench.options.before === undefined) throw new Error('--before FOLDER is missing')
  const sizes = usual(bench.options.rows ?? 100_000)
  const many = connectionSettings(bench, [1, 8, 16, 64])
  const writes = connectionSettings(bench, [8, 64])
  const chainsPerRun = 2 * Math.max(...writes.map(({ connections }) => connections)) + 8
  const pairs: readonly (readonly [ContestantName, ContestantName])[] = [
    ['heroes-pg', 'heroes-pg-before'],
    ['heroes-memory', 'heroes-memory-before']
  ]
  const race = (settings: Race['entrants'][number]['settings'], memory = settings): Race['entrants'] =>
    pairs.flatMap(([now, other]) => {
      const own = now === 'heroes-memory' ? memory : settings
      return own.length === 0
        ? []
        : [
            { name: now, settings: own },
            { name: other, settings: own }
          ]
    })
  const races: Readonly<Record<string, Race>> = {
    'GET /heroes/{id}': {
      entrants: race(many, connectionSettings(bench, [64])),
      sizes,
      fresh: false,
      check: checkReads,
      plan: running => getPlan(running, running.contestant.readPath, sizes.tokens, sizes.heroes)
    },
    'GET /heroes/{id} with gzip': {
      entrants: race(connectionSettings(bench, [64]), []),
      sizes,
      fresh: false,
      check: checkReads,
      plan: running => getPlan(running, running.contestant.readPath, sizes.tokens, sizes.heroes, true)
    },
    'POST /heroes': {
      entrants: race(writes, []),
      sizes,
      fresh: true,
      check: checkCreates,
      plan: () => createPlan(sizes.tokens)
    },
    refresh: {
      entrants: race(writes, []),
      sizes: { ...sizes, chains: runsIn(writes) * chainsPerRun + 1 },
      fresh: true,
      check: running => checkRefreshes(running, 1),
      plan: (running, _setting, number) => refreshPlan(running, running.contestant.tokenPath, 2 + number * chainsPerRun)
    }
  }
  const rows = []
  const facts: Fact[] = []
  for (const [what, each] of Object.entries(races)) {
    const results = await run(bench, each)
    const labelled = rowsOf(each, results, name => pairs.find(([now]) => now === name)?.[1])
    rows.push(...labelled.map(row => ({ ...row, label: `${what}: ${row.label}` })))
    for (const [now, other] of pairs) {
      for (const { label } of each.entrants.find(({ name }) => name === now)?.settings ?? []) {
        const ratio = ratioOf(samplesOf(results, now, label), samplesOf(results, other, label))
        if (ratio !== undefined) {
          facts.push({ what: `${what}, ${now} at ${label}, × the other checkout`, value: ratio, floor: FLOOR })
        }
      }
    }
  }
  return { title: 'This checkout beside another', rows, facts }
}
