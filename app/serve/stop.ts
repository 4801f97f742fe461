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

/** The signals that ask the service to end. */
export const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP']

/** Passes each of these signals to this process on to `stop`, for as long as it runs. */
export const askAtSignals = (stop: Stopper): void => {
  // `on`, not `once`: Ctrl-C in a terminal reaches both npm and the service, and npm passes its signal on to the
  // service. With no listener left, that second signal would kill the process.
  for (const signal of SIGNALS) process.on(signal, stop.ask)
  // Node would open its inspector.
  process.on('SIGUSR1', () => {})
}
