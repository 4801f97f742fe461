import { isAscii } from 'node:buffer'
import { setImmediate as turn } from 'node:timers/promises'
import formbody from '@fastify/formbody'
import type { FastifyRequest, preParsingHookHandler } from 'fastify'
import type { Http, HttpPlugin } from '../http.js'
import type { ErrorForm } from '../paths.js'
import { formRefusals, oauthFormRefusals, pageRefusals, parameterRefusals, queryRefusals } from '../refusals.js'

/**
 * Parameters by name, each once: of several `resource` (RFC 8707) the first. A Map, so that `__proto__` is a name like any
 * other.
 */
export type Form = ReadonlyMap<string, string>

/** A group of routes whose request bodies are forms, and whose errors have `errorForm`. */
export const formRoutes =
  (errorForm: ErrorForm, routes: (http: Http) => void): HttpPlugin =>
  (http, _options, done) => {
    const { otherType } = errorForm === 'account page' ? formRefusals : oauthFormRefusals
    http.addHook('onRoute', route => {
      route.config = { ...route.config, errorForm }
      if (route.preParsing !== undefined) route.preParsing = [route.preParsing, boundRawText].flat()
    })
    // `formOf` parses the text, without holding the event loop.
    http.register(formbody, { parser: text => ({ text }) })
    // Fastify refuses a malformed type before it looks for a parser, so that a parser of every type would not see it.
    http.setErrorHandler(error => {
      throw Object(error).code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE' ? otherType() : error
    })
    routes(http)
    done()
  }

/**
 * Refuses a long form with much that is neither ASCII nor percent-encoded: to decode ten megabytes of that holds the event
 * loop for more than a tenth of a second.
 */
const boundRawText: preParsingHookHandler = (request, _reply, body, done) => {
  // A small body is read from the request itself.
  if (body === request.raw) return done()
  let rawBytes = 0
  body.on('data', (chunk: Buffer) => {
    if (!isAscii(chunk)) rawBytes += chunk.length
    if (rawBytes > MOST_RAW_BYTES) body.destroy(formRefusals.rawForm())
  })
  // Fastify does not listen when it refuses the body for its type.
  body.on('error', () => {})
  done()
}

/**
 * The form in the body of a request to {@link formRoutes}, empty when there is no body. Rejects as {@link parseForm} does. A
 * long form is decoded in pieces, with a turn of the event loop between them. The parameter named `list` may be repeated: its
 * values stand there with a NUL between them, which none of them can hold.
 */
export const formOf = async ({ body }: Pick<FastifyRequest, 'body'>, list?: string): Promise<Form> => {
  // Without a body there is no text.
  const { text = '' }: { readonly text?: string } = Object(body)
  const { form, add } = createForm(false, list)
  let length = 0
  for (const pair of boundedPairs(text)) {
    length += pair[0].length + pair[1].length
    if (length > PIECE) {
      await turn()
      length = 0
    }
    add(pair)
  }
  return form
}

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

/**
 * Every parameter with one of the names, in the order of the text, including repeated, empty and long ones. The others
 * may be malformed, and any number: a query string is bounded by the length of the head. Throws `invalid_request`.
 */
export const formPairs = (encoded: string, names: ReadonlySet<string>): readonly Pair[] =>
  splitPairs(encoded.split('&'))
    .filter(([name]) => names.has(decodeLoosely(name)))
    .map(decodePair)

/** The query string of a request's target, for {@link parseForm} and {@link formPairs}. Throws `invalid_request`. */
export const queryString = (target: string): string => {
  const query = /\?([^#]*)/.exec(target)?.[1] ?? ''
  // A target is ASCII (RFC 3986 section 2). Node reads its bytes as Latin-1, so any other character would be changed.
  if (!/^[\x21-\x7e]*$/.test(query)) throw queryRefusals.queryNotEncoded()
  return query
}

/** Throws `invalid_request` when the texts, which a page would repeat, have over 16,384 bytes of UTF-8 together. */
export const requireShort = (texts: readonly string[]): void => {
  if (texts.reduce((length, text) => length + Buffer.byteLength(text), 0) > MOST_BYTES) {
    throw pageRefusals.parametersTooLong()
  }
}

/** More than any form needs. A million parameters would hold the event loop for a second. */
const MOST_PARAMETERS = 1000
/** The limit for a name or a value as it is sent, and for the sum of the texts that a page repeats. */
const MOST_BYTES = 16_384
/** In characters: what is decoded in one turn of the event loop. So much takes a millisecond. */
const PIECE = 100_000
/** RFC 8707 section 2: what the token is for. It may be repeated, and nobody here reads it. */
const RESOURCE = 'resource'
/** In bytes: the limit for the chunks of a long form that hold more than ASCII. */
const MOST_RAW_BYTES = 2_000_000

/** A name and its value: as they are sent, or decoded. */
type Pair = readonly [name: string, value: string]

/** An empty form, and what decodes a parameter and adds it. */
const createForm = (keepsEmpty: boolean, list?: string) => {
  const form = new Map<string, string>()
  const names = new Set<string>()
  const add = (pair: Pair): void => {
    const [name, value] = decodePair(pair)
    if (names.has(name)) {
      if (name === RESOURCE) return
      if (name !== list) throw parameterRefusals.parameterRepeated()
      form.set(name, `${form.get(name) ?? ''}\0${value}`)
      return
    }
    names.add(name)
    if (keepsEmpty || value !== '') form.set(name, value)
  }
  return { form, add }
}

/** Number and lengths are checked before the first parameter is decoded, so that the cost of decoding is bounded. */
const boundedPairs = (encoded: string): readonly Pair[] => {
  const parts = encoded.split('&', MOST_PARAMETERS + 1)
  if (parts.length > MOST_PARAMETERS) throw parameterRefusals.tooManyParameters()
  const pairs = splitPairs(parts)
  if (pairs.flat().some(part => Buffer.byteLength(part) > MOST_BYTES)) {
    throw parameterRefusals.parameterTooLong()
  }
  return pairs
}

const splitPairs = (parts: readonly string[]): readonly Pair[] =>
  parts
    .filter(part => part !== '')
    .map(part => {
      const equals = part.indexOf('=')
      return equals === -1 ? [part, ''] : [part.slice(0, equals), part.slice(equals + 1)]
    })

/** A name that cannot be decoded is the name of nothing. */
const decodeLoosely = (name: string): string => {
  try {
    return decode(name)
  } catch {
    return ''
  }
}

const decodePair = ([name, value]: Pair): Pair => [decode(name), decode(value)]

const decode = (encoded: string): string => {
  // @fastify/formbody has put a replacement character for each byte that is not UTF-8.
  const text = encoded.includes('\uFFFD') ? undefined : decodeEscapes(encoded)
  if (text === undefined) throw parameterRefusals.parameterNoUtf8()
  if (text.includes('\0')) throw parameterRefusals.parameterWithNul()
  return text
}

/** Undefined when the escapes are not those of UTF-8. */
const decodeEscapes = (encoded: string): string | undefined => {
  const text = encoded.includes('+') ? withSpaces(encoded) : encoded
  if (!text.includes('%')) return text
  if (/%(?![\da-f]{2})/i.test(text)) throw parameterRefusals.brokenEscape()
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

const PLUS = 0x2b
const SPACE = 0x20

/** With a space for each `+`. Byte by byte: `replaceAll` takes ten times as long, a third of a second for the longest form. */
const withSpaces = (text: string): string => {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === PLUS) bytes[at] = SPACE
  }
  return bytes.toString()
}
