import { parseArgs } from 'node:util'

export interface Options {
  /** The arguments without the folder, which does not matter to someone who repeats the run. */
  readonly asked: readonly string[]
  readonly workloads: readonly string[]
  /** The number of live tokens in the database. */
  readonly rows: number | undefined
  readonly rounds: number
  readonly seconds: number
  readonly warmUp: number
  /** Undefined when each workload uses numbers of its own. */
  readonly connections: readonly number[] | undefined
  readonly only: readonly string[] | undefined
  readonly out: string | undefined
  /** Another checkout of this project. */
  readonly before: string | undefined
  readonly build: boolean
  /** False to measure a PostgreSQL without huge pages even where it could have them. */
  readonly hugePages: boolean
  /** True to leave a profile of each contestant. */
  readonly profile: boolean
}

export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export const HELP = `npm run bench [-- workload... [options]]

  --rows N           live tokens in the database (100000; growth: 10000000)
  --rounds N         rounds, each with every contestant, forwards and backwards in turn (5)
  --seconds N        of each timed run (5)
  --warm-up N        seconds before it that do not count (2)
  --connections A,B  instead of the workload's own
  --only A,B         contestants; a ratio needs its baseline among them
  --out FOLDER       for the JSON and the charts (a new temporary folder)
  --before FOLDER    another checkout, with its packages installed: what the workloads before and startup compare this one with
  --no-build         measure what the last run built
  --no-huge-pages    for PostgreSQL, which gets them where this process may reserve them (root on Linux)
  --cpu-prof         leave a profile of each contestant in the folder, and say what is in it
`

/** The names that a command line may give. */
export interface Known {
  readonly workloads: readonly string[]
  readonly contestants: readonly string[]
}

export const readOptions = (argv: readonly string[], known: Known): Options => {
  const { values, positionals, tokens } = parse(argv)
  const list = (text: string | undefined): string[] | undefined => text?.split(',').map(part => part.trim())
  const only = list(values.only)
  requireKnown('workload', positionals, known.workloads)
  requireKnown('contestant', only ?? [], known.contestants)
  const asked = tokens.flatMap(token => {
    if (token.kind === 'positional') return token.value
    return token.kind === 'option' && token.name !== 'out' && token.name !== 'before'
      ? [token.rawName, token.value ?? []].flat()
      : []
  })
  return {
    asked,
    workloads: positionals.length > 0 ? positionals : known.workloads.filter(name => name !== 'before'),
    rows: values.rows === undefined ? undefined : positive('rows', values.rows),
    rounds: positive('rounds', values.rounds ?? '5'),
    seconds: positive('seconds', values.seconds ?? '5'),
    warmUp: positive('warm-up', values['warm-up'] ?? '2'),
    connections: list(values.connections)?.map(text => positive('connections', text)),
    only,
    out: values.out,
    before: values.before,
    build: values['no-build'] !== true,
    hugePages: values['no-huge-pages'] !== true,
    profile: values['cpu-prof'] === true
  }
}

const requireKnown = (kind: string, names: readonly string[], known: readonly string[]): void => {
  const unknown = names.find(name => !known.includes(name))
  if (unknown !== undefined) throw new UsageError(`no ${kind} is called ${unknown}; there are ${known.join(', ')}`)
}

const parse = (argv: readonly string[]) => {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      tokens: true,
      options: {
        rows: text,
        rounds: text,
        seconds: text,
        'warm-up': text,
        connections: text,
        only: text,
        out: text,
        before: text,
        'no-build': flag,
        'no-huge-pages': flag,
        'cpu-prof': flag
      }
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

const positive = (name: string, text: string): number => {
  if (!/^[1-9][0-9]{0,8}$/.test(text)) throw new UsageError(`--${name} must be a whole number above 0`)
  return Number(text)
}
