import type { UseCases } from '../../core/index.js'
import type { Terminal } from './terminal.js'

/** What a command is given. */
export interface CommandContext {
  readonly terminal: Terminal
  /** Runs `work` against the migrated database and closes it. Refuses on `memory:`, where there is nothing to administer. */
  withUseCases(work: (useCases: UseCases) => Promise<void>): Promise<void>
  /** Writes one JSON value, or lines for a person. */
  print(json: boolean | undefined, value: unknown, lines: readonly string[]): void
}
