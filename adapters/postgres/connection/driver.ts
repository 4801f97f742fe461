import type { DatabaseClock } from './clock.js'

export type Value = string | number | boolean | Date | Uint8Array | null

const EARLIEST = Date.parse('0001-01-01T00:00:00.000Z')
const LATEST = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * Reads a `timestamptz`. What others have stored beyond the years 1 to 9999, `infinity` too, is the first or the last instant
 * of those: a Date has no such instant, or writes it in a form that PostgreSQL does not read.
 */
export const parseInstant = (text: string): Date => {
  const time = Date.parse(text)
  if (time >= EARLIEST && time <= LATEST) return new Date(time)
  return new Date(/^-|BC$/.test(text) ? EARLIEST : LATEST)
}

/**
 * Runs one statement. Resolves with its rows, each a list in the order of the columns. Rejects with what `translate`
 * (errors.ts) returns; in a transaction on a server with the error before that, which the functions of errors.ts judge as well.
 */
export type Run = (text: string, values: readonly Value[]) => Promise<unknown[][]>

export interface Transaction {
  /** Calls that lock the same tables have the same name. */
  readonly name: string
  /**
   * True for work that may take minutes and that no request waits for: an operator has started it, or housekeeping. The
   * usual time limits do not apply.
   */
  readonly patient?: boolean
  /** How long it may take in all, in milliseconds. By default what limits.ts has for a call, or for patient work. */
  readonly milliseconds?: number
}

/** Is told what happens. Must not throw, and must not take long. */
export interface Observer {
  /** Gets the number of look-ups that left together. */
  readonly onLookups?: ((count: number) => void) | undefined
  /** Gets the seconds that a call has waited for a connection to a server, also of one that got none. */
  readonly onWait?: ((seconds: number) => void) | undefined
  /** Gets the seconds from the sending of a statement to its answer. */
  readonly onStatement?: ((seconds: number) => void) | undefined
}

/** How many connections to the server are open, by what they do. */
export interface Connections {
  /** In use by a statement or a transaction. Those for look-ups are not among them. */
  readonly busy: number
  /** Without a statement. */
  readonly idle: number
  /** Those for look-ups alone. */
  readonly lookups: number
}

/**
 * What a PostgreSQL server and the embedded engine both offer. Every call sees what was stored by all calls that were
 * answered before it.
 */
export interface Driver {
  /** Undefined for the embedded engine, which has no connections. */
  readonly connections: (() => Connections) | undefined
  /** Undefined for the embedded engine, whose clock is this machine's. */
  readonly clock: DatabaseClock | undefined
  /**
   * For look-ups of less than a millisecond. They do not wait for commits or lists, and only briefly for a lock
   * (55P03).
   */
  readonly lookUp: Run
  /** For every other statement by itself: changes, lists, and look-ups that may have to wait. */
  readonly query: Run
  /** For the check of whether the database can be used. It goes before every other statement that waits. */
  readonly probe: Run
  /**
   * The statements that `work` runs take effect together or not at all. `work` may run again after a deadlock.
   */
  transaction<T>(transaction: Transaction, work: (run: Run) => Promise<T>): Promise<T>
  /** The whole database as a tar, for `restoreEmbedded`. Undefined for a server. */
  readonly backup: (() => Promise<AsyncIterable<Uint8Array>>) | undefined
  close(): Promise<void>
}
