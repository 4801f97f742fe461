import type { Logger } from 'pino'
import { DomainError } from '../../core/index.js'
import type { LogFailure } from '../http/errors.js'

/** Logs what requests fail with, so that failures that are alike cannot fill the log. */
export interface Failures {
  /** Logs the error, or counts it when one of its kind has been logged a short while ago. */
  log: LogFailure
  /** Logs the counts at once. */
  end(): void
}

/** Failures that are alike. */
interface Kind {
  /** The time between two lines about this kind. */
  readonly seconds: number
  /** How many requests have failed since the latest line. */
  failed: number
  /** Of the latest request. */
  error: unknown
  reqId: string
  traceId: string | undefined
}

const OUTAGE_SECONDS = 60
const BUG_SECONDS = 1
/** The bugs that are told apart at a time, since a message may be different each time. */
const KINDS = 100

/**
 * The first failure of a kind is logged at once. While others follow, a line after every minute of an outage, and after
 * every second of a bug, tells how many, and what the latest was. A kind of which no failure follows is forgotten.
 */
export const createFailures = (logger: Pick<Logger, 'error'>): Failures => {
  const kinds = new Map<string, Kind>()

  const logCount = (kind: Kind): void => {
    const { failed, seconds, reqId, traceId, error } = kind
    if (failed > 0) logger.error({ reqId, traceId, failed, seconds, err: error }, 'more requests failed')
    kind.failed = 0
  }

  const logCountLater = (name: string, kind: Kind): void => {
    setTimeout(() => {
      if (kind.failed === 0) {
        kinds.delete(name)
      } else {
        logCount(kind)
        logCountLater(name, kind)
      }
    }, kind.seconds * 1000).unref()
  }

  return {
    log(error, reqId, traceId) {
      const [ownName, seconds] = kindOf(error)
      const name = seconds === OUTAGE_SECONDS || kinds.has(ownName) || kinds.size < KINDS ? ownName : 'others'
      const known = kinds.get(name)
      if (known !== undefined) {
        Object.assign(known, { failed: known.failed + 1, error, reqId, traceId })
        return
      }
      logger.error({ reqId, traceId, err: error }, 'a request failed')
      const kind = { seconds, failed: 0, error, reqId, traceId }
      kinds.set(name, kind)
      logCountLater(name, kind)
    },
    end: () => kinds.forEach(logCount)
  }
}

const kindOf = (error: unknown): readonly [name: string, seconds: number] => {
  // Of these refusals alone, `unavailable` and `overloaded` have a status of 500 or more.
  if (error instanceof DomainError) return [error.code, OUTAGE_SECONDS]
  const { name, code, message } = Object(error)
  return [`${name} ${code} ${message}`, BUG_SECONDS]
}
