import { DomainError, type Events } from '../../core/index.js'
import { compose, folderInUse, prepareSchema } from '../compose.js'
import type { Administration } from '../control/protocol.js'
import type { NameIndexLack } from '../database.js'
import { type Environment, readSettings, type Settings } from '../settings/settings.js'
import type { StatusLine } from './terminal.js'

/** What a command does with the use cases. `lacks`: what the database lacks and the service can do without. */
export type Work<Result> = (useCases: Administration, lacks: readonly NameIndexLack[]) => Promise<Result>

/**
 * Opens the database, updates its schema, runs `work` and closes the database. Where a service has the embedded
 * database, `work` runs with the use cases of that service. Rejects on `memory:`. `changes` are to the settings.
 */
export const administer = async (
  env: Environment,
  stderr: Pick<StatusLine, 'write'>,
  work: Work<void>,
  changes: Partial<Settings> = {}
): Promise<void> => {
  const settings = { ...readSettings(env), ...changes }
  if (settings.database.kind === 'memory') {
    throw new DomainError('invalid_input', 'DATABASE_URL is memory:, where there is nothing to administer')
  }
  const events = createEventLines(settings.logLevel, stderr)
  const composition = await compose(settings).catch(async (error: unknown) => {
    const folder = folderInUse(error, settings)
    if (folder === undefined) throw error
    // Imported when it is wanted: no other command needs it.
    const { callService } = await import('../control/client.js')
    const service = await callService(folder, events)
    if (service === undefined) throw error
    return service
  })
  if ('useCases' in composition) return work(composition.useCases, []).finally(composition.close)
  try {
    const lacks = await prepareSchema(composition, settings)
    await work(composition.createUseCases(events), lacks)
  } finally {
    await composition.database.close()
  }
}

/** Writes each event as one line of JSON, in the form of the service's log. Not by pino, which takes long to load. */
const createEventLines = (level: string, output: Pick<StatusLine, 'write'>): Events => ({
  emit(event) {
    // Events have the level `info`, which is 30 in pino's lines.
    if (!['trace', 'debug', 'info'].includes(level)) return
    output.write(`${JSON.stringify({ level: 30, time: Date.now(), ...event })}\n`)
  }
})
