import type { Logger } from 'pino'
import type { Finding } from '../doctor/advice.js'

/** Logs what is risky in a line. */
export const createWarn =
  (logger: Pick<Logger, 'warn'>) =>
  ({ check, message, advice }: Finding): void =>
    logger.warn({ check, advice }, `${check}: ${message}`)
