import { once } from 'node:events'

/** The request to end the process, which a signal makes. */
export interface Stop {
  readonly signalled: Promise<unknown>
  asked(): boolean
  /** Aborts at a second request. */
  readonly again: AbortSignal
}

export const createStop = (): Stop & { ask(): void } => {
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

/** Asks at each of these signals to this process, for as long as it runs. */
export const askAtSignals = ({ ask }: ReturnType<typeof createStop>): void => {
  // `on`, not `once`: Ctrl-C in a terminal reaches both npm and the service, and npm passes its signal on to the
  // service. With no listener left, that second signal would kill the process.
  for (const signal of SIGNALS) process.on(signal, ask)
  // Node would open its inspector.
  process.on('SIGUSR1', () => {})
}
