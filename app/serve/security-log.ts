import type { Logger } from 'pino'
import type { Events, SecurityEvent } from '../../core/index.js'

/** Events that an operator should look at. */
const WARNINGS: ReadonlySet<SecurityEvent['event']> = new Set<SecurityEvent['event']>([
  'login.throttled',
  'grant.stolen'
])

/** Writes one line for each event. */
export const createSecurityLog = (logger: Pick<Logger, 'info' | 'warn'>): Events => ({
  tell({ requestId, ...event }) {
    const line = { ...event, ...(requestId !== undefined && { reqId: requestId }) }
    if (WARNINGS.has(event.event)) logger.warn(line)
    else logger.info(line)
  }
})
