import { secondsAfter } from './instants.js'

const SECONDS = 1
const MOST = 10_000

/** What one process remembers for {@link SECONDS}. Other instances may change meanwhile what it was learned from. */
export interface Recent<Value> {
  /** Undefined when nothing is remembered under the key at `now`. */
  recall(key: string, now: Date): Value | undefined
  /** Remembers until {@link SECONDS} after `now`, or until `end` if that is earlier. The oldest of too many are forgotten. */
  remember(key: string, value: Value, now: Date, end?: Date): void
  forget(key: string): void
  /** False when nothing is remembered at `now`, under whatever key: whoever asks first saves making the key. */
  holdsAny(now: Date): boolean
}

export const createRecent = <Value>(): Recent<Value> => {
  const remembered = new Map<string, { readonly value: Value; readonly until: Date }>()
  /** When the last of all is forgotten. */
  let lastEnd: Date | undefined
  return {
    recall(key, now) {
      const found = remembered.get(key)
      return found !== undefined && now < found.until ? found.value : undefined
    },

    remember(key, value, now, end) {
      const soon = secondsAfter(now, SECONDS)
      const until = end === undefined || soon < end ? soon : end
      // `delete` before `set` puts the key at the end of the map: those that were remembered first come first.
      remembered.delete(key)
      remembered.set(key, { value, until })
      if (lastEnd === undefined || lastEnd < until) lastEnd = until
      for (const oldest of remembered.keys()) {
        if (remembered.size <= MOST) break
        remembered.delete(oldest)
      }
    },

    forget(key) {
      remembered.delete(key)
    },

    holdsAny: now => lastEnd !== undefined && now < lastEnd
  }
}
