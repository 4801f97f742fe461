import { DomainError } from '../core/index.js'

/** Parameters by name: each once, none empty. A Map, so that `__proto__` is a name like any other. */
export type Form = ReadonlyMap<string, string>

/**
 * Reads `application/x-www-form-urlencoded` on RFC 6749's terms (section 3.2): a repeated parameter is refused, one without
 * a value counts as absent. What is no UTF-8, holds a NUL or has a broken percent-escape is refused, never mended.
 */
export const parseForm = (text: string): Form => {
  const form = new Map<string, string>()
  const names = new Set<string>()
  for (const [name, value] of formPairs(text)) {
    if (names.has(name)) throw refusal('a parameter is repeated')
    names.add(name)
    if (value !== '') form.set(name, value)
  }
  return form
}

/** Every parameter in its order, repeated and empty ones too. Throws `invalid_request` as {@link parseForm} does. */
export const formPairs = (text: string): readonly (readonly [name: string, value: string])[] =>
  pairsOf(text).map(pair => {
    const equals = pair.indexOf('=')
    return equals === -1 ? [decode(pair), ''] : [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))]
  })

/** More than any form has; a million of them would hold the event loop up for a second. */
const MOST_PARAMETERS = 1000

const pairsOf = (text: string): string[] => {
  const pairs = text.split('&', MOST_PARAMETERS + 1)
  if (pairs.length > MOST_PARAMETERS) throw refusal('there are more than 1000 parameters')
  return pairs.filter(pair => pair !== '')
}

/** The query string of a request's target, for {@link parseForm} and {@link formPairs}. */
export const queryString = (target: string): string => {
  const query = /\?([^#]*)/.exec(target)?.[1] ?? ''
  // Node reads the bytes of a target as Latin-1: what is not ASCII (RFC 3986 section 2) would come out as something else.
  if (!/^[\x21-\x7e]*$/.test(query)) throw refusal('the query string has characters that must be percent-encoded')
  return query
}

// @fastify/formbody decodes the bytes before it hands them over: where they are no UTF-8 there is a U+FFFD by now.
const UNREADABLE = /[\0\uFFFD]/

const decode = (text: string): string => {
  if (UNREADABLE.test(text)) throw refusal('a parameter is not valid UTF-8')
  try {
    const decoded = decodeURIComponent(text.replaceAll('+', ' '))
    if (!decoded.includes('\0')) return decoded
  } catch {
    throw refusal('a parameter is not valid percent-encoded UTF-8')
  }
  throw refusal('a parameter holds a NUL character')
}

const refusal = (message: string): DomainError => new DomainError('invalid_request', message)
