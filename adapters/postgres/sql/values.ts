import { makePgArray } from 'drizzle-orm/pg-core'

/** The value for a `bytea` column, of base64url from the core. A string would be stored as its own characters. */
export const bytes = (base64url: string): Uint8Array => Buffer.from(base64url, 'base64url')

export const bytesOrNull = (base64url: string | undefined): Uint8Array | null =>
  base64url === undefined ? null : bytes(base64url)

// Lists are sent as PostgreSQL's own array literals, because postgres.js declares a list of buffers to be a single one.
export const textList = (texts: readonly string[]): string => makePgArray([...texts])

/** Reads a `text[]`, of which the drivers give the literal. */
export const readTexts = (value: unknown): string[] => {
  const literal = String(value)
  const items = literal.slice(1, -1)
  // The regular expression takes five times as long.
  if (!items.includes('"')) return items === '' ? [] : items.split(',')
  return Array.from(items.matchAll(/"((?:[^"\\]|\\.)*)"|[^,]+/gs), ([plain, quoted]) =>
    quoted === undefined ? plain : quoted.replace(/\\(.)/gs, '$1')
  )
}

/** Reads a `timestamptz`. */
export const readInstant = (value: unknown): Date => {
  if (value instanceof Date) return value
  throw new TypeError('the value is no timestamptz')
}

/** Reads a value that may be null. Null becomes undefined. */
export const optional = <T>(value: unknown, read: (value: unknown) => T): T | undefined =>
  value === null ? undefined : read(value)

/** Has room for any digest or nonce, so that none needs a buffer of its own. */
const scratch = Buffer.alloc(64)

/** A `bytea` as an element of an array literal. */
const hexElement = (hex: string): string => `"\\\\x${hex}"`

/** The same, of base64url from the core. */
const bytesElement = (base64url: string): string => {
  if (base64url.length > scratch.length) return hexElement(Buffer.from(base64url, 'base64url').toString('hex'))
  return hexElement(scratch.toString('hex', 0, scratch.write(base64url, 'base64url')))
}

/** A `text` as an element of an array literal. */
const textElement = (text: string): string => `"${text.replaceAll(/["\\]/g, '\\$&')}"`

/** Reads a `bytea` as the base64url of the core. */
export const readBytes = (value: unknown): string => {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64url')
  throw new TypeError('the value is no bytea')
}

export const bytesList = (base64urls: readonly (string | undefined)[]): string => list(base64urls, bytesElement)

export const instantList = (instants: readonly (Date | undefined)[]): string => {
  // Whatever travels together has often come within one millisecond.
  let latest = NaN
  let literal = ''
  return list(instants, instant => {
    const time = instant.getTime()
    if (time !== latest) {
      latest = time
      literal = `"${instant.toISOString()}"`
    }
    return literal
  })
}

export const numberList = (numbers: readonly (number | undefined)[]): string => list(numbers, String)

/** An array literal of values for the driver: texts, numbers, booleans and bytes. */
export const driverValueList = (values: readonly unknown[]): string =>
  list(values, value => {
    if (value instanceof Uint8Array) return hexElement(Buffer.from(value).toString('hex'))
    return typeof value === 'number' ? String(value) : textElement(String(value))
  })

const list = <T>(items: readonly (T | undefined)[], literal: (item: T) => string): string =>
  `{${items.map(item => (item === undefined ? 'NULL' : literal(item))).join()}}`

export const orUndefined = <T>(value: T | null): T | undefined => value ?? undefined
