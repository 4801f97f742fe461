import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bench } from './bench.js'
import { CONTESTANTS } from './contestants.js'
import { startPostgres } from './database.js'
import { generator } from './generator.js'
import { bindTo, describeMachine } from './machine.js'
import { HELP, type Known, type Options, readOptions, UsageError } from './options.js'
import { builtIn, THIS_CHECKOUT } from './processes.js'
import { printProfiles } from './profile.js'
import { printOutcome, writeOutcome } from './report.js'
import { WORKLOADS } from './workloads.js'

const build = (checkout: string): void => {
  rmSync(builtIn(checkout), { recursive: true, force: true })
  // One compiler with one set of options builds the service and the contestants. The output is not in `dist`, which other
  // processes may be using.
  const { status } = spawnSync('npx', ['tsc', '-p', join(checkout, 'test/bench')], { stdio: 'inherit' })
  if (status !== 0) throw new Error('the build failed')
}

const main = async (options: Options): Promise<void> => {
  const folder = options.out ?? mkdtempSync(join(tmpdir(), 'heroes-bench-'))
  mkdirSync(folder, { recursive: true })
  if (options.build) {
    for (const checkout of [THIS_CHECKOUT, options.before ?? []].flat()) build(checkout)
  }
  // PostgreSQL and the load generators inherit it.
  bindTo('load', [process.pid])
  const started = performance.now()
  const say = (text: string): void => {
    process.stderr.write(`${((performance.now() - started) / 1000).toFixed(0).padStart(5)} s  ${text}\n`)
  }
  const postgres = await startPostgres(options)
  const bench: Bench = { options, postgres, folder, say }
  const conditions = {
    command: `npm run bench -- ${options.asked.join(' ')}`.trimEnd(),
    machine: describeMachine(),
    postgres: postgres.version,
    generator,
    rounds: options.rounds,
    seconds: options.seconds
  }
  console.log(
    `${conditions.machine}; PostgreSQL ${postgres.version}, durable; requests by ${generator}; ${options.rounds} rounds of ${options.seconds} s`
  )
  if (generator !== 'wrk') console.log('wrk is missing: autocannon is slower, and its times are whole milliseconds')
  try {
    for (const name of options.workloads) {
      const workload = WORKLOADS[name]
      if (workload === undefined) continue
      say(name)
      try {
        const outcome = await workload(bench)
        console.log(printOutcome(outcome))
        if (options.profile) console.log(printProfiles(bench))
        for (const file of writeOutcome(folder, name, outcome, conditions)) say(file)
      } catch (error) {
        // A workload that fails does not end the run, as the figures of the others are still wanted.
        console.log(`\n## ${name} failed: ${error instanceof Error ? error.stack : error}`)
        process.exitCode = 1
      }
    }
  } finally {
    await postgres.remove()
  }
  console.log(`\nResults: ${folder}`)
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1))

const known: Known = { workloads: Object.keys(WORKLOADS), contestants: Object.keys(CONTESTANTS) }
const names = `Workloads: ${known.workloads.join(', ')}\nContestants: ${known.contestants.join(', ')}`
try {
  if (process.argv.includes('--help')) console.log(`${HELP}\n${names}`)
  else await main(readOptions(process.argv.slice(2), known))
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  console.error(`${error.message}\n\n${HELP}`)
  process.exitCode = 2
}
