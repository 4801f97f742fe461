import { parseArgs } from 'node:util'
import { beforeIn, build } from './contestants.js'
import { type Figure, furtherFigures, judge } from './figures.js'
import { startGenerator } from './generator.js'
import { growth } from './growth.js'
import { HEADLINE, headline } from './headline.js'
import { lists } from './lists.js'
import { logins } from './logins.js'
import { bindToLoad, describeMachine } from './machine.js'
import type { Bench, Options, Result } from './race.js'
import { startDurableServer } from './server.js'
import { start } from './start.js'

/** Workloads that are one race each. Those of HEADLINE share one. */
const OTHERS: Readonly<Record<string, (bench: Bench) => Promise<Result>>> = { lists, logins, growth, start }

const NAMES: readonly string[] = [...HEADLINE, ...Object.keys(OTHERS)]

const HELP = `npm run bench [-- WORKLOAD... [--rounds N] [--seconds N] [--before FOLDER] [--tokens N]]

  WORKLOAD         ${NAMES.join(', ')} (the first four)
  --rounds N       in each of which every contestant starts anew (5)
  --seconds N      for which a contestant is timed in a setting and round (2)
  --before FOLDER  another checkout, with its packages installed, whose service is a contestant too
  --tokens N       for growth (10000000)
`

class UsageError extends Error {}

const readOptions = (args: string[]): Options => {
  const { values, positionals } = parse(args)
  const unknown = positionals.find(name => !NAMES.includes(name))
  if (unknown !== undefined) throw new UsageError(`no workload is called ${unknown}`)
  return {
    workloads: positionals.length === 0 ? HEADLINE : positionals,
    rounds: Math.ceil(positive('rounds', values.rounds ?? '5')),
    seconds: positive('seconds', values.seconds ?? '2'),
    tokens: Math.ceil(positive('tokens', values.tokens ?? '10000000')),
    before: values.before
  }
}

const parse = (args: string[]) => {
  const text = { type: 'string' } as const
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: { rounds: text, seconds: text, before: text, tokens: text }
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

const positive = (name: string, text: string): number => {
  const value = Number(text)
  if (!(value > 0 && value < 1e9)) throw new UsageError(`--${name} must be a number above 0`)
  return value
}

const main = async (options: Options): Promise<void> => {
  const { workloads, rounds, seconds, before } = options
  const begun = performance.now()
  const say = (text: string): void => {
    process.stderr.write(`${((performance.now() - begun) / 1000).toFixed().padStart(5)} s  ${text}\n`)
  }
  say('building')
  await build()
  if (before !== undefined) await build(before)
  // PostgreSQL and the load inherit it.
  bindToLoad()
  const server = await startDurableServer(before)
  const generator = startGenerator()
  const bench: Bench = { options, server, generator, before: before === undefined ? undefined : beforeIn(before), say }
  const figures: Figure[] = []
  try {
    console.log(`${describeMachine()}; PostgreSQL ${server.version}, durable; ${rounds} rounds of ${seconds} s`)
    const races = [
      ...(HEADLINE.some(name => workloads.includes(name)) ? [headline] : []),
      ...workloads.flatMap(name => OTHERS[name] ?? [])
    ]
    for (const race of races) {
      const result = await race(bench)
      figures.push(...result.figures)
      console.log(`\n## ${result.title}\n\n${result.table}`)
    }
  } finally {
    generator.stop()
    await server.remove()
  }
  const verdict = judge(figures)
  console.log(`\n## Figures\n\n${furtherFigures(figures)}\n\n${verdict.table}`)
  if (!verdict.allHold) process.exitCode = 1
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1))

try {
  if (process.argv.includes('--help')) console.log(HELP)
  else await main(readOptions(process.argv.slice(2)))
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  console.error(`${error.message}\n\n${HELP}`)
  process.exitCode = 2
}
