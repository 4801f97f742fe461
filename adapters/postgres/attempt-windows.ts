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
const fullOf = (
  { limits, at }: Pick<Attempt, 'limits' | 'at'>,
  windowOf: (key: Digest) => Window | undefined
): readonly FullWindow[] =>
  limits.flatMap(({ key, most }) => {
    const window = windowOf(key)
    if (window === undefined || window.endsAt <= at || window.count < most) return []
    const { endsAt, countedAt, failures } = window
    return [{ key, endsAt, countedAt, failures }]
  })

/** What each attempt alone finds full. */
export const fullOfEach = (
  attempts: readonly Attempt[],
  stored: ReadonlyMap<Digest, Window>
): ReadonlyMap<Attempt, readonly FullWindow[]> =>
  new Map(attempts.map(attempt => [attempt, fullOf(attempt, key => stored.get(key))]))

/** The full windows of each attempt that finds any, when the others are counted one after the other. */
export const judgeEach = (
  attempts: readonly Attempt[],
  stored: ReadonlyMap<Digest, Window>
): ReadonlyMap<Attempt, readonly FullWindow[]> => {
  const refused = new Map<Attempt, readonly FullWindow[]>()
  const counted = new Map<Digest, Window>()
  const windowOf = (key: Digest): Window | undefined => counted.get(key) ?? stored.get(key)
  for (const attempt of attempts) {
    const full = fullOf(attempt, windowOf)
    if (full.length > 0) {
      refused.set(attempt, full)
      continue
    }
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
  }
  return refused
}

/** What several attempts count together under one key. */
export interface Total {
  readonly times: number
  readonly most: number
  /** When the last of them was tried. */
  readonly countedAt: Date
  /** The end of a window that begins with the first of them. */
  readonly endsAt: Date
}

/** What the attempts count, by the key. */
export const totalsOf = (attempts: readonly Attempt[]): ReadonlyMap<Digest, Total> => {
  const totals = new Map<Digest, Total>()
  for (const { limits, at, windowSeconds } of attempts) {
    for (const { key, most } of limits) {
      const { times, endsAt } = totals.get(key) ?? { times: 0, endsAt: secondsAfter(at, windowSeconds) }
      totals.set(key, { times: times + 1, most, countedAt: at, endsAt })
    }
  }
  return totals
}
