import type { Logger } from 'pino'
import type { Events } from '../../core/index.js'
import type { Composition } from '../compose.js'
import { listenForCommands } from '../control/service.js'
import type { Settings } from '../settings/settings.js'

/** Lets commands reach the embedded database, which this process has for itself. Resolves to what ends that. */
export const takeCommands = async (
  database: Settings['database'],
  createUseCases: Composition['createUseCases'],
  events: Events,
  log: Pick<Logger, 'warn'>
): Promise<() => Promise<void>> => {
  if (database.kind !== 'embedded') return NOTHING_TO_END
  try {
    return await listenForCommands(database.folder, createUseCases, events)
  } catch (error) {
    log.warn(`commands need this service stopped, because they cannot reach it: ${Object(error).message}`)
    return NOTHING_TO_END
  }
}

const NOTHING_TO_END = async (): Promise<void> => {}
