import { createAttemptStore } from './attempts.js'
import { createCheck } from './check.js'
import { createClientStore } from './clients.js'
import { createCodeStore } from './codes.js'
import type { Driver, Observer } from './connection/driver.js'
import type { ServerOptions } from './connection/server.js'
import { type CopyOptions, copyAll } from './copy.js'
import { openFolder } from './embedded/embedded.js'
import { FolderError, FolderInUseError } from './embedded/folder.js'
import { createGrantStore } from './grants.js'
import { createHeroStore } from './heroes.js'
import { inspect } from './inspection.js'
import { createLookups } from './lookups.js'
import { migrate, requireSchema } from './migrations.js'
import { findNameIndex, lackAfter, makeNameIndex, type NameIndexLack, usesIndex } from './name-index.js'
import { createScopeStore } from './scopes.js'
import { createTokenStore } from './tokens.js'
import { createUserStore } from './users.js'

export type { DatabaseClock } from './connection/clock.js'
export type { Connections, Observer } from './connection/driver.js'
export { isRefusal, StatementError } from './connection/errors.js'
export type { ServerOptions } from './connection/server.js'
export type { ServerAddress, Tls } from './connection/socket.js'
export type { CopiedTable, CopyOptions } from './copy.js'
export { hasEmbedded, restoreEmbedded } from './embedded/embedded.js'
export type { Missing } from './inspection.js'
export { UnfitDatabaseError } from './migrations.js'
export type { NameIndexLack } from './name-index.js'
export { FolderError, FolderInUseError }

/** An open database: the stores, and what a process needs to set it up, look after it and close it. */
export type Database = Awaited<ReturnType<typeof openEmbedded>>

/** What an operator may want to know of a database before a service relies on it. */
export type Inspection = Awaited<ReturnType<Database['inspect']>>

/**
 * Opens a database on a PostgreSQL server. While the server cannot be reached, every call on the database rejects with
 * `unavailable`. By default there are 10 connections and prepared statements.
 */
export const openServer = async (url: string, options: Partial<ServerOptions> & Observer = {}) => {
  const { pool = 10, prepare = true } = options
  return databaseOn(await connect(url, { ...options, pool, prepare }), options)
}

// Imported when it is needed, so that the start of a service does not load a client that the service does not use.
const connect = async (url: string, options: ServerOptions): Promise<Driver> =>
  (await import('./connection/server.js')).connectServer(url, options)

/**
 * Opens a database in the embedded engine. Rejects with a {@link FolderError} when the folder cannot be used, and with
 * a {@link FolderInUseError} when another process uses it.
 */
export const openEmbedded = async (folder: string, observer: Observer = {}) =>
  databaseOn(await openFolder(folder, observer.onStatement), observer)

/** Where a copy goes: a folder for an embedded database, or a server. */
export type CopyTarget = { readonly folder: string } | ({ readonly url: string } & Partial<ServerOptions>)

/** Opens the target of a copy. */
const openTarget = async (target: CopyTarget): Promise<Driver> => {
  if ('url' in target) return connect(target.url, { ...target, pool: 1, prepare: true })
  return openFolder(target.folder).catch((error: unknown) => {
    if (!(error instanceof FolderInUseError)) throw error
    throw new FolderError(`the folder ${target.folder} is the source, or in use by another process`)
  })
}

const databaseOn = (driver: Driver, { onLookups }: Observer) => {
  /** Why the schema is not as the stores need it, as far as that was tried. */
  let refusal: unknown
  /** Why there was no index of names when the schema was last prepared. */
  let lack: NameIndexLack | undefined
  let closed: Promise<void> | undefined
  const check = createCheck(driver)
  const prepare = async (
    work: (driver: Driver) => Promise<void>,
    findLack: () => Promise<NameIndexLack | undefined>
  ): Promise<NameIndexLack | undefined> => {
    try {
      await work(driver)
      // Where nothing is pending, a database that takes no writes has refused nothing so far.
      await check()
      lack = driver.connections && (await findLack())
      refusal = undefined
      return lack
    } catch (error) {
      refusal = error
      throw error
    }
  }
  const orRefuse = <T>(work: () => Promise<T>): Promise<T> => (refusal === undefined ? work() : Promise.reject(refusal))
  const guarded: Driver = {
    ...driver,
    lookUp: (text, values) => orRefuse(() => driver.lookUp(text, values)),
    query: (text, values) => orRefuse(() => driver.query(text, values)),
    transaction: (transaction, work) => orRefuse(() => driver.transaction(transaction, work))
  }
  const lookups = createLookups(guarded, onLookups)
  return {
    stores: {
      heroes: createHeroStore(guarded, lookups),
      users: createUserStore(guarded, lookups),
      clients: createClientStore(guarded, lookups),
      scopes: createScopeStore(guarded, lookups),
      grants: createGrantStore(guarded, lookups),
      codes: createCodeStore(guarded, lookups),
      tokens: createTokenStore(guarded, lookups),
      attempts: createAttemptStore(guarded, lookups)
    },
    /** The server's clock; undefined for the embedded engine, whose clock is this machine's. */
    clock: driver.clock,
    /**
     * Applies pending migrations. After it has failed, the stores reject with the same error until it, or `requireSchema`,
     * succeeds. When several instances call it at once, one of them migrates and the others wait. Resolves with why there
     * is no index for parts of names; undefined where there is one, and for the embedded engine, which needs none. Rejects
     * with an {@link UnfitDatabaseError} when the database's encoding is not UTF8, or a table is gone that was made, and with
     * `unavailable` while it takes no writes.
     */
    migrate: () => prepare(migrate, () => makeNameIndex(driver)),
    /** As `migrate`, but changes nothing. Rejects as well with an {@link UnfitDatabaseError} when a migration is pending. */
    requireSchema: () => prepare(requireSchema, () => findNameIndex(driver.query).catch(lackAfter)),
    /** Rejects with `unavailable` while the database cannot be reached, takes no writes, or lacks a table. */
    check: () => orRefuse(check),
    /** Whether a search for this text reads every name; undefined for the embedded engine, which has no other way. */
    isSlowSearch:
      driver.connections && ((text: string) => text !== '' && (lack !== undefined || !usesIndex(text.toLowerCase()))),
    /** Reads what an operator may want to know, and changes nothing. */
    inspect: () => inspect(driver),
    /** The whole embedded database as a tar. All statements wait while it is made. Undefined for a server. */
    backup: driver.backup,
    /**
     * Copies everything but attempts into the target, with the ids, and resolves with the number of rows of each table.
     * Rejects when the target is this database, has rows, or has a copy that is not whole, unless it is begun `again`.
     */
    async copyTo(target: CopyTarget, options: CopyOptions) {
      const other = await openTarget(target)
      try {
        return await copyAll(driver, other, options)
      } finally {
        await other.close()
      }
    },
    /** Undefined for the embedded engine, which has none. */
    connections: () => driver.connections?.(),
    /** Waits for running statements, at most a second, and ends the connections. A further call waits for the first. */
    close() {
      closed ??= driver.close()
      return closed
    }
  }
}
