import { cpus } from 'node:os'
import { join } from 'node:path'
import { type Bench, median, type Sample, type Workload } from '../bench.js'
import { checkReads } from '../checks.js'
import { CONTESTANTS, usual } from '../contestants.js'
import { cpuSeconds, familyOf } from '../machine.js'
import { measure, onEveryCore } from '../measure.js'
import { createPlan, getPlan, loginPlan, type Plan } from '../plan.js'
import { type Running, start } from '../processes.js'
import { fact, inTurn, ratioOf, turnsIn } from '../race.js'

/** A sample, and how much of the processor time of all cores went where meanwhile, in percent. */
interface Shared extends Sample {
  readonly service: number
  readonly postgres: number
  readonly load: number
}

/**
 * One worker beside two, on every core, for reads, new heroes and logins. Both services run all the time and are loaded in
 * turns. PostgreSQL and the load share the cores with the workers, so their shares are told: what they take is not
 * there for a second worker.
 */
export const workers: Workload = bench => onEveryCore(bench, () => compare(bench))

const compare: Workload = async bench => {
  const { rounds, seconds, warmUp } = bench.options
  const sizes = usual(bench.options.rows ?? 100_000)
  const reads = (running: Running): Plan => getPlan(running, running.contestant.readPath, sizes.tokens, sizes.heroes)
  const kinds: readonly { name: string; connections: number; plan: (running: Running) => Plan }[] = [
    { name: 'reads', connections: 256, plan: reads },
    // Then a worker has so few that it sleeps between two batches, and to be woken takes time of the core.
    { name: 'reads', connections: 64, plan: reads },
    { name: 'new heroes', connections: 64, plan: () => createPlan(sizes.tokens) },
    { name: 'logins', connections: 8, plan: loginPlan }
  ]
  const clone = await bench.postgres.clone(sizes)
  const options = { sizes, databaseUrl: clone.url, folder: join(bench.folder, 'contestants'), cores: 'every' } as const
  const one = await start(CONTESTANTS['heroes-pg'], options)
  const two = await start(CONTESTANTS['heroes-pg-workers'], options)
  const turns = kinds.map(kind => ({
    ...kind,
    one: { running: one, samples: [] as Shared[] },
    two: { running: two, samples: [] as Shared[] }
  }))
  try {
    for (const running of [one, two]) {
      await checkReads(running)
      for (const { plan, connections } of kinds) await measure(bench, running, plan(running), connections, warmUp)
    }
    for (let round = 0; round < rounds; round++) {
      for (const { name, connections, plan, one, two } of turns) {
        // Of a second each, as in a race.
        for (let time = 0; time < turnsIn(seconds); time++) {
          for (const { running, samples } of inTurn([one, two], round + time)) {
            samples.push(await share(bench, running, plan(running), connections, 1))
          }
        }
        const [alone, both] = [one, two].map(({ samples }) => {
          return Math.round(median(samples.slice(-turnsIn(seconds)).map(({ rate }) => rate)))
        })
        bench.say(`round ${round + 1}: ${name} at ${connections}: ${alone}/s with one worker, ${both}/s with two`)
      }
    }
  } finally {
    for (const running of [one, two]) await running.stop()
    await clone.drop()
  }
  return {
    title: 'two workers beside one',
    rows: turns.flatMap(({ name, connections, one, two }) =>
      [one, two].map(({ running, samples }) => ({
        label: running.contestant.label,
        setting: `${connections}, ${name}; ${told(samples)}`,
        samples,
        ratio: samples === two.samples ? ratioOf(two.samples, one.samples) : undefined
      }))
    ),
    facts: turns.flatMap(({ name, connections, one, two }) =>
      fact(
        `${name} of two workers at ${connections}, × those of one`,
        ratioOf(two.samples, one.samples),
        name === 'reads' ? { floor: 1.1, goal: 1.3 } : {}
      )
    )
  }
}

const share = async (
  bench: Bench,
  running: Running,
  plan: Plan,
  connections: number,
  seconds: number
): Promise<Shared> => {
  // The load is a child of this process that has ended when it is counted.
  const times = () => [cpuSeconds(familyOf(running.pid)), bench.postgres.cpu(), cpuSeconds([process.pid])]
  const [before, begun] = [times(), performance.now()]
  const sample = await measure(bench, running, plan, connections, seconds)
  const all = ((performance.now() - begun) / 1000) * cpus().length
  const [service = 0, postgres = 0, load = 0] = times().map((time, at) => ((time - (before[at] ?? 0)) / all) * 100)
  return { ...sample, service, postgres, load }
}

/** The medians of the shares. */
const told = (samples: readonly Shared[]): string => {
  const of = (part: 'service' | 'postgres' | 'load') => `${median(samples.map(sample => sample[part])).toFixed()} %`
  return `service ${of('service')}, PostgreSQL ${of('postgres')}, load ${of('load')}`
}
