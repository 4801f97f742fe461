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
}

export interface Race {
  readonly entrants: readonly Entrant[]
  readonly sizes: Sizes
  readonly prepare?: Prepare
  /** True when each turn gets a new copy of the database. */
  readonly fresh: boolean
  readonly env?: Readonly<Record<string, string>>
  check(running: Running): Promise<void>
  /** The requests of a run. `turn` counts the runs of one process, warm-ups included. */
  plan(running: Running, setting: Setting, turn: number): Plan
}

export type Results = ReadonlyMap<string, readonly Sample[]>

export const connectionSettings = (bench: Bench, own: readonly number[]): Setting[] =>
  (bench.options.connections ?? own).map(connections => ({
    label: `${connections}`,
    connections,
    // Node compiles a function after enough calls, and few connections make a tenth of the calls that many make.
    ...(connections <= 4 && { leastSeconds: 8 })
  }))

/** Runs rounds in which each entrant has a turn. Every second round goes in the opposite order, so that a drift of the machine affects all alike. */
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
    for (const { name, settings } of round % 2 === 0 ? entrants : entrants.toReversed()) {
      const contestant = CONTESTANTS[name]
      const own =
        race.fresh && contestant.store === 'postgres' ? await bench.postgres.clone(race.sizes, race.prepare) : undefined
      const running = await enter(bench, race, contestant, (own ?? shared)?.url, embedded)
      try {
        await race.check(running)
        let turn = 0
        for (const setting of settings) {
          const { connections, leastSeconds = 0 } = setting
          const lasting = (seconds: number): number => Math.max(seconds, leastSeconds)
          await measure(bench, running, race.plan(running, setting, turn++), connections, lasting(options.warmUp))
          await settle(running)
          const plan = race.plan(running, setting, turn++)
          const sample = await measure(bench, running, plan, connections, lasting(options.seconds))
          const key = keyOf(name, setting.label)
          results.set(key, [...(results.get(key) ?? []), sample])
          bench.say(`round ${round + 1}: ${name} at ${setting.label}: ${Math.round(sample.rate)}/s`)
        }
      } finally {
        await running.stop()
        await own?.drop()
      }
    }
  }
  await shared?.drop()
  rmSync(embedded, { recursive: true, force: true })
  return results
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
    folder: join(bench.folder, 'contestants'),
    before: bench.options.before,
    profile: bench.options.profile ? profileFolder(bench, contestant) : undefined,
    ...(race.env && { env: race.env })
  })

const keyOf = (name: ContestantName, label: string): string => `${name} ${label}`

/** The samples of a contestant in a setting, one for each round. None when it did not take part. */
export const samplesOf = (results: Results, name: ContestantName, label: string): readonly Sample[] =>
  results.get(keyOf(name, label)) ?? []

/** The median of the rounds' ratios. Undefined when either did not take part. */
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

/** The fastest sample of each round. */
export const fastest = (...contestants: readonly (readonly Sample[])[]): Sample[] => {
  const rounds = Math.max(0, ...contestants.map(samples => samples.length))
  return Array.from({ length: rounds }, (_, round) =>
    contestants.flatMap(samples => samples[round] ?? []).reduce((a, b) => (a.rate >= b.rate ? a : b))
  )
}

/** A row for each setting and entrant, with the ratio to the baseline of the entrant. */
export const rowsOf = (
  race: Race,
  results: Results,
  baselineOf: (name: ContestantName) => ContestantName | undefined
): Row[] => {
  const labels = [...new Set(race.entrants.flatMap(({ settings }) => settings.map(({ label }) => label)))]
  return labels.flatMap(label =>
    race.entrants.flatMap(({ name }) => {
      const samples = samplesOf(results, name, label)
      if (samples.length === 0) return []
      const baseline = baselineOf(name)
      const ratio = baseline && ratioOf(samples, samplesOf(results, baseline, label))
      return [{ label: CONTESTANTS[name].label, setting: label, samples, ratio }]
    })
  )
}
