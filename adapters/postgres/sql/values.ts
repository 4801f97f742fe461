import { makePgArray } from 'drizzle-orm/pg-core'

/** What a `bytea` column takes for the base64url of the core. A string in its place would be stored as its own text. */
export const bytes = (base64url: string): Uint8Array => Buffer.from(base64url, 'base64url')

export const bytesOrNull = (base64url: string | undefined): Uint8Array | null =>
  base64url === undefined ? null : bytes(base64url)

// Lists go as PostgreSQL's own literals: postgres.js declares a list of buffers to be a single one.
export const textList = (texts: readonly string[]): string => makePgArray([...texts])

/** A `text[]`: PGlite reads the list by itself, postgres.js leaves it as it came. */
export const readTexts = (value: unknown): string[] =>
  Array.isArray(value) ? value.map(String) : readTextList(String(value))

const readTextList = (literal: string): string[] => {
  const items = literal.slice(1, -1)
  // The expression takes five times as long.
  if (!items.includes('"')) return items === '' ? [] : items.split(',')
  return Array.from(items.matchAll(/"((?:[^"\\]|\\.)*)"|[^,]+/gs), ([plain, quoted]) =>
    quoted === undefined ? plain : quoted.replace(/\\(.)/gs, '$1')
  )
}

/** A `timestamptz`. */
export const readInstant = (value: unknown): Date => new Date(Number(value))

/** What the core calls absent is null in a row. */
export const optional = <T>(value: unknown, read: (value: unknown) => T): T | undefined =>
  value === null ? undefined : read(value)

/** A `bytea` inside the literal of a list, for the base64url of the core. */
export const bytesElement = (base64url: string): string =>
  `"\\\\x${Buffer.from(base64url, 'base64url').toString('hex')}"`

/** A `text` inside the literal of a list. */
export const textElement = (text: string): string => `"${text.replaceAll(/["\\]/g, '\\$&')}"`

/** A `bytea`, as the core writes it. */
export const readBytes = (value: unknown): string => {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64url')
  throw new TypeError('the value is no bytea')
}

export const bytesList = (base64urls: readonly (string | undefined)[]): string => list(base64urls, bytesElement)

export const instantList = (instants: readonly (Date | undefined)[]): string =>
  list(instants, instant => `"${instant.toISOString()}"`)

/** For columns of any type that PostgreSQL reads from a text. */
export const textOrNullList = (values: readonly unknown[]): string =>
  list(
    values.map(value => value ?? undefined),
    value => textElement(String(value))
  )

const list = <T>(items: readonly (T | undefined)[], literal: (item: T) => string): string =>
  `{${items.map(item => (item === undefined ? 'NULL' : literal(item))).join()}}`

/** postgres.js sends a kilobyte at once, and less than that a turn later: a twentieth of the rate at 16 connections. */
export const padded = (list: string): string => list.padEnd(1024)

/** What the core calls absent. */
export const orUndefined = <T>(value: T | null): T | undefined => value ?? undefined
