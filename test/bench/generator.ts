import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { TYPESCRIPT, track } from './contestants.js'
import type { Plan } from './requests.js'

export interface Job {
  readonly port: number
  readonly seconds: number
  readonly plans: readonly Plan[]
}

/** What became of a plan. Times are in milliseconds. */
export interface Timing {
  readonly plan: Pick<Plan, 'kind' | 'connections'>
  /** Right answers a second. */
  readonly rate: number
  readonly p50: number
  readonly p99: number
  /** How many logins were refused. */
  readonly refused: number
}

export type Outcome = { readonly timings: readonly Timing[] } | { readonly error: string }

export interface Generator {
  /** A timing for each plan. Rejects when an answer was wrong or missing: an error may be faster than a right answer. */
  run(job: Job): Promise<readonly Timing[]>
  stop(): void
}

/** Starts the process that sends the requests. */
export const startGenerator = (): Generator => {
  const child = track(fork(join(import.meta.dirname, 'load.ts'), { execArgv: TYPESCRIPT }))
  const ended = new AbortController()
  child.once('exit', () => ended.abort())
  return {
    async run(job) {
      child.send(job)
      const [outcome]: Outcome[] = await once(child, 'message', { signal: ended.signal })
      if (outcome === undefined || 'error' in outcome) throw new Error(outcome?.error)
      return outcome.timings
    },
    stop() {
      if (child.connected) child.disconnect()
    }
  }
}
