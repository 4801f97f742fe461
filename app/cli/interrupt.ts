/** The exit code of a command that Ctrl-C has ended, as a shell has it for SIGINT. */
export const INTERRUPTED = 130

/** What {@link endAtInterrupt} needs of the process. */
interface Interruptible {
  once(signal: 'SIGINT', listener: () => void): unknown
  exit(code: number): unknown
}

/** Makes SIGINT end the process with {@link INTERRUPTED}. */
export const endAtInterrupt = (process: Interruptible): void => {
  process.once('SIGINT', () => process.exit(INTERRUPTED))
}
