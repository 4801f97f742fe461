import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type Composition, lacksWrites, mayPrepareLater, prepareSchema } from '../compose.js'
import type { NameIndexLack } from '../database.js'
import type { Settings } from '../settings/settings.js'
import type { Stop } from './stop.js'

/**
 * What the database lacks. Undefined when nothing could be prepared and the process serves nevertheless: the database answers
 * and takes no writes, or is away where a worker takes the place of another. The first workers start only after
 * `prepareForWorkers` has reached the database.
 */
export const prepare = async (
  composition: Composition,
  settings: Settings,
  isWorker: boolean
): Promise<readonly NameIndexLack[] | undefined> => {
  try {
    return await prepareSchema(composition, settings)
  } catch (error) {
    if (isWorker ? mayPrepareLater(error) : lacksWrites(error)) return undefined
    throw error
  }
}

const RETRY_MILLISECONDS = 1000

/**
 * Prepares the schema once the database takes writes. Resolves with what the database lacks, undefined after a signal.
 * Rejects when it turns out to be unfit.
 */
export const prepareLater = async (
  composition: Composition,
  settings: Settings,
  stop: Stop,
  log: Pick<Logger, 'info' | 'warn'>
): Promise<readonly NameIndexLack[] | undefined> => {
  log.warn('the database takes no writes; until it does, requests that need it are answered with 503')
  let lacks: readonly NameIndexLack[] | undefined
  while (lacks === undefined && !stop.asked()) {
    await sleep(RETRY_MILLISECONDS, undefined, { ref: false })
    try {
      lacks = await prepareSchema(composition, settings)
      log.info('the database takes writes')
    } catch (error) {
      if (!mayPrepareLater(error)) throw error
    }
  }
  return lacks
}
