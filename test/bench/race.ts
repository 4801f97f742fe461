import { check } from './checks.js'
import { type Contestant, enter, type Running } from './contestants.js'
import type { Sizes } from './data.js'
import { type Figure, median, numeral, table } from './figures.js'
import type { Generator, Timing } from './generator.js'
import type { Plan } from './requests.js'
import type { Database, Server } from './server.js'

/** What every workload gets. */
export interface Bench {
  readonly options: Options
  readonly server: Server
  readonly generator: Generator
  /** The contestant of `--before`, if there is one. */
  readonly before: Contestant | undefined
  /** Tells a person who waits how far the run is. */
  say(text: string): void
}

export interface Options {
  readonly workloads: readonly string[]
  readonly rounds: number
  /** How long a contestant is timed in a setting and round. */
  readonly seconds: number
  /** Of the workload `growth`. */
  readonly tokens: number
  readonly before: string | undefined
}

/** What a workload has found. */
export interface Result {
  readonly title: string
  /** A table of everything that was timed. */
  readonly table: string
  readonly figures: readonly Figure[]
}

export interface Entrant {
  readonly label: string
  readonly contestant: Contestant
  readonly sizes: Sizes
}

/** These contestants and that of `--before`, with the same rows. */
export const entrantsOf = ({ before }: Bench, contestants: readonly Contestant[], sizes: Sizes): readonly Entrant[] =>
  [...contestants, before].flatMap(contestant =>
    contestant === undefined ? [] : [{ label: contestant.name, contestant, sizes }]
  )

/** Requests that are timed by themselves. */
export interface Setting {
  readonly label: string
  /** What is sent at once. `number` is another one for each run of a process. */
  plans(sizes: Sizes, number: number): readonly Plan[]
  /** True when its turns are twice as many: few connections follow each change of the machine's speed. */
  readonly long?: boolean
}

export interface Race {
  readonly entrants: readonly Entrant[]
  readonly settings: readonly Setting[]
  /** True when each entrant gets a new copy of its database in each round. */
  readonly writes: boolean
}

/** A timing for each plan of a setting, turn by turn. */
export type Turns = readonly (readonly Timing[])[]

/** The turns of an entrant in a setting, by their labels. */
export type Results = (entrant: string, setting: string) => Turns

/** How many runs each process has in a race: so many sets of secrets are used up. */
export const runsIn = ({ seconds }: Options, settings: readonly Setting[]): number =>
  settings.reduce((sum, setting) => sum + 1 + turnsIn(seconds, setting), 0)

/** A turn is a second long, or what comes close to it. */
const turnsIn = (seconds: number, { long = false }: Setting): number =>
  Math.max(1, Math.round(seconds)) * (long ? 2 : 1)

/**
 * Runs rounds. In each all entrants start and are warmed up, and then they take turns in each setting, so that what is compared
 * runs within seconds. Every second time they go in the opposite order, so that a drift of the machine affects all alike. A
 * round starts them anew, because two processes of one service differ.
 */
export const run = async ({ options, server, generator, say }: Bench, race: Race): Promise<Results> => {
  const { rounds, seconds } = options
  const results = new Map<string, (readonly Timing[])[]>()
  const keyOf = (entrant: string, setting: string): string => `${entrant}\n${setting}`
  for (let round = 0; round < rounds; round++) {
    const started: Started[] = []
    try {
      for (const entrant of inTurn(race.entrants, round)) {
        const database = await (race.writes ? server.copy(entrant.sizes) : server.load(entrant.sizes))
        const running = await enter(entrant.contestant, { DATABASE_URL: database.url })
        started.push({ entrant, database, running, runs: 0 })
        await check(running, entrant.sizes)
      }
      const runOnce = async (one: Started, setting: Setting, length: number): Promise<readonly Timing[]> =>
        generator.run({
          port: one.running.port,
          seconds: length,
          plans: setting.plans(one.entrant.sizes, one.runs++)
        })
      for (const one of started) for (const setting of race.settings) await runOnce(one, setting, seconds)
      for (const setting of race.settings) {
        const turns = turnsIn(seconds, setting)
        for (let turn = 0; turn < turns; turn++) {
          for (const one of inTurn(started, turn)) {
            const key = keyOf(one.entrant.label, setting.label)
            const timings = await runOnce(one, setting, seconds / Math.max(1, Math.round(seconds)))
            results.set(key, [...(results.get(key) ?? []), timings])
          }
        }
        const rates = race.entrants.map(({ label }) => {
          const latest = results.get(keyOf(label, setting.label))?.slice(-turns) ?? []
          return `${label} ${numeral(median(latest.map(rate)))}/s`
        })
        say(`round ${round + 1}, ${setting.label}: ${rates.join(', ')}`)
      }
    } catch (error) {
      for (const { running } of started) process.stderr.write(running.said())
      throw error
    } finally {
      for (const { running, database } of started) {
        await running.stop()
        await database.close()
      }
    }
  }
  return (entrant, setting) => results.get(keyOf(entrant, setting)) ?? []
}

interface Started {
  readonly entrant: Entrant
  readonly database: Database
  readonly running: Running
  runs: number
}

/** Every second time in the opposite order. */
export const inTurn = <T>(all: readonly T[], time: number): readonly T[] => (time % 2 === 0 ? all : all.toReversed())

/** Of all plans together. */
export const rate = (timings: readonly Timing[]): number => timings.reduce((sum, timing) => sum + timing.rate, 0)
export const medianTime = ([timing]: readonly Timing[]): number => timing?.p50 ?? Number.NaN

/** The median of the turns' ratios, each to the turn beside it. */
export const ratioOf = (ours: Turns, theirs: Turns, figure: (timings: readonly Timing[]) => number): number =>
  median(ours.map((timings, turn) => figure(timings) / figure(theirs[turn] ?? [])))

/** A row for each setting, kind of request and entrant, with the ratio of its rate to that of the first entrant. */
export const tableOf = ({ entrants, settings }: Race, results: Results): string => {
  const first = entrants[0]?.label ?? ''
  const rows = settings.flatMap(({ label: setting }) =>
    (results(first, setting)[0] ?? []).flatMap(({ plan }, index) => {
      const turnsOf = (entrant: string): Turns =>
        results(entrant, setting).map(timings => timings.slice(index, index + 1))
      return entrants.map(({ label }) => {
        const turns = turnsOf(label)
        const rates = turns.map(rate)
        const times = (figure: 'p50' | 'p99'): string => median(turns.flat().map(timing => timing[figure])).toFixed(2)
        return [
          setting,
          `${plan.kind} at ${plan.connections}`,
          label,
          ...[median(rates), Math.min(...rates), Math.max(...rates)].map(numeral),
          ...[times('p50'), times('p99')],
          ratioOf(turns, turnsOf(first), rate).toFixed(2)
        ]
      })
    })
  )
  return table(['setting', 'requests', 'contestant', '/s median', 'min', 'max', 'p50 ms', 'p99 ms', '× first'], rows)
}
