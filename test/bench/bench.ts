import type { Postgres } from './database.js'
import type { Options } from './options.js'

/** What every workload gets. */
export interface Bench {
  readonly options: Options
  readonly postgres: Postgres
  /** Where the results go, and what the contestants print. */
  readonly folder: string
  /** Tells a person who waits how far the run is. */
  say(text: string): void
}

export type Workload = (bench: Bench) => Promise<Outcome>

/** One timed run. Times in microseconds. */
export interface Sample {
  readonly rate: number
  readonly p50: number
  readonly p99: number
  /** Per request. */
  readonly nodeCpu: number
  readonly postgresCpu: number
  /** Resident, in megabytes. */
  readonly memory: number
}

/** A contestant in one setting, with a sample of each round. */
export interface Row {
  readonly label: string
  readonly setting: string
  readonly samples: readonly Sample[]
  /** The rate divided by that of the baseline in the same round and setting: the median of the rounds. */
  readonly ratio: number | undefined
}

/** A figure, with the floor and the goal that it should reach, if there are any. */
export interface Fact {
  readonly what: string
  readonly value: number
  readonly unit?: string
  readonly floor?: number
  readonly goal?: number
  /** True when a smaller value is better. */
  readonly atMost?: boolean
}

export interface Outcome {
  readonly title: string
  readonly rows: readonly Row[]
  readonly facts: readonly Fact[]
}

export const median = (values: readonly number[]): number => {
  const sorted = values.filter(value => !Number.isNaN(value)).sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2
}
