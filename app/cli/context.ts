import type { Administration } from '../control/protocol.js'
import type { Environment } from '../settings.js'
import type { StatusLine } from './status-line.js'
import type { Terminal } from './terminal.js'

/** What every command works with. */
export interface CommandContext {
  readonly env: Environment
  readonly terminal: Terminal
  /** What stands below the lines on stderr. */
  readonly status: StatusLine
  /**
   * Opens the database, updates its schema, runs `work` and closes the database. Where a service has the embedded
   * database, `work` runs with the use cases of that service. Rejects on `memory:`.
   */
  withUseCases(work: (useCases: Administration) => Promise<void>): Promise<void>
  /**
   * Writes to stdout: `value` as one line of JSON, or else `lines`. Unsafe characters of either are escaped. Rejects when
   * they cannot be written.
   */
  print(json: boolean | undefined, value: unknown, lines: readonly string[]): Promise<void>
  /** Writes one line to stderr that begins `heroes: `. Unsafe characters are escaped. */
  refuse(reason: string): void
}
