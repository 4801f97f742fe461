import { once } from 'node:events'

/** The request to end the process, which a signal makes. */
export interface Stop {
  readonly signalled: Promise<unknown>
  asked(): boolean
  /** Aborts at a second request. */
  readonly again: AbortSignal
}

export interface Stopper extends Stop {
  ask(): void
}

export const createStop = (): Stopper => {
  const first = new AbortController()
  const second = new AbortController()
  return {
    signalled: once(first.signal, 'abort'),
    asked: () => first.signal.aborted,
    again: second.signal,
    ask: () => (first.signal.aborted ? second : first).abort()
  }
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/** Calls `hear` at every signal that asks the process to end, until `work` is done. */
export const hearingSignals = async <T>(hear: () => void, work: () => Promise<T>): Promise<T> => {
  // `on`, not `once`: Ctrl-C in a terminal reaches both npm and the service, and npm passes its signal on to the
  // service. With no listener left, that second signal would kill the process.
  for (const name of SIGNALS) process.on(name, hear)
  try {
    return await work()
  } finally {
    for (const name of SIGNALS) process.off(name, hear)
  }
}
