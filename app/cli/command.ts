import type { Command, Option } from 'commander'
import type { Environment } from '../settings/settings.js'
import type { Access, Work } from './administer.js'
import { confirm, type StatusLine, type Terminal } from './terminal.js'

/** What a command prints: `value` as one line of JSON with `--json`, and `lines` without. */
type Printed = readonly [value: unknown, lines: readonly string[]]

export interface JsonOption {
  readonly json?: true
}

/** What every command works with. */
export interface CommandContext {
  readonly env: Environment
  readonly terminal: Terminal
  /** The line of progress, which stays below the other lines on stderr. */
  readonly status: StatusLine
  /** Runs `work` on the database, or through the service that has it: see administer.ts. */
  withUseCases(work: Work<void>, access?: Access): Promise<void>
  /** Writes to stdout, with unsafe characters escaped. Rejects when that is not possible. */
  print(options: JsonOption, output: Printed): Promise<void>
  /** Runs `work` as {@link withUseCases} does, and prints what it resolves to. */
  show(options: JsonOption & Access, work: Work<Printed>): Promise<void>
  /** Writes one line to stderr that begins `heroes: `. Unsafe characters are escaped. */
  refuse(reason: string): void
}

/** One command. All of them have the option `--json`. */
export interface CommandEntry {
  /** As `add <id>`. */
  readonly words: string
  readonly description: string
  /** A whole command line behind `npx heroes`, which the help shows. */
  readonly example: string
  readonly options?: readonly Option[]
  /** What `--json` does. */
  readonly json?: string
  /** Asks before something is removed, and has `--yes` against that: the question, and what is said after a no. */
  readonly confirms?: (name: string) => readonly [question: string, refusal: string]
  readonly action: (...args: Parameters<Parameters<Command['action']>[0]>) => Promise<void>
}

/** Adds a command whose help ends with an example. */
export const addCommand = (group: Command, words: string, description: string, example: string): Command =>
  group.command(words).description(description).addHelpText('after', `\nExample:\n  ${example}`)

export const addCommands = (group: Command, terminal: Terminal, entries: readonly CommandEntry[]): void => {
  for (const { words, description, example, options = [], json = 'print JSON', confirms, action } of entries) {
    const command = addCommand(group, words, description, `npx heroes ${example}`)
    for (const option of options) command.addOption(option)
    if (confirms) command.option('--yes', 'remove without asking (without a terminal nothing is asked)')
    command.option('--json', json).action(async (...args) => {
      const [name] = command.args
      if (confirms && name !== undefined && command.opts().yes !== true) await confirm(terminal, ...confirms(name))
      await action(...args)
    })
  }
}
