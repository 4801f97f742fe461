import { isUtf8 } from 'node:buffer'
import { DomainError } from '../../core/index.js'

/** Parameters by name: each once, none empty. A Map, so that `__proto__` is a name like any other. */
export type Form = ReadonlyMap<string, string>

/**
 * Reads `application/x-www-form-urlencoded` on RFC 6749's terms (section 3.2): a repeated parameter is refused, one without
 * a value counts as absent. What is no UTF-8, holds a NUL or has a broken percent-escape is refused, never mended; so is
 * what is longer than any parameter needs to be.
 */
export const parseForm = (encoded: string): Form => {
  const pairs = pairsOf(encoded)
  // Of all before any is decoded: what a request costs is bounded by what may be in it.
  if (pairs.some(pair => pair.some(part => part.length > MOST_BYTES))) {
    throw refusal(`a parameter is longer than ${MOST_BYTES} bytes`)
  }
  const form = new Map<string, string>()
  const names = new Set<string>()
  for (const pair of pairs) {
    const [name, value] = decodePair(pair)
    if (names.has(name)) throw refusal('a parameter is repeated')
    names.add(name)
    if (value !== '') form.set(name, value)
  }
  return form
}

/** Every parameter in its order, repeated, empty and long ones too. Throws `invalid_request` as {@link parseForm} does. */
export const formPairs = (encoded: string): readonly (readonly [name: string, value: string])[] =>
  pairsOf(encoded).map(decodePair)

/** The query string of a request's target, for {@link parseForm} and {@link formPairs}. */
export const queryString = (target: string): string => {
  const query = /\?([^#]*)/.exec(target)?.[1] ?? ''
  // Node reads the bytes of a target as Latin-1: what is not ASCII (RFC 3986 section 2) would come out as something else.
  if (!/^[\x21-\x7e]*$/.test(query)) throw refusal('the query string has characters that must be percent-encoded')
  return query
}

/** Refuses what a page would have to repeat where it is longer, in bytes of UTF-8, than any of it needs to be. */
export const requireShort = (texts: readonly string[]): void => {
  if (texts.reduce((length, text) => length + Buffer.byteLength(text), 0) > MOST_BYTES) {
    throw refusal(`the parameters are longer than ${MOST_BYTES} bytes`)
  }
}

/** More than any form has; a million of them would hold the event loop up for a second. */
const MOST_PARAMETERS = 1000
/** Of a name or a value as it is sent. */
const MOST_BYTES = 16_384

const SPACE = 0x20
const PERCENT = 0x25
const AMPERSAND = 0x26
const PLUS = 0x2b
const EQUALS = 0x3d

/** A name and its value, as they are sent. */
type Pair = readonly [name: Buffer, value: Buffer]

const pairsOf = (encoded: string): readonly Pair[] => {
  const bytes = Buffer.from(encoded)
  const pairs: Pair[] = []
  let count = 0
  for (let start = 0; start <= bytes.length; ) {
    const end = indexOf(bytes, AMPERSAND, start)
    count += 1
    if (count > MOST_PARAMETERS) throw refusal(`there are more than ${MOST_PARAMETERS} parameters`)
    if (end > start) {
      const pair = bytes.subarray(start, end)
      const equals = indexOf(pair, EQUALS, 0)
      pairs.push([pair.subarray(0, equals), pair.subarray(equals + 1)])
    }
    start = end + 1
  }
  return pairs
}

/** The length when the byte is not there. */
const indexOf = (bytes: Buffer, byte: number, from: number): number => {
  const index = bytes.indexOf(byte, from)
  return index === -1 ? bytes.length : index
}

const decodePair = ([name, value]: Pair): readonly [name: string, value: string] => [decode(name), decode(value)]

// @fastify/formbody decodes the body before it hands it over: where that is no UTF-8, there is a U+FFFD by then.
const REPLACEMENT = Buffer.from('\uFFFD')

const decode = (encoded: Buffer): string => {
  if (encoded.includes(REPLACEMENT)) throw refusal('a parameter is not valid UTF-8')
  const bytes = encoded.includes(PERCENT) || encoded.includes(PLUS) ? unescaped(encoded) : encoded
  if (bytes.includes(0)) throw refusal('a parameter holds a NUL character')
  if (!isUtf8(bytes)) throw refusal('a parameter is not valid UTF-8')
  return bytes.toString()
}

// Byte by byte: ten megabytes of `+` take `replaceAll` three seconds.
const unescaped = (encoded: Buffer): Buffer => {
  const bytes = Buffer.from(encoded)
  let length = 0
  for (let at = 0; at < encoded.length; at++) {
    let byte = Number(encoded[at])
    if (byte === PLUS) byte = SPACE
    else if (byte === PERCENT) {
      byte = digit(Number(encoded[at + 1])) * 16 + digit(Number(encoded[at + 2]))
      at += 2
    }
    bytes[length++] = byte
  }
  return bytes.subarray(0, length)
}

/** The value of a hexadecimal digit in ASCII. */
const digit = (byte: number): number => {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const lower = byte | 0x20
  if (lower >= 0x61 && lower <= 0x66) return lower - 0x61 + 10
  throw refusal('a parameter has a broken percent-escape')
}

const refusal = (message: string): DomainError => new DomainError('invalid_request', message)
