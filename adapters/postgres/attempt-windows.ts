import { secondsAfter } from '../../core/instants.js'
import type { Digest } from '../../core/model.js'
import type { AttemptLimit, FullWindow } from '../../core/ports.js'

/** The window of a key, which may have ended. */
export interface Window extends Omit<FullWindow, 'key'> {
  readonly count: number
}

/** What {@link AttemptStore.take} is called with. */
export interface Attempt {
  readonly limits: readonly AttemptLimit[]
  readonly at: Date
  readonly windowSeconds: number
}

/** The full ones among the windows of an attempt. */
export const fullOf = (
  { limits, at }: Pick<Attempt, 'limits' | 'at'>,
  windowOf: (key: Digest) => Window | undefined
): readonly FullWindow[] =>
  limits.flatMap(({ key, most }) => {
    const window = windowOf(key)
    if (window === undefined || window.endsAt <= at || window.count < most) return []
    const { endsAt, countedAt, failures } = window
    return [{ key, endsAt, countedAt, failures }]
  })

/**
 * Counts one attempt after the other. `results` has the full windows of each attempt that found any, and undefined for the
 * others; `counted` has the windows that have changed.
 */
export const countEach = (attempts: readonly Attempt[], stored: ReadonlyMap<Digest, Window>) => {
  const counted = new Map<Digest, Window>()
  const windowOf = (key: Digest): Window | undefined => counted.get(key) ?? stored.get(key)
  const results = attempts.map(attempt => {
    const full = fullOf(attempt, windowOf)
    if (full.length > 0) return full
    const { limits, at, windowSeconds } = attempt
    for (const { key } of limits) {
      const window = windowOf(key)
      const running = window !== undefined && window.endsAt > at
      counted.set(key, {
        ...(running ? window : { failures: 0, endsAt: secondsAfter(at, windowSeconds) }),
        count: running ? window.count + 1 : 1,
        countedAt: at
      })
    }
    return undefined
  })
  return { counted, results }
}
