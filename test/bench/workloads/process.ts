import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { type Fact, median, type Workload } from '../bench.js'
import { commandOn } from '../machine.js'
import { BUILT } from '../processes.js'

/** The use cases in one process on memory stores, as tests use them. */
export const inProcess: Workload = async bench => {
  const rates: { alone: number; together: number }[] = []
  for (let round = 0; round < bench.options.rounds; round++) {
    const script = join(BUILT, 'test/bench/contestants/in-process.js')
    const [command = '', ...args] = commandOn('node', [process.execPath, script, String(bench.options.seconds)])
    const { stdout, stderr, status } = spawnSync(command, args, { encoding: 'utf8' })
    if (status !== 0) throw new Error(stderr)
    rates.push(JSON.parse(stdout))
    bench.say(`round ${round + 1}: ${stdout.trim()}`)
  }
  const one = median(rates.map(({ alone }) => alone))
  const sixteen = median(rates.map(({ together }) => together))
  const facts: Fact[] = [
    { what: 'use cases in process: register, token, hero, one after the other', value: one, unit: '/s' },
    { what: 'the same, sixteen at once', value: sixteen, unit: '/s' },
    { what: 'the better of the two', value: Math.max(one, sixteen), unit: '/s', floor: 6000, goal: 10_000 }
  ]
  return { title: 'use cases in process on memory', rows: [], facts }
}
