import { BY_HAND, HEROES } from './contestants.js'
import type { Sizes } from './data.js'
import type { Figure } from './figures.js'
import {
  type Bench,
  entrantsOf,
  medianTime,
  type Race,
  type Result,
  rate,
  ratioOf,
  run,
  runsIn,
  type Setting,
  tableOf
} from './race.js'
import type { Plan } from './requests.js'

export const HEADLINE = ['reads', 'refreshes', 'creates', 'mixed'] as const

type Headline = (typeof HEADLINE)[number]

/** The most connections of a setting. */
const MOST = 64

const reads = (connections: number, { heroes, tokens }: Sizes): Plan => ({ kind: 'reads', connections, heroes, tokens })

/** The first chain is for the check. */
const refreshes = (connections: number, { tokens }: Sizes, number: number): Plan => ({
  kind: 'refreshes',
  connections,
  first: tokens + 2 + number * MOST
})

const creates = (connections: number, { tokens }: Sizes, number: number): Plan => ({
  kind: 'creates',
  connections,
  name: `made ${number}`,
  tokens
})

const single = (name: Headline, plan: typeof creates): Setting[] =>
  [MOST, 8, 1].map(connections => ({
    label: `${name} at ${connections}`,
    plans: (sizes, number) => [plan(connections, sizes, number)],
    long: connections === 1
  }))

/** From many connections to few, as V8 compiles a function after enough calls, and few connections make few. */
const SETTINGS: Readonly<Record<Headline, readonly Setting[]>> = {
  reads: single('reads', reads),
  refreshes: single('refreshes', refreshes),
  creates: single('creates', creates),
  mixed: [
    {
      label: 'mixed at 64+8+8',
      plans: (sizes, number) => [reads(MOST, sizes), refreshes(8, sizes, number), creates(8, sizes, number)]
    }
  ]
}

/** The workloads that have floors: reads, refreshes and new heroes, at 64, 8 and 1 connections each, and all three at once. */
export const headline = async (bench: Bench): Promise<Result> => {
  const settings = HEADLINE.filter(name => bench.options.workloads.includes(name)).flatMap(name => SETTINGS[name])
  const sizes = { heroes: 1000, tokens: 100_000, chains: 1 + MOST * runsIn(bench.options, settings) }
  const entrants = entrantsOf(bench, [BY_HAND, HEROES], sizes)
  const race: Race = { entrants, settings, writes: true }
  const results = await run(bench, race)
  const others = entrants.filter(({ contestant }) => contestant !== HEROES)
  const figures = settings.flatMap(setting =>
    others.map(({ label }): Figure => {
      const [ours, theirs] = [results(HEROES.name, setting.label), results(label, setting.label)]
      return setting.long
        ? { name: `${setting.label}: median time ÷ ${label}`, value: ratioOf(ours, theirs, medianTime) }
        : { name: `${setting.label}: rate × ${label}`, value: ratioOf(ours, theirs, rate) }
    })
  )
  return { title: 'Reads, refreshes and new heroes', table: tableOf(race, results), figures }
}
