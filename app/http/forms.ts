import { isUtf8 } from 'node:buffer'
import { DomainError } from '../../core/index.js'

/** Parameters by name, each once. A Map, so that `__proto__` is a name like any other. */
export type Form = ReadonlyMap<string, string>

/**
 * Reads `application/x-www-form-urlencoded` as RFC 6749 section 3.2 requires: a repeated parameter is refused, and a
 * parameter without a value counts as absent. A parameter that is not UTF-8, holds a NUL or has a broken percent-escape
 * is refused, never repaired. Too many and too long parameters are refused as well. Throws `invalid_request`. Where
 * `keepsEmpty` is true, a parameter without a value is kept with an empty one.
 */
export const parseForm = (encoded: string, keepsEmpty = false): Form => {
  const { form, add } = createForm(keepsEmpty)
  for (const pair of boundedPairs(encoded)) add(pair)
  return form
}

/** Does the same with a long form: in pieces, with a `rest` before each but the first. */
export const parseFormInPieces = async (encoded: string, rest: () => Promise<unknown>): Promise<Form> => {
  const { form, add } = createForm(false)
  let length = 0
  for (const pair of boundedPairs(encoded)) {
    const [name, value] = pair
    length += name.length + value.length
    if (length > PIECE) {
      await rest()
      length = name.length + value.length
    }
    add(pair)
  }
  return form
}

/**
 * Every parameter with one of the names, in the order of the text, including repeated, empty and long ones. The others
 * may be malformed. Throws `invalid_request`.
 */
export const formPairs = (encoded: string, names: ReadonlySet<string>): readonly Pair[] =>
  pairsOf(encoded)
    .filter(([name]) => names.has(decodeLoosely(name)))
    .map(decodePair)

/** The query string of a request's target, for {@link parseForm} and {@link formPairs}. Throws `invalid_request`. */
export const queryString = (target: string): string => {
  const query = /\?([^#]*)/.exec(target)?.[1] ?? ''
  // A target is ASCII (RFC 3986 section 2). Node reads its bytes as Latin-1, so any other character would be changed.
  if (!/^[\x21-\x7e]*$/.test(query))
    throw refusal('the query string has characters that must be percent-encoded: encode all but printable ASCII')
  return query
}

/** Throws `invalid_request` when the texts, which a page would repeat, have over 16,384 bytes of UTF-8 together. */
export const requireShort = (texts: readonly string[]): void => {
  if (texts.reduce((length, text) => length + Buffer.byteLength(text), 0) > MOST_BYTES) {
    throw tooLong(`the parameters are longer than ${MOST_BYTES} bytes together: send shorter ones`)
  }
}

/** More than any form needs. A million parameters would block the event loop for a second. */
export const MOST_PARAMETERS = 1000
/** The limit for a name or a value as it is sent, and for the sum of the texts that a page repeats. */
export const MOST_BYTES = 16_384

const SPACE = 0x20
const PERCENT = 0x25
const PLUS = 0x2b

/** In characters: what is decoded at once of a long form. */
const PIECE = 500_000

/** An empty form, and what decodes a parameter and adds it. */
const createForm = (keepsEmpty: boolean) => {
  const form = new Map<string, string>()
  const names = new Set<string>()
  const add = (pair: Pair): void => {
    const [name, value] = decodePair(pair)
    if (names.has(name)) throw refusal('a parameter is repeated: send each one once')
    names.add(name)
    if (keepsEmpty || value !== '') form.set(name, value)
  }
  return { form, add }
}

/** All lengths are checked before the first parameter is decoded, so that the cost of decoding is bounded. */
const boundedPairs = (encoded: string): readonly Pair[] => {
  const pairs = pairsOf(encoded)
  if (pairs.some(pair => pair.some(isTooLong))) {
    throw tooLong(`a parameter is longer than ${MOST_BYTES} bytes: send a shorter one`)
  }
  return pairs
}

/** A name and its value as they are sent, not decoded. */
type Pair = readonly [name: string, value: string]

const pairsOf = (encoded: string): readonly Pair[] => {
  const pairs: Pair[] = []
  let count = 0
  for (let start = 0; start <= encoded.length; ) {
    const end = indexOf(encoded, '&', start)
    count += 1
    if (count > MOST_PARAMETERS) throw tooLong(`there are more than ${MOST_PARAMETERS} parameters: send fewer`)
    if (end > start) {
      const pair = encoded.slice(start, end)
      const equals = indexOf(pair, '=', 0)
      pairs.push([pair.slice(0, equals), pair.slice(equals + 1)])
    }
    start = end + 1
  }
  return pairs
}

/** The index of the character, or the length when the character is absent. */
const indexOf = (text: string, character: string, from: number): number => {
  const index = text.indexOf(character, from)
  return index === -1 ? text.length : index
}

const isTooLong = (part: string): boolean => Buffer.byteLength(part) > MOST_BYTES

/** A name that cannot be decoded stays as it is. */
const decodeLoosely = (name: string): string => {
  try {
    return decode(name)
  } catch {
    return name
  }
}

const decodePair = ([name, value]: Pair): Pair => [decode(name), decode(value)]

/** What does not stand for itself. */
const CODED = /[%+\0\uFFFD]/
// @fastify/formbody has decoded the body, and has replaced bytes that are not UTF-8 by U+FFFD.
const REPLACEMENT = '\uFFFD'

const decode = (encoded: string): string => {
  if (!CODED.test(encoded)) return encoded
  if (encoded.includes(REPLACEMENT)) throw refusal('a parameter is not valid UTF-8: encode it as UTF-8')
  const bytes = unescaped(encoded)
  if (bytes.includes(0)) throw refusal('a parameter holds a NUL character: leave it out')
  if (!isUtf8(bytes)) throw refusal('a parameter is not valid UTF-8: encode it as UTF-8')
  return bytes.toString()
}

// Byte by byte, because `replaceAll` takes three seconds for ten megabytes of `+`.
const unescaped = (encoded: string): Buffer => {
  const bytes = Buffer.from(encoded)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    let byte = Number(bytes[at])
    if (byte === PLUS) byte = SPACE
    else if (byte === PERCENT) {
      byte = digit(Number(bytes[at + 1])) * 16 + digit(Number(bytes[at + 2]))
      at += 2
    }
    bytes[length++] = byte
  }
  return bytes.subarray(0, length)
}

/** The value of a hexadecimal digit in ASCII. Throws `invalid_request` for any other byte. */
const digit = (byte: number): number => {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const lower = byte | 0x20
  if (lower >= 0x61 && lower <= 0x66) return lower - 0x61 + 10
  throw refusal('a parameter has a broken percent-escape: write % as %25')
}

const refusal = (message: string): DomainError => new DomainError('invalid_request', message)

const tooLong = (message: string): DomainError => new DomainError('invalid_request', message, { fault: 'too_long' })
