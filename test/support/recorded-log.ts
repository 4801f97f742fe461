// The service's log in a test: its lines are kept for the test to read, or dropped.

import type { Log } from '../../app/http/http.js'
import { createLog, type ProcessLog } from '../../app/serve/log.js'

/** The events that requests cause. The commands of the command line cause others. */
export const REQUEST_EVENTS = [
  'login.succeeded',
  'login.failed',
  'login.throttled',
  'user.registered',
  'token.issued',
  'token.refreshed',
  'refresh.repeated',
  'grant.stolen',
  'grant.revoked',
  'client.authentication_failed'
]

export interface RecordedLog {
  readonly log: ProcessLog
  /** The lines that have been written since the last call. */
  take(): Readonly<Record<string, unknown>>[]
}

/** A log of which the test reads the lines. `heard` is called after each line. */
export const recordLog = (level: string, heard = () => {}): RecordedLog => {
  const lines: string[] = []
  const write = (line: string): void => {
    lines.push(line)
    heard()
  }
  return { log: createLog(level, { write }), take: () => lines.splice(0).map(line => JSON.parse(line)) }
}

/** A log that writes nothing. */
export const silentLog = (): Log => createLog('silent', { write: () => {} })
