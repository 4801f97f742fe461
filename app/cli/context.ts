import type { Environment, Settings } from '../settings.js'
import type { Work } from './administer.js'
import type { StatusLine } from './status-line.js'
import type { Terminal } from './terminal.js'

/** What every command works with. */
export interface CommandContext {
  readonly env: Environment
  readonly terminal: Terminal
  /** What stands below the lines on stderr. */
  readonly status: StatusLine
  /** Runs `work` on the database, or through the service that has it: see administer.ts. */
  withUseCases(work: Work, changes?: Partial<Settings>): Promise<void>
  /**
   * Writes to stdout: `value` as one line of JSON, or else `lines`. Unsafe characters of either are escaped. Rejects when
   * they cannot be written.
   */
  print(json: boolean | undefined, value: unknown, lines: readonly string[]): Promise<void>
  /** Writes one line to stderr that begins `heroes: `. Unsafe characters are escaped. */
  refuse(reason: string): void
}
