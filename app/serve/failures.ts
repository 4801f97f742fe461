import type { Logger } from 'pino'
import { DomainError, refusals } from '../../core/index.js'
import type { LogFailure } from '../http/errors.js'

/** What a balancer is told of a service that ends. It is no failure. */
export const ENDING = refusals.shuttingDown()

/** Failures that are alike. */
interface Alike {
  /** The time between two lines about this kind. */
  readonly seconds: number
  /** How many requests have failed since the latest line. */
  failed: number
  /** What the line of the latest request would have. */
  latest: object
}

const OUTAGE_SECONDS = 60
const BUG_SECONDS = 1
/** The bugs that are told apart at a time, since a message may be different each time. */
const KINDS = 100

/**
 * Logs what requests fail with, so that failures that are alike cannot fill the log. The first of a kind is logged at
 * once. While others follow, a line after every minute of an outage, and after every second of a bug, tells how many,
 * and what the latest was. A kind of which no failure follows is forgotten. `end` logs the counts at once, and
 * forgets all kinds.
 */
export const createFailures = (logger: Pick<Logger, 'error'>): { readonly log: LogFailure; end(): void } => {
  const kinds = new Map<string, Alike>()

  const logCount = (kind: Alike): void => {
    const { failed, seconds, latest } = kind
    if (failed > 0) logger.error({ failed, seconds, ...latest }, 'more requests failed')
    kind.failed = 0
  }

  const logCountLater = (name: string, kind: Alike): void => {
    const over = (): void => {
      // After `end` another kind may have the name.
      if (kinds.get(name) !== kind) return
      if (kind.failed === 0) kinds.delete(name)
      else logCountLater(name, kind)
      logCount(kind)
    }
    setTimeout(over, kind.seconds * 1000).unref()
  }

  return {
    log(err, reqId, traceId) {
      if (err === ENDING) return
      const latest = { reqId, traceId, err }
      const [ownName, seconds] = kindOf(err)
      const name = seconds === OUTAGE_SECONDS || kinds.has(ownName) || kinds.size < KINDS ? ownName : 'others'
      const known = kinds.get(name)
      if (known !== undefined) {
        known.failed += 1
        known.latest = latest
        return
      }
      logger.error(latest, 'a request failed')
      const kind = { seconds, failed: 0, latest }
      kinds.set(name, kind)
      logCountLater(name, kind)
    },
    end() {
      kinds.forEach(logCount)
      kinds.clear()
    }
  }
}

const kindOf = (error: unknown): readonly [name: string, seconds: number] => {
  // Of all DomainErrors `unavailable` and `overloaded` alone arrive here: the others have a status below 500.
  if (error instanceof DomainError) return [error.code, OUTAGE_SECONDS]
  const { name, code, message } = Object(error)
  return [`${name} ${code} ${message}`, BUG_SECONDS]
}
