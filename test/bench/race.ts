import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Bench, type Fact, median, type Row, type Sample } from './bench.js'
import { CONTESTANTS, type Contestant, type ContestantName } from './contestants.js'
import type { Sizes } from './data.js'
import { type Clone, loadEmbedded, type Prepare } from './database.js'
import { measure, settle } from './measure.js'
import type { Plan } from './plan.js'
import { type Running, start } from './processes.js'
import { profileFolder } from './profile.js'

export interface Entrant {
  readonly name: ContestantName
  /** Each setting is a timed run of its own. */
  readonly settings: readonly Setting[]
}

export interface Setting {
  readonly label: string
  readonly connections: number
  /** The path of the requests, where the race takes it from the setting. */
  readonly path?: string
  readonly gzip?: boolean
  /** The shortest time of a run, for requests that take a good part of a second each. */
  readonly leastSeconds?: number
  /** How many runs of a second there are instead of one of the usual length. */
  readonly shortRuns?: number
}

export interface Race {
  readonly entrants: readonly Entrant[]
  readonly sizes: Sizes
  readonly prepare?: Prepare
  /** True when each entrant gets a new copy of the database in each round. */
  readonly fresh: boolean
  readonly env?: Readonly<Record<string, string>>
  check(running: Running): Promise<void>
  /** The requests of a run. `number` counts the runs of one process from 0, of which the first ones are its warm-ups, one for each setting. */
  plan(running: Running, setting: Setting, number: number): Plan
}

export type Results = ReadonlyMap<string, readonly Sample[]>

export const connectionSettings = (bench: Bench, own: readonly number[]): Setting[] =>
  (bench.options.connections ?? own).map(connections => ({
    label: `${connections}`,
    connections,
    // The disk and the processors change their speed by a factor of two within seconds, and what few connections measure
    // follows every change.
    shortRuns: connections <= 4 ? 8 : turnsIn(bench.options.seconds)
  }))

/** How many turns of a second there are instead of one of so many seconds. */
export const turnsIn = (seconds: number): number => Math.max(1, Math.round(seconds))

const timedRuns = ({ shortRuns = 1 }: Setting): number => shortRuns

/** How often each process of an entrant with these settings is run, warm-ups included. */
export const runsIn = (settings: readonly Setting[]): number =>
  settings.reduce((sum, setting) => sum + 1 + timedRuns(setting), 0)

/**
 * Runs rounds. In each all entrants are started and warmed up, and then they are timed one after the other, setting by
 * setting, so that those that are compared run within seconds of each other. Every second time they go in the opposite
 * order, so that a drift of the machine affects all alike.
 */
export const run = async (bench: Bench, race: Race): Promise<Results> => {
  const { options } = bench
  const entrants = race.entrants.filter(({ name }) => options.only?.includes(name) ?? true)
  const results = new Map<string, Sample[]>()
  const embedded = join(bench.folder, 'embedded')
  let shared: Clone | undefined
  if (entrants.some(({ name }) => CONTESTANTS[name].store === 'embedded')) {
    bench.say('loading the embedded database')
    await loadEmbedded(embedded, race.sizes)
  }
  if (!race.fresh && entrants.some(({ name }) => CONTESTANTS[name].store === 'postgres')) {
    bench.say('loading PostgreSQL')
    shared = await bench.postgres.clone(race.sizes, race.prepare)
  }
  for (let round = 0; round < options.rounds; round++) {
    const started: Started[] = []
    try {
      for (const entrant of inTurn(entrants, round)) {
        const contestant = CONTESTANTS[entrant.name]
        const own =
          race.fresh && contestant.store === 'postgres'
            ? await bench.postgres.clone(race.sizes, race.prepare)
            : undefined
        const running = await enter(bench, race, contestant, (own ?? shared)?.url, embedded)
        started.push({ entrant, running, own, runs: 0 })
        await race.check(running)
      }
      for (const one of started) await warmUp(bench, race, one)
      for (const label of labelsOf(entrants)) {
        const compared = started.flatMap(one => {
          const setting = one.entrant.settings.find(setting => setting.label === label)
          return setting === undefined ? [] : [{ one, setting }]
        })
        const most = Math.max(...compared.map(({ setting }) => timedRuns(setting)))
        for (let time = 0; time < most; time++) {
          for (const { one, setting } of inTurn(compared, time)) {
            const sample = await runOnce(bench, race, one, setting, setting.shortRuns ? 1 : options.seconds)
            const key = keyOf(one.entrant.name, label)
            results.set(key, [...(results.get(key) ?? []), sample])
          }
        }
        const rates = compared.map(({ one }) => {
          const samples = samplesOf(results, one.entrant.name, label).slice(-most)
          return `${one.entrant.name} ${Math.round(median(samples.map(({ rate }) => rate)))}/s`
        })
        bench.say(`round ${round + 1} at ${label}: ${rates.join(', ')}`)
      }
    } finally {
      for (const { running, own } of started) {
        await running.stop()
        await own?.drop()
      }
    }
  }
  await shared?.drop()
  rmSync(embedded, { recursive: true, force: true })
  return results
}

interface Started {
  readonly entrant: Entrant
  readonly running: Running
  readonly own: Clone | undefined
  /** How often it was run, warm-ups included. */
  runs: number
}

/** Every second time in the opposite order. */
export const inTurn = <T>(all: readonly T[], time: number): readonly T[] => (time % 2 === 0 ? all : all.toReversed())

/**
 * From many connections to few. V8 compiles a function after enough calls, and few connections make a tenth of the calls
 * that many make. Until then a request takes up to four times the processor time.
 */
const warmUp = async (bench: Bench, race: Race, started: Started): Promise<void> => {
  for (const setting of started.entrant.settings.toSorted((a, b) => b.connections - a.connections)) {
    await runOnce(bench, race, started, setting, bench.options.warmUp)
  }
}

const runOnce = async (
  bench: Bench,
  race: Race,
  started: Started,
  setting: Setting,
  seconds: number
): Promise<Sample> => {
  const plan = race.plan(started.running, setting, started.runs++)
  const lasting = Math.max(seconds, setting.leastSeconds ?? 0)
  const sample = await measure(bench, started.running, plan, setting.connections, lasting)
  await settle(started.running)
  return sample
}

const enter = (
  bench: Bench,
  race: Race,
  contestant: Contestant,
  databaseUrl: string | undefined,
  dataDir: string
): Promise<Running> =>
  start(contestant, {
    sizes: race.sizes,
    databaseUrl,
    dataDir: contestant.store === 'embedded' ? dataDir : undefined,
    folder: join(bench.folder, 'contestants', contestant.name),
    before: bench.options.before,
    profile: bench.options.profile ? profileFolder(bench, contestant) : undefined,
    ...(race.env && { env: race.env })
  })

const keyOf = (name: ContestantName, label: string): string => `${name} ${label}`

/** The samples of a contestant in a setting, one for each round. None when it did not take part. */
export const samplesOf = (results: Results, name: ContestantName, label: string): readonly Sample[] =>
  results.get(keyOf(name, label)) ?? []

/** The median of the runs' ratios, each to the run beside it. Undefined when either did not take part. */
export const ratioOf = (
  ours: readonly Sample[],
  theirs: readonly Sample[],
  figure: 'rate' | 'p50' | 'p99' | 'nodeCpu' = 'rate'
): number | undefined => {
  const ratios = ours.flatMap((sample, round) => {
    const other = theirs[round]
    return other === undefined ? [] : [sample[figure] / other[figure]]
  })
  return ratios.length === 0 ? undefined : median(ratios)
}

/** The fact, or none when a contestant that it compares did not take part. */
export const fact = (
  what: string,
  value: number | undefined,
  limits: Pick<Fact, 'floor' | 'goal' | 'atMost'> = {}
): readonly Fact[] => (value === undefined ? [] : [{ what, value, ...limits }])

/** The fastest sample of each run. */
export const fastest = (...contestants: readonly (readonly Sample[])[]): Sample[] => {
  const rounds = Math.max(0, ...contestants.map(samples => samples.length))
  return Array.from({ length: rounds }, (_, round) =>
    contestants.flatMap(samples => samples[round] ?? []).reduce((a, b) => (a.rate >= b.rate ? a : b))
  )
}

const labelsOf = (entrants: readonly Entrant[]): string[] => [
  ...new Set(entrants.flatMap(({ settings }) => settings.map(({ label }) => label)))
]

/** A row for each setting and entrant, with the ratio to the baseline of the entrant. */
export const rowsOf = (
  race: Race,
  results: Results,
  baselineOf: (name: ContestantName) => ContestantName | undefined
): Row[] => {
  return labelsOf(race.entrants).flatMap(label =>
    race.entrants.flatMap(({ name }) => {
      const samples = samplesOf(results, name, label)
      if (samples.length === 0) return []
      const baseline = baselineOf(name)
      const ratio = baseline && ratioOf(samples, samplesOf(results, baseline, label))
      return [{ label: CONTESTANTS[name].label, setting: label, samples, ratio }]
    })
  )
}
