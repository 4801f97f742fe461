import { join } from 'node:path'
import { median, type Sample, type Workload } from '../bench.js'
import { askForToken } from '../checks.js'
import { CONTESTANTS, usual } from '../contestants.js'
import { BASIC, username } from '../data.js'
import { startLoad } from '../generator.js'
import { measure, timesOf } from '../measure.js'
import { getPlan, throttledPlan } from '../plan.js'
import { type Running, start } from '../processes.js'
import { ratioOf } from '../race.js'

const READERS = 64
/** With a pause of 100 ms after each answer they come to nearly 3,000 requests a second. */
const GUESSERS = 320
const PAUSE = 100

/** Reads alone, and beside 3,000 logins a second that the throttle refuses. */
export const throttled: Workload = async bench => {
  const { rounds, seconds, warmUp } = bench.options
  const sizes = usual(bench.options.rows ?? 100_000)
  const clone = await bench.postgres.clone(sizes)
  const alone: Sample[] = []
  const beside: Sample[] = []
  const refusals: Sample[] = []
  const running = await start(CONTESTANTS['heroes-pg'], {
    sizes,
    databaseUrl: clone.url,
    folder: join(bench.folder, 'contestants')
  })
  try {
    await fillCount(running)
    const reads = getPlan(running, '/heroes/{hero}', sizes.tokens, sizes.heroes)
    const besideGuesses = async (seconds: number) => {
      const load = startLoad(running.url, throttledPlan(PAUSE), GUESSERS, seconds + 1)
      const sample = await measure(bench, running, reads, READERS, seconds)
      const done = await load.done
      if (done.failed > 0 || done.refused < done.requests)
        throw new Error(`of ${done.requests} ${done.refused} were refused`)
      return { sample, refused: { ...timesOf(done), nodeCpu: 0, postgresCpu: 0, memory: 0 } }
    }
    await besideGuesses(warmUp)
    for (let round = 0; round < rounds; round++) {
      const turns = [
        async () => alone.push(await measure(bench, running, reads, READERS, seconds)),
        async () => {
          const { sample, refused } = await besideGuesses(seconds)
          beside.push(sample)
          refusals.push(refused)
        }
      ]
      for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn()
      const [before, during] = [alone, beside].map(samples => Math.round(samples.at(-1)?.rate ?? 0))
      bench.say(
        `round ${round + 1}: ${before}/s alone, ${during}/s beside ${Math.round(refusals.at(-1)?.rate ?? 0)} refusals/s`
      )
    }
  } finally {
    await running.stop()
    await clone.drop()
  }
  const kept = ratioOf(beside, alone)
  const { label } = CONTESTANTS['heroes-pg']
  return {
    title: 'reads beside 3,000 logins a second that the throttle refuses',
    rows: [
      { label, setting: `${READERS}, reads alone`, samples: alone, ratio: undefined },
      { label, setting: `${READERS}, reads beside refusals`, samples: beside, ratio: kept },
      { label, setting: `${GUESSERS}, refused logins`, samples: refusals, ratio: undefined }
    ],
    facts: [
      { what: 'reads kept beside 3,000 throttled logins a second', value: kept ?? Number.NaN, floor: 0.75 },
      { what: 'refused logins meanwhile', value: median(refusals.map(({ rate }) => rate)), unit: '/s' }
    ]
  }
}

/** Guesses until the count of the first user is full. */
const fillCount = async (running: Running): Promise<void> => {
  for (let guesses = 0; guesses < 100; guesses++) {
    const { status } = await askForToken(
      running,
      { grant_type: 'password', username: username(1), password: 'a guess' },
      BASIC
    )
    if (status === 429) return
  }
  throw new Error('no guess was refused')
}
