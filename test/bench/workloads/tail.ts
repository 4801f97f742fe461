import { join } from 'node:path'
import { type Fact, median, type Row, type Sample, type Workload } from '../bench.js'
import { CONTESTANTS, usual } from '../contestants.js'
import { startLoad } from '../generator.js'
import { measure } from '../measure.js'
import { getPlan } from '../plan.js'
import { start } from '../processes.js'
import { ratioOf } from '../race.js'

const CONNECTIONS = 16
const LIST = 100_000

/** Reads over 16 connections, alone and beside one connection that fetches a list of 100,000 heroes again and again. */
export const tail: Workload = async bench => {
  const { rounds, seconds, warmUp } = bench.options
  const sizes = { ...usual(bench.options.rows ?? 100_000), heroes: LIST }
  const clone = await bench.postgres.clone(sizes)
  const alone: Sample[] = []
  const beside: Sample[] = []
  const lists: number[] = []
  for (let round = 0; round < rounds; round++) {
    const folder = join(bench.folder, 'contestants')
    const running = await start(CONTESTANTS['heroes-pg'], { sizes, databaseUrl: clone.url, folder })
    try {
      const reads = getPlan(running, '/heroes/{hero}', sizes.tokens, 1000)
      const besideLists = async (seconds: number) => {
        const list = startLoad(running.url, getPlan(running, '/heroes', sizes.tokens, LIST), 1, seconds + 1)
        const sample = await measure(bench, running, reads, CONNECTIONS, seconds)
        const { requests, refused, failed } = await list.done
        if (refused + failed > 0) throw new Error(`${refused + failed} lists were refused or lost`)
        return { sample, rate: requests / (seconds + 1) }
      }
      await besideLists(warmUp)
      alone.push(await measure(bench, running, reads, CONNECTIONS, seconds))
      const { sample, rate } = await besideLists(seconds)
      beside.push(sample)
      lists.push(rate)
      bench.say(`round ${round + 1}: p99 ${alone.at(-1)?.p99} µs alone, ${beside.at(-1)?.p99} µs beside lists`)
    } finally {
      await running.stop()
    }
  }
  await clone.drop()
  const ratio = (figure: 'rate' | 'p99'): number => ratioOf(beside, alone, figure) ?? Number.NaN
  const { label } = CONTESTANTS['heroes-pg']
  const rows: Row[] = [
    { label, setting: '16, reads alone', samples: alone, ratio: undefined },
    { label, setting: '16, beside lists of 100,000', samples: beside, ratio: ratio('rate') }
  ]
  const facts: Fact[] = [
    { what: 'p99 of reads beside lists of 100,000, × without', value: ratio('p99'), floor: 3, goal: 2, atMost: true },
    { what: 'lists of 100,000 fetched meanwhile', value: median(lists), unit: '/s' }
  ]
  return { title: 'reads while a list of 100,000 is fetched again and again', rows, facts }
}
