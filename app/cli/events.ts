import type { Events } from '../../core/index.js'
import type { StatusLine } from './status-line.js'

/** The levels that show lines of level `info`. */
const SHOWING = new Set(['trace', 'debug', 'info'])
/** pino's number of the level `info`. */
const INFO = 30

/** Writes each event as one line of JSON, in the form of the service's log. */
export const createEventLines = (level: string, output: Pick<StatusLine, 'write'>): Events => ({
  emit(event) {
    if (SHOWING.has(level)) output.write(`${JSON.stringify({ level: INFO, time: Date.now(), ...event })}\n`)
  }
})
