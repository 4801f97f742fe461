import { BY_HAND, HEROES } from './contestants.js'
import type { Sizes } from './data.js'
import { type Bench, entrantsOf, type Race, type Result, rate, ratioOf, run, type Setting, tableOf } from './race.js'
import type { Plan } from './requests.js'

const setting = (label: string, plan: (sizes: Sizes) => Plan): Setting => ({ label, plans: sizes => [plan(sizes)] })

const SETTINGS = [
  setting('pages of 50', ({ heroes, tokens }) => ({ kind: 'lists', connections: 16, heroes, tokens, limit: 50 })),
  setting('pages of 1,000', ({ heroes, tokens }) => ({ kind: 'lists', connections: 16, heroes, tokens, limit: 1000 })),
  setting('all 100,000', ({ heroes, tokens }) => ({ kind: 'lists', connections: 2, heroes, tokens })),
  setting('a part of a name', ({ heroes, tokens }) => ({ kind: 'searches', connections: 8, heroes, tokens }))
]

/** `GET /heroes` among 100,000. */
export const lists = async (bench: Bench): Promise<Result> => {
  const entrants = entrantsOf(bench, [BY_HAND, HEROES], { heroes: 100_000, tokens: 10_000, chains: 0 })
  const race: Race = { entrants, settings: SETTINGS, writes: false }
  const results = await run(bench, race)
  const figures = SETTINGS.map(({ label }) => ({
    name: `${label}: rate × by hand`,
    value: ratioOf(results(HEROES.name, label), results(BY_HAND.name, label), rate)
  }))
  return { title: 'Lists of heroes', table: tableOf(race, results), figures }
}
