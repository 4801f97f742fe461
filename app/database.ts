import type { Stores } from '../core/index.js'

/**
 * What every kind of database offers: the stores, and what a process needs to set it up, look after it and close it. An
 * adapter meets this type by its shape, and compose.ts checks it.
 */
export interface Database {
  readonly stores: Stores
  /** The database's time, by which a PostgreSQL server's instances all go. Undefined where this machine's is the only one. */
  readonly clock: DatabaseClock | undefined
  /**
   * Applies pending migrations. After it has failed, the stores reject with the same error until it, or
   * {@link requireSchema}, succeeds. When several instances call it at once, one of them applies the migrations and the
   * others wait. Resolves with why there is no index by which heroes are found by a part of their name; undefined where
   * there is one, or none is needed. Rejects with `unavailable` while the database takes no writes.
   */
  migrate(): Promise<NameIndexLack | undefined>
  /** Resolves as {@link migrate} does, and changes nothing. Rejects when a migration is pending. */
  requireSchema(): Promise<NameIndexLack | undefined>
  /**
   * Rejects with `unavailable` while the database cannot be reached, takes no writes, lacks its schema or does not let the
   * service read which migrations were applied.
   */
  check(): Promise<void>
  /** Whether a search for this part of a name reads every name. Undefined where no search holds up other requests for it. */
  readonly isSlowSearch: ((part: string) => boolean) | undefined
  /** The whole database as a tar. All calls wait while it is made. Undefined where the database is not embedded. */
  readonly backup: (() => Promise<AsyncIterable<Uint8Array>>) | undefined
  /** The connections to the server; undefined where there are none. */
  connections(): Connections | undefined
  /** Waits for running statements, at most a second, and ends the connections. A further call waits for the first. */
  close(): Promise<void>
}

interface DatabaseClock {
  now(): Date
  /** By how many seconds the database's time is ahead of this machine's own clock. */
  offsetSeconds(): number
}

/** How many connections to the server are open, by what they do. */
interface Connections {
  readonly busy: number
  readonly idle: number
  /** Those for look-ups alone: three of ten. */
  readonly lookups: number
}

/** That there is no index by which heroes are found by a part of their name. */
export interface NameIndexLack {
  /** Why. */
  readonly reason: string
  /** What an operator does to have one. It holds nobody up. */
  readonly remedy: string
}
