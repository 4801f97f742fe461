import type { Readable } from 'node:stream'

/** In milliseconds. 64 kB every two milliseconds are 10 MB in a third of a second. */
const SHORTEST_REST = 2

/** Calls back when it is the caller's turn. */
export type Pace = (go: () => void) => void

/**
 * Makes a {@link Pace} that calls back one caller after the other. After each call comes a rest, for as long as the call and
 * what followed from it held the event loop: at least half of its time is left to everything else.
 */
export const createPace = (): Pace => {
  const waiting: (() => void)[] = []
  let idle = true

  const next = (): void => {
    const go = waiting.shift()
    idle = go === undefined
    if (go === undefined) return
    const startedAt = performance.now()
    go()
    // The event loop comes to it when everything that has been called back for is done.
    setImmediate(() => setTimeout(next, Math.max(SHORTEST_REST, performance.now() - startedAt)))
  }
  return go => {
    waiting.push(go)
    if (!idle) return
    idle = false
    setTimeout(next, SHORTEST_REST)
  }
}

/**
 * Reads no more from `source` until it has its turn. Otherwise Node would read up to 2 MB of it before it looks at another
 * connection, and a client that sends without end would leave others a tenth of their rate.
 */
export const pauseFor = (source: Pick<Readable, 'pause' | 'resume'>, pace: Pace): void => {
  source.pause()
  pace(() => source.resume())
}
