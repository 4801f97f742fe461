import { HEROES } from './contestants.js'
import type { Sizes } from './data.js'
import { median } from './figures.js'
import { type Bench, entrantsOf, medianTime, type Race, type Result, rate, run, type Setting, tableOf } from './race.js'
import type { Plan } from './requests.js'

const LOGINS = 'logins'
const ALONE = 'reads alone'
const BESIDE = 'reads beside logins'

const reads = ({ heroes, tokens }: Sizes): Plan => ({
  kind: 'reads',
  connections: 64,
  heroes,
  tokens
})

const SETTINGS: readonly Setting[] = [
  { label: LOGINS, plans: () => [{ kind: 'logins', connections: 8 }] },
  { label: ALONE, plans: sizes => [reads(sizes)] },
  { label: BESIDE, plans: sizes => [reads(sizes), { kind: 'logins', connections: 64 }] }
]

/** Logins, whose hash takes nearly all of their time, and reads beside 64 connections that do nothing but log in. */
export const logins = async (bench: Bench): Promise<Result> => {
  const entrants = entrantsOf(bench, [HEROES], { heroes: 1000, tokens: 100_000, chains: 0 })
  const race: Race = { entrants, settings: SETTINGS, writes: true }
  const results = await run(bench, race)
  const figures = entrants.flatMap(({ label: name }) => {
    const alone = results(name, ALONE)
    const beside = results(name, BESIDE).map(timings => timings.slice(0, 1))
    const kept = (figure: typeof rate): number => median(beside.map(figure)) / median(alone.map(figure))
    return [
      { name: `logins at 8, ${name}`, value: median(results(name, LOGINS).map(rate)), unit: '/s' },
      { name: `reads kept beside 64 logins, ${name}`, value: kept(rate) },
      { name: `their median time, × alone, ${name}`, value: kept(medianTime) }
    ]
  })
  return { title: 'Logins', table: tableOf(race, results), figures }
}
