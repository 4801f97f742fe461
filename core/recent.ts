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
}

export const createRecent = <Value>(): Recent<Value> => {
  const remembered = new Map<string, { readonly value: Value; readonly until: Date }>()
  return {
    recall(key, now) {
      const found = remembered.get(key)
      return found !== undefined && now < found.until ? found.value : undefined
    },

    remember(key, value, now, end) {
      const soon = secondsAfter(now, SECONDS)
      // `delete` before `set` puts the key at the end of the map: those that were remembered first come first.
      remembered.delete(key)
      remembered.set(key, { value, until: end === undefined || soon < end ? soon : end })
      for (const oldest of remembered.keys()) {
        if (remembered.size <= MOST) break
        remembered.delete(oldest)
      }
    },

    forget(key) {
      remembered.delete(key)
    }
  }
}
