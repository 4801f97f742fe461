import type { Events } from '../../core/index.js'
import { type Composition, compose, folderInUse, hasEmbeddedDatabase, prepareSchema } from '../compose.js'
import type { RunningService } from '../control/client.js'
import type { Administration } from '../control/protocol.js'
import type { NameIndexLack } from '../database.js'
import { type Environment, type LastingDatabase, readSettings, type Settings } from '../settings/settings.js'
import type { StatusLine } from './terminal.js'

/** What a command does with the use cases. `lacks`: what the database lacks and the service can do without. */
export type Work<Result> = (useCases: Administration, lacks: readonly NameIndexLack[]) => Promise<Result>

/** How a command uses the database. */
export interface Access {
  /** It only reads, so no database is made for it. */
  readonly reads?: true
  /** Migrations are applied whatever MIGRATE says. */
  readonly migrates?: true
}

/**
 * Opens the database, updates its schema, runs `work` and closes the database. Where a service has the embedded
 * database, `work` runs with the use cases of that service. Rejects on `memory:`, and where there is no database for a
 * command that only reads.
 */
export const administer = async (
  env: Environment,
  stderr: Pick<StatusLine, 'write'>,
  work: Work<void>,
  { reads, migrates }: Access = {}
): Promise<void> => {
  const settings = lastingSettings(env)
  if (reads) await requireDatabase(settings)
  const events = createEventLines(settings.logLevel, stderr)
  const reached = await reach(settings, events)
  if ('useCases' in reached) return work(reached.useCases, []).finally(reached.close)
  try {
    const lacks = await prepareSchema(reached, migrates ? { ...settings, migrate: true } : settings)
    await work(reached.createUseCases(events), lacks)
  } finally {
    await reached.database.close()
  }
}

/**
 * Runs `save` with the whole embedded database as a tar, which the service gives that has it. No migration is applied.
 * Rejects where there is no embedded database.
 */
export const backUp = async (
  env: Environment,
  stderr: Pick<StatusLine, 'write'>,
  save: (tar: AsyncIterable<Uint8Array>) => Promise<void>
): Promise<void> => {
  const settings = lastingSettings(env)
  await requireDatabase(settings)
  const reached = await reach(settings, createEventLines(settings.logLevel, stderr))
  const { backup, close } = 'useCases' in reached ? reached : reached.database
  try {
    if (backup === undefined) throw new Error(NOT_EMBEDDED)
    await save(await backup())
  } finally {
    await close()
  }
}

export const NOT_EMBEDDED =
  'DATABASE_URL names a server, and backups are of the embedded database; back the server up with its own tools'

type LastingSettings = Settings & { readonly database: LastingDatabase }

/** The settings of a database that outlives the process. Throws on `memory:`. */
export const lastingSettings = (env: Environment): LastingSettings => {
  const settings = readSettings(env)
  const { database } = settings
  if (database.kind === 'memory') {
    throw new Error('DATABASE_URL is memory:, where there is nothing to administer')
  }
  return { ...settings, database }
}

/** Rejects where no embedded database has been made yet. */
export const requireDatabase = async ({ database }: LastingSettings): Promise<void> => {
  if (database.kind === 'server' || (await hasEmbeddedDatabase(database.folder))) return
  throw new Error(`there is no database in DATA_DIR, ${database.folder}; the first start of the service makes one`)
}

/** Opens the database, or finds the service that has it. The caller closes either. */
const reach = (settings: LastingSettings, events: Events): Promise<Composition | RunningService> =>
  compose(settings).catch(async (error: unknown) => {
    const folder = folderInUse(error, settings)
    if (folder === undefined) throw error
    // Imported when it is wanted: no other command needs it.
    const { callService } = await import('../control/client.js')
    const service = await callService(folder, events)
    if (service === undefined) throw error
    return service
  })

/** Writes each event as one line of JSON, in the form of the service's log. Not by pino, which takes long to load. */
const createEventLines = (level: string, output: Pick<StatusLine, 'write'>): Events => ({
  emit(event) {
    // Events have the level `info`, which is 30 in pino's lines.
    if (!['trace', 'debug', 'info'].includes(level)) return
    output.write(`${JSON.stringify({ level: 30, time: Date.now(), ...event })}\n`)
  }
})
