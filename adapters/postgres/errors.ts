import { inspect } from 'node:util'
import { DomainError } from '../../core/errors.js'

/**
 * What PostgreSQL or its client reported, without the statement's parameters, which would reach the log: postgres.js
 * and PGlite keep them in properties of their errors, Drizzle in the message.
 */
export class StatementError extends Error {
  override readonly name = 'StatementError'
  /** The SQLSTATE, or the client's own code. */
  readonly code: string | undefined

  constructor(message: string, code: string | undefined) {
    super(message)
    this.code = code
  }
}

export const unavailable = (cause: Error): DomainError =>
  new DomainError('unavailable', 'the database cannot be reached', { retryAfterSeconds: 1, cause })

/** PostgreSQL rolled the statement back and asks to be asked again: serialization failures and deadlocks. */
export const isRolledBack = (error: unknown): boolean => /^40(?:001|P01)$/.test(String(codeOf(error)))

/**
 * PostgreSQL reported the error itself (it has an SQLSTATE), so that the statement was rolled back and may be asked again. After a
 * lost connection nobody knows.
 */
export const hadNoEffect = (error: unknown): boolean =>
  error instanceof StatementError && /^[0-9A-Z]{5}$/.test(String(error.code))

/** 23505. */
export const isDuplicate = (error: unknown): boolean => codeOf(error) === '23505'

/** Whether the connection is of no use after this. A statement that took too long (57014) leaves it as it was. */
export const endsConnection = (error: unknown): boolean =>
  !isRolledBack(error) && codeOf(error) !== '57014' && translate(error) instanceof DomainError

/** What a store rejects with: `unavailable`, or a {@link StatementError} for what only a bug can cause. */
export const translate = (error: unknown): Error => {
  if (error instanceof DomainError || error instanceof StatementError) return error
  const code = codeOf(error)
  const cause = new StatementError(messageOf(error, code), code)
  return code !== undefined && UNAVAILABLE.some(pattern => pattern.test(code)) ? unavailable(cause) : cause
}

const UNAVAILABLE = [
  // SQLSTATE: connections (08), authorization (28), transactions that lost every try (40), resources (53), the system (58);
  // 25006 a standby, 25P03 idle in a transaction, 3D000 no such database, 57014 statement_timeout, 57P01 to 57P05 a server on its way down or up.
  /^(?:08|28|40|53|58)[0-9A-Z]{3}$/,
  /^(?:25006|25P03|3D000|57014|57P0[1-5])$/,
  // postgres.js
  /^(?:CONNECTION_(?:CLOSED|DESTROYED|ENDED)|CONNECT_TIMEOUT|SASL_SIGNATURE_MISMATCH)$/,
  // Node: sockets, names and files (ECONNREFUSED, EAI_AGAIN, ENOENT of a socket), then TLS
  /^E(?!RR_)[A-Z0-9_]+$/,
  /^(?:ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/
]

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

const messageOf = (error: unknown, code: string | undefined): string => {
  // Class 22 quotes the value: `invalid input syntax for type uuid: "…"` (22P02).
  if (code?.startsWith('22')) return `a value that PostgreSQL refuses (${code})`
  // The embedded engine's file system rejects with objects that are no Errors.
  return error instanceof Error ? error.message : inspect(error, { depth: 0 })
}
