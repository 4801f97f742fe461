export type Value = string | number | boolean | Date | Uint8Array | null

/** Runs one statement. Its rows, each a list in the order of the columns. Rejects as `translate` says. */
export type Run = (text: string, values: readonly Value[]) => Promise<unknown[][]>

export interface TransactionOptions {
  /** For what an operator asks for and may take minutes: the usual limits do not hold. */
  readonly patient: boolean
}

/**
 * The least that a PostgreSQL server and the embedded engine have in common. Every call sees what any call
 * that was answered before it has stored.
 */
export interface Driver {
  /** For look-ups of less than a millisecond: they wait for no commit and for no list, and hardly for a lock (55P03). */
  readonly read: Run
  readonly write: Run
  /**
   * The statements that `work` runs take effect together or not at all. `work` may run again after a deadlock.
   * `name`: the same for all calls that lock the same tables.
   */
  transaction<T>(name: string, work: (run: Run) => Promise<T>, options?: TransactionOptions): Promise<T>
  close(): Promise<void>
}
