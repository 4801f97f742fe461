import type { Events, SecurityEvent } from '../../core/index.js'
import type { Lines } from './log.js'

/** Events that an operator should look at. */
const WARNINGS: ReadonlySet<SecurityEvent['event']> = new Set<SecurityEvent['event']>([
  'login.throttled',
  'grant.stolen'
])

/** Writes one line for each event. A logger of pino will do. */
export const createSecurityLog = (lines: Lines): Events => ({
  emit(event) {
    if (WARNINGS.has(event.event)) lines.warn?.(lineOf(event))
    else lines.info?.(lineOf(event))
  }
})

const lineOf = ({ requestId, ...event }: SecurityEvent): object => ({ ...event, reqId: requestId })
