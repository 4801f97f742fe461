import { DomainError } from '../../core/index.js'
import type { ProcessLog } from './log.js'
import { REAL_TIME } from './preparing.js'
import type { Stop } from './stop.js'

const LOOK_MILLISECONDS = 1000

/**
 * Returns the function to call with each failure. From the first one on it checks the database once a second, until it can
 * be used, and then logs how long the outage was. Where the database can be used at once, as it can when one table is
 * locked, there is no outage.
 */
export const createOutageWatch = (
  check: () => Promise<void>,
  stop: Pick<Stop, 'asked'>,
  log: Pick<ProcessLog, 'logger' | 'end'>,
  time = REAL_TIME
): ((error: unknown) => Promise<void>) => {
  let isWatching = false
  const isAway = (): Promise<boolean> =>
    check().then(
      () => false,
      () => true
    )
  return async error => {
    if (isWatching || !(error instanceof DomainError) || error.code !== 'unavailable') return
    isWatching = true
    const startedAt = time.now()
    let looks = 0
    while (!stop.asked() && (await isAway())) {
      looks += 1
      await time.pass(LOOK_MILLISECONDS)
    }
    if (looks > 0 && !stop.asked()) {
      // The next outage is logged with its own cause, and its requests do not count as those of this one.
      log.end()
      log.logger.info({ seconds: Math.round((time.now() - startedAt) / 1000) }, 'the database can be used again')
    }
    isWatching = false
  }
}
