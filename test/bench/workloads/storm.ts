import { join } from 'node:path'
import { type Bench, median, type Row, type Sample, type Workload } from '../bench.js'
import { checkLogins } from '../checks.js'
import { CONTESTANTS, usual } from '../contestants.js'
import { startLoad } from '../generator.js'
import { type Cores, threadSeconds } from '../machine.js'
import { measure, onEveryCore, settle, timesOf } from '../measure.js'
import { getPlan, loginPlan } from '../plan.js'
import { start } from '../processes.js'
import { ratioOf } from '../race.js'

const STORM = 64
const READERS = 64
/** How often in each round reads are timed alone and then beside logins, as the machine changes its speed within seconds. */
const TURNS = 3
/**
 * In milliseconds. The logins whose clients have gone are hashed to the end, with rests between them: reads alone would be
 * timed beside them, and the next logins would be too many.
 */
const QUIET = 500

/**
 * Reads beside 64 connections that do nothing but log in. Once the hashing threads share the core of the event loop, and
 * once Node has every core, as it has in production.
 */
export const storm: Workload = async bench => {
  const pinned = await weather(bench, 'node')
  const free = await onEveryCore(bench, () => weather(bench, 'every'))
  return {
    title: 'a login storm beside reads',
    rows: [...pinned.rows, ...free.rows],
    facts: [
      { what: 'reads kept during a login storm of 64, Node on one core', value: pinned.kept, floor: 0.7, goal: 0.85 },
      {
        what: "the same, × what the hashes' own processor time leaves of the core",
        value: pinned.keptOfLeft,
        floor: 0.92,
        goal: 0.97
      },
      { what: 'their p99, × without', value: pinned.tail, floor: 3, goal: 1.5, atMost: true },
      { what: 'reads kept, Node on every core', value: free.kept, floor: 0.7, goal: 0.85 },
      { what: 'their p99, × without', value: free.tail, floor: 3, goal: 1.5, atMost: true },
      { what: 'logins refused (429, 503) a round', value: pinned.refused }
    ]
  }
}

interface Weather {
  readonly rows: readonly Row[]
  readonly kept: number
  /** As a part of what the hashes leave of one core. NaN when there are several. */
  readonly keptOfLeft: number
  readonly tail: number
  readonly refused: number
}

const weather = async (bench: Bench, cores: Cores): Promise<Weather> => {
  const { rounds, seconds, warmUp } = bench.options
  const sizes = usual(bench.options.rows ?? 100_000)
  const alone: Sample[] = []
  const beside: Sample[] = []
  const logins: Sample[] = []
  const refusals: number[] = []
  const keptOfLeft: number[] = []
  for (let round = 0; round < rounds; round++) {
    const clone = await bench.postgres.clone(sizes)
    const folder = join(bench.folder, 'contestants')
    const running = await start(CONTESTANTS['heroes-pg'], { sizes, databaseUrl: clone.url, folder, cores })
    try {
      await checkLogins(running)
      const reads = getPlan(running, '/heroes/{hero}', sizes.tokens, sizes.heroes)
      /** Beside the figures, the part of a core that all threads but the event loop's took. */
      const timedReads = async (seconds: number) => {
        const begun = { at: performance.now() / 1000, threads: threadSeconds(running.pid) }
        const sample = await measure(bench, running, reads, READERS, seconds)
        const threads = (threadSeconds(running.pid) - begun.threads) / (performance.now() / 1000 - begun.at)
        return { sample, threads }
      }
      const besideLogins = async (seconds: number) => {
        const load = startLoad(running.url, loginPlan(), STORM, seconds + 60)
        const timed = await timedReads(seconds)
        // Without reads beside them logins are served at three times the rate, so they end with the reads.
        load.stop()
        const done = await load.done
        if (done.failed > 0) throw new Error(`${done.failed} logins were lost`)
        await settle(running, QUIET)
        return { ...timed, done }
      }
      // As in a race, the code of both is compiled before it is timed: V8 does that on the same core.
      await besideLogins(2 * warmUp)
      await measure(bench, running, reads, READERS, warmUp)
      for (let turn = 0; turn < TURNS; turn++) {
        const { sample: calm, threads: collecting } = await timedReads(seconds)
        const { sample: stormy, threads, done } = await besideLogins(seconds)
        const kept = stormy.rate / calm.rate
        alone.push(calm)
        beside.push(stormy)
        refusals.push(done.refused)
        // Threads of V8 collect the garbage of the reads. The others make the hashes.
        if (cores === 'node') keptOfLeft.push(kept / (1 - (threads - kept * collecting)))
        logins.push({ ...timesOf(done), nodeCpu: 0, postgresCpu: 0, memory: 0 })
        bench.say(
          `round ${round + 1}: ${Math.round(calm.rate)}/s alone, ${Math.round(stormy.rate)}/s beside ${done.requests} logins, ${done.refused} of them refused`
        )
      }
    } finally {
      await running.stop()
      await clone.drop()
    }
  }
  const ratio = (figure: 'rate' | 'p99'): number => ratioOf(beside, alone, figure) ?? Number.NaN
  const { label } = CONTESTANTS['heroes-pg']
  const where = cores === 'every' ? 'every core' : 'one core'
  return {
    rows: [
      { label, setting: `64, reads alone, ${where}`, samples: alone, ratio: undefined },
      { label, setting: `64, reads beside 64 logins, ${where}`, samples: beside, ratio: ratio('rate') },
      { label, setting: `64, the logins, ${where}`, samples: logins, ratio: undefined }
    ],
    kept: ratio('rate'),
    keptOfLeft: median(keptOfLeft),
    tail: ratio('p99'),
    refused: median(refusals)
  }
}
