import { inspect } from 'node:util'
import { DomainError } from '../../../core/errors.js'
import { databaseAway } from '../../../core/refusals.js'

/**
 * An error that PostgreSQL or its client reported, without the parameters of the statement, which would reach the log:
 * postgres.js and PGlite keep them in properties of their errors.
 */
export class StatementError extends Error {
  override readonly name = 'StatementError'
  /** The SQLSTATE, or the client's own code. */
  readonly code: string | undefined

  constructor(message: string, code?: string) {
    super(message)
    this.code = code
  }
}

/** A server that offers no TLS, or with which TLS cannot be established: its certificate, for example, is not trusted. */
export class EncryptionError extends StatementError {}

export const unavailable = (cause: Error): DomainError => databaseAway(1, cause)

/** True when PostgreSQL rolled the statement back because of others (40001, 40P01): next time it may succeed. */
export const isRolledBack = (error: unknown): boolean => /^40(?:001|P01)$/.test(String(sqlstateOf(error)))

/** True when the statement waited for a lock for longer than `lock_timeout` allows (55P03). It had no effect. */
export const isLocked = (error: unknown): boolean => sqlstateOf(error) === '55P03'

/** True when the statement ran for longer than `statement_timeout` allows (57014). It had no effect. */
export const isTooSlow = (error: unknown): boolean => sqlstateOf(error) === '57014'

/**
 * True when PostgreSQL itself reported that the statement was rolled back, so that it may be sent again. After the loss of a
 * connection (class 08, 57P01 to 57P05 and the client's own codes) it is unknown whether the statement had an effect.
 */
export const hadNoEffect = (error: unknown): boolean => {
  const code = sqlstateOf(error)
  return code !== undefined && !/^(?:08|57P|40003)/.test(code)
}

/** True when the server takes no writes: a standby, or one whose transactions are read-only (25006). */
export const isReadOnly = (error: unknown): boolean => sqlstateOf(error) === '25006'

/** True when the host may take a connection with TLS in place of one without it, or the reverse. */
export const mayDependOnEncryption = (error: unknown): boolean =>
  error instanceof EncryptionError || sqlstateOf(error) === '28000'

/**
 * True when a server answers and refuses to be connected to, or TLS with it fails, for a reason that does not pass by itself:
 * the role or its password (28), the database (3D000), a privilege (42501), a certificate, a pooler that cannot be used.
 */
export const isRefusal = (error: unknown): boolean => {
  const cause = error instanceof DomainError ? error.cause : error
  const code = String(codeOf(cause))
  return REFUSAL.test(code) || (cause instanceof EncryptionError && !LOST.test(code))
}

const REFUSAL = /^(?:28...$|3D000$|42501$|SASL_SIGNATURE_MISMATCH|PREPARED_STATEMENTS_LOST|EPROTO|ERR_TLS_|ERR_SSL_)/

/** Codes of a connection that was lost: postgres.js's and Node's. */
const LOST = /^(?:CONNECTION_|E(?!RR))/

/** True when what answers does not take the parameters of a connection (08P01), as poolers do not. */
export const refusesParameters = (error: unknown): boolean => sqlstateOf(error) === '08P01'

/** True when a unique index refused the value (23505). */
export const isDuplicate = (error: unknown): error is Error => codeOf(error) === '23505'

/** Does as `work` does, but again after an error of this kind, three times in all. */
export const retrying = async <T>(
  isOfKind: (error: unknown) => boolean,
  work: () => Promise<T>,
  tries = 3
): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (tries === 1 || !isOfKind(error)) throw error
    return retrying(isOfKind, work, tries - 1)
  }
}

/** True when the connection cannot be used after this error. The others concern one statement or transaction alone. */
export const endsConnection = (error: unknown): boolean =>
  translate(error) instanceof DomainError && !STATEMENT_ALONE.test(String(codeOf(error)))

const STATEMENT_ALONE = /^(?:40...|42...|0A000|55P03|57014|XX000)$/

/** The error with which a store rejects: `unavailable`, or a {@link StatementError} for an error that only a bug can cause. */
export const translate = (error: unknown): Error => {
  if (error instanceof EncryptionError) return unavailable(error)
  if (error instanceof DomainError || error instanceof StatementError) return error
  const code = codeOf(error)
  const cause = new StatementError(messageOf(error, code), code)
  const passes =
    (code !== undefined && UNAVAILABLE.some(it => it.test(code))) || (code === 'XX000' && CACHE.test(cause.message))
  return passes ? unavailable(cause) : cause
}

/**
 * The error with which no connection could be opened. A server that refuses to be connected to cannot be reached, for whatever
 * reason: a database that takes no connections (55000), a privilege to connect that was taken away (42501). Parameters that
 * it refuses (22023, 42601, 42704) stay refused.
 */
export const refusedConnection = (error: unknown): unknown => {
  const cause = translate(error)
  const isOfServer =
    cause instanceof StatementError && cause.code !== undefined && !/^(?:22...|42601|42704)$/.test(cause.code)
  return isOfServer ? unavailable(cause) : error
}

const UNAVAILABLE = [
  // SQLSTATE: connections (08), authorization (28), transactions that were rolled back at every try (40), resources
  // (53), the system (58); 25006 a standby, 25P03 idle in a transaction, 25P04 transaction_timeout, 3D000 no such
  // database, 55P03 lock_timeout, 57014 statement_timeout, 57P01 to 57P05 a server that shuts down or starts. 26000 is a
  // prepared statement whose name is gone.
  /^(?:08|28|40|53|58)[0-9A-Z]{3}$/,
  /^(?:25006|25P0[34]|26000|3D000|55P03|57014|57P0[1-5])$/,
  // SQLSTATE, while the schema changes: a plan whose result type changed (0A000), an operator or a function that the new
  // types lack (42883), a parameter whose type is open (42P18), a column that is gone (42703) or has another type (42804).
  /^(?:0A000|42703|42804|42883|42P18)$/,
  // postgres.js, and pooler.ts
  /^(?:CONNECTION_(?:CLOSED|DESTROYED|ENDED)|CONNECT_TIMEOUT|SASL_SIGNATURE_MISMATCH|PREPARED_STATEMENTS_LOST)$/,
  // Node: sockets, names and files (ECONNREFUSED, EAI_AGAIN, ENOENT of a socket), then TLS
  /^E(?!RR_)[A-Z0-9_]+$/,
  /^(?:ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/,
  // Node: postgres.js reads beyond a message, whose bytes the network has damaged
  /^ERR_(?:OUT_OF_RANGE|BUFFER_OUT_OF_BOUNDS)$/
]

/** Of XX000: another session dropped or replaced what the statement was about to use. */
const CACHE = /^cache lookup failed/

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

/** The SQLSTATE that the server reported, also when {@link translate} has put the error inside another one. */
const sqlstateOf = (error: unknown): string | undefined => {
  const code = error instanceof DomainError ? codeOf(error.cause) : codeOf(error)
  // The codes of Node (EPIPE) and of postgres.js do not begin with a class of SQLSTATEs.
  return code !== undefined && /^(?:[0-9][0-9A-Z]|F0|HV|P0|XX)[0-9A-Z]{3}$/.test(code) ? code : undefined
}

const messageOf = (error: unknown, code: string | undefined): string => {
  // Messages of class 22 quote the value: `invalid input syntax for type uuid: "…"` (22P02).
  if (code?.startsWith('22')) return `a value that PostgreSQL refuses (${code})`
  // The embedded engine's file system rejects with objects that are not Errors.
  return error instanceof Error ? error.message : inspect(error, { depth: 0 })
}
