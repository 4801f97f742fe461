import { SIGNALS } from './stop.js'

/** How a process ended. */
export interface Ending {
  /** Null when a signal ended it, and when it never ran. */
  readonly code: number | null
  /** The signal that ended it, if one did. */
  readonly signal: string | null
  /** Why the start failed, if it did. */
  readonly reason?: string | undefined
}

/** What the supervisor is told of a worker that it has started. */
export interface Reports {
  listening(): void
  ended(ending: Ending): void
}

/** A worker that runs. No method throws, also not after its end. */
export interface Worker {
  /** Asks it to end after a drain. At the second request it does not wait for `DRAIN_DELAY`. */
  stop(): void
  kill(): void
}

/** What the supervision needs of the world, and whom it tells. */
interface World {
  /** Starts the worker with this number, from 1. It reports nothing before this has returned. */
  fork(number: number, reports: Reports): Worker
  readonly log: Record<'warn' | 'error', (line: object, text: string) => void>
  /** Called once: when the first worker listens. */
  listening(): void
  /** Called at the end, when no worker runs any more. The exit code is 0 when each that was asked to end did well. */
  ended(exitCode: number): void
  /** Called at the end in place of `ended`: no worker ever listened, or the supervision was told to fail. */
  failed(reason: Error): void
}

/** A worker that has listened for so long is well, whatever happened to those before it. */
const WELL_MILLISECONDS = 10_000
const FIRST_PAUSE_MILLISECONDS = 500
const LONGEST_PAUSE_MILLISECONDS = 10_000
/** A drain takes ten seconds at most. Closing the database and writing the rest of the log take a few more. */
const STOP_MILLISECONDS = 16_000

/** What one worker after another has in common. */
interface Place {
  readonly number: number
  worker?: Worker | undefined
  /** How many workers have ended here since one was well. */
  ended: number
  /** Until the next start, or until the worker is well. */
  timer?: NodeJS.Timeout
}

/**
 * Keeps so many workers running until it is stopped. A worker that ends is replaced at once. When the replacement ends
 * before it was well, the pause before each further try grows from half a second to ten. After a worker that never listened,
 * it is that of one more end.
 */
export const supervise = (count: number, drainDelaySeconds: number, world: World) => {
  const places = Array.from({ length: count }, (_, index): Place => ({ number: index + 1, ended: 0 }))
  let stopping = false
  let exitCode = 0
  let listened = false
  let failure: Error | undefined
  let killing: NodeJS.Timeout | undefined

  const workers = (): readonly Worker[] => places.flatMap(({ worker }) => worker ?? [])

  const endAll = (how: 'stop' | 'kill'): void => {
    stopping = true
    for (const { timer } of places) clearTimeout(timer)
    for (const worker of workers()) worker[how]()
    endIfAlone()
  }

  const endIfAlone = (): void => {
    if (workers().length > 0) return
    clearTimeout(killing)
    if (failure === undefined) world.ended(exitCode)
    else world.failed(failure)
  }

  const start = (place: Place): void => {
    let listens = false
    place.worker = world.fork(place.number, {
      listening() {
        listens = true
        if (!listened) world.listening()
        listened = true
        place.timer = setTimeout(() => {
          place.ended = 0
        }, WELL_MILLISECONDS)
      },
      ended(ending) {
        place.worker = undefined
        clearTimeout(place.timer)
        if (stopping) noteEnding(place, ending)
        else replace(place, ending, listens)
      }
    })
  }

  const noteEnding = (place: Place, ending: Ending): void => {
    if (failure === undefined && !endedWell(ending)) {
      exitCode = 1
      world.log.error(describe(place, ending), 'a worker has not ended well')
    }
    endIfAlone()
  }

  const replace = (place: Place, ending: Ending, listens: boolean): void => {
    place.ended += 1
    if (!listened && places.every(({ ended }) => ended > 0)) {
      failure = new Error(ending.reason ?? `no worker can be started: ${inWords(ending)}`)
      endAll('kill')
      return
    }
    const pause = pauseAfter(place.ended + (listens ? 0 : 1))
    // While none has listened, the reason is told at the end, once.
    if (listened) {
      const line = { ...describe(place, ending), seconds: pause / 1000 }
      world.log.warn(line, 'a worker has ended, and another takes its place')
    }
    if (pause === 0) start(place)
    else place.timer = setTimeout(start, pause, place)
  }

  /** Asks every worker to end. A second call ends the wait for `DRAIN_DELAY`. */
  const stop = (): void => {
    const delay = stopping ? 0 : drainDelaySeconds * 1000
    clearTimeout(killing)
    killing = setTimeout(endAll, delay + STOP_MILLISECONDS, 'kill')
    endAll('stop')
  }

  places.forEach(start)
  return {
    stop,
    /** Asks every worker to end, because the service turns out to be of no use. Ends with `failed`. */
    fail(reason: Error): void {
      failure ??= reason
      stop()
      // None was ready, so nobody has to notice that they are not.
      stop()
    }
  }
}

const pauseAfter = (ended: number): number =>
  ended === 1 ? 0 : Math.min(FIRST_PAUSE_MILLISECONDS * 2 ** (ended - 2), LONGEST_PAUSE_MILLISECONDS)

/** Before a worker hears signals, one that all processes get ends it. */
const endedWell = ({ code, signal }: Ending): boolean => code === 0 || SIGNALS.includes(String(signal))

const inWords = ({ code, signal }: Ending): string =>
  signal === null ? `its process ended with exit code ${code}` : `its process was ended by ${signal}`

const describe = ({ number }: Place, { code, signal, reason }: Ending): object => ({
  worker: number,
  ...(signal === null ? { code } : { signal }),
  ...(reason !== undefined && { reason })
})
