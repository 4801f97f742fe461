import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench, Sample } from './bench.js'
import { type Load, runLoad } from './generator.js'
import { bindTo, type Cores, cpuSeconds, familyOf, residentMemory } from './machine.js'
import type { Plan } from './plan.js'
import type { Running } from './processes.js'

/** Times one run. Rejects when an answer was an error, as an error may be faster than a right answer. */
export const measure = async (
  bench: Pick<Bench, 'postgres'>,
  running: Pick<Running, 'url' | 'pid' | 'contestant'>,
  plan: Plan,
  connections: number,
  seconds: number
): Promise<Sample> => {
  // With WORKERS its children do the work.
  const before = { node: cpuSeconds(familyOf(running.pid)), postgres: bench.postgres.cpu() }
  const load = await runLoad(running.url, plan, connections, seconds)
  const after = { node: cpuSeconds(familyOf(running.pid)), postgres: bench.postgres.cpu() }
  if (load.refused > 0 || load.failed > 0 || load.requests === 0) {
    const counts = `${load.refused} refused and ${load.failed} lost of ${load.requests}`
    throw new Error(`${running.contestant.name} at ${connections} connections: ${counts}`)
  }
  return {
    ...timesOf(load),
    nodeCpu: ((after.node - before.node) * 1e6) / load.requests,
    postgresCpu: ((after.postgres - before.postgres) * 1e6) / load.requests,
    memory: familyOf(running.pid).reduce((sum, pid) => sum + residentMemory(pid), 0)
  }
}

/**
 * PostgreSQL and the load may use every core while the work is done, as the contestants that it starts do. Bound to one
 * of their cores, both would wait for the contestant there while the other core is idle.
 */
export const onEveryCore = async <Result>(
  { postgres }: Pick<Bench, 'postgres'>,
  work: () => Promise<Result>
): Promise<Result> => {
  const bind = (cores: Cores): void => bindTo(cores, [process.pid, ...postgres.pids()])
  bind('every')
  try {
    return await work()
  } finally {
    bind('load')
  }
}

/** In seconds of processor time: less than two hashes take, and more than a contestant takes that has nothing to do. */
const IDLE = 0.02

/**
 * Waits until the contestant is idle for so many milliseconds. It also finishes requests of an earlier run whose client
 * has gone.
 */
export const settle = async ({ pid }: Pick<Running, 'pid'>, quiet = 100): Promise<void> => {
  const end = performance.now() + 10_000
  for (let before = cpuSeconds([pid]); performance.now() < end; ) {
    await sleep(quiet)
    const after = cpuSeconds([pid])
    if (after - before < IDLE) return
    before = after
  }
}

export const timesOf = ({ requests, seconds, p50, p99 }: Load): Pick<Sample, 'rate' | 'p50' | 'p99'> => ({
  rate: requests / seconds,
  p50,
  p99
})
