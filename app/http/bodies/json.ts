import { constants, isUtf8 } from 'node:buffer'
import { setImmediate as turn } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { FastifyRequest } from 'fastify'
import { isStorable } from '../../../core/index.js'
import type { Http, HttpPlugin } from '../http.js'
import { jsonRefusals } from '../refusals.js'

/** In bytes. A body becomes one string, and V8 has none that is longer. */
export const LONGEST_BODY = constants.MAX_STRING_LENGTH

/** A group of routes whose request bodies are JSON. Any other body is refused. */
export const jsonRoutes =
  (routes: (http: Http) => void): HttpPlugin =>
  (http, _options, done) => {
    const parse = promisify(http.getDefaultJsonParser('error', 'ignore'))
    http.addContentTypeParser(
      'application/json',
      { parseAs: 'buffer' },
      async (request: FastifyRequest, body: Buffer) => {
        // Where a schema requires a body, null does not match it.
        if (body.length === 0) return null
        // All steps together would hold the event loop for more than a tenth of a second.
        const isLong = body.length > LONG_BODY
        if (isLong) await turn()
        if (isBeyondBounds(body)) throw jsonRefusals.jsonBeyondBounds()
        if (!isUtf8(body)) throw jsonRefusals.jsonNoUtf8()
        if (isLong) await turn()
        const text = body.toString()
        if (isLong) await turn()
        const value = await parse(request, text).catch(async () => {
          if (isLong) await turn()
          const complaint = complaintAbout(text)
          throw complaint === undefined
            ? jsonRefusals.jsonForbiddenKey()
            : jsonRefusals.noJson(placeOf(complaint, text))
        })
        // In valid UTF-8 JSON only a `\u` escape can make a NUL or half of a surrogate pair.
        if (text.includes('\\u') && !hasOnlyStorableTexts(value)) throw jsonRefusals.jsonUnstorable()
        return value
      }
    )
    routes(http)
    done()
  }

/** In bytes. */
const LONG_BODY = 1_000_000

/** What the parser says of a text that is not JSON. It may quote the text, so it is shown to nobody. */
const complaintAbout = (text: string): string | undefined => {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return String(error)
  }
}

/** In characters: in a longer text the place is not looked for. */
const MOST_PLACED = 65_536

/** The line and the column at which a text stops being JSON, for {@link jsonRefusals.noJson}; empty where nobody knows. */
const placeOf = (complaint: string, text: string): string => {
  if (text.length > MOST_PLACED) return ''
  const before = text.slice(0, positionOf(complaint, text))
  const column = before.length - before.lastIndexOf('\n')
  return ` at line ${before.split('\n').length}, column ${column}`
}

const UNEXPECTED_TOKEN = /Unexpected token/

/** The parser names the position, or that the text ends too early. Otherwise there is a token that it does not expect. */
const positionOf = (complaint: string, text: string): number => {
  const position = /at position (\d+)/.exec(complaint)?.[1]
  if (position !== undefined) return Number(position)
  if (complaint === 'SyntaxError: Unexpected end of JSON input') return text.length
  // The token ends the shortest beginning of the text of which the parser complains in this way.
  let before = 0
  let beyond = text.length
  while (beyond - before > 1) {
    const middle = Math.floor((before + beyond) / 2)
    if (UNEXPECTED_TOKEN.test(String(complaintAbout(text.slice(0, middle))))) beyond = middle
    else before = middle
  }
  return before
}

// Recursive, and safe: the levels are bounded before the body is parsed.
const hasOnlyStorableTexts = (value: unknown): boolean => {
  if (typeof value === 'string') return isStorable(value)
  return typeof value !== 'object' || value === null || Object.entries(value).flat().every(hasOnlyStorableTexts)
}

const MOST_VALUES = 1000
const MOST_LEVELS = 32

const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * Whether the JSON has more values or levels than any body of this service needs. Call it before the JSON is parsed: a
 * list of 800,000 values takes two seconds to walk. For a text that is not JSON the result means nothing; the parser
 * refuses it.
 */
const isBeyondBounds = (json: Buffer): boolean => {
  let values = 1
  let level = 0
  // True after the start of a list or an object, until its first element.
  let opened = false
  for (let at = 0; at < json.length; at++) {
    switch (json[at]) {
      case 0x09: // tab
      case 0x0a: // line feed
      case 0x0d: // carriage return
      case 0x20: // space
        continue
      case 0x5d: // ]
      case 0x7d: // }
        level -= 1
        opened = false
        continue
      case 0x2c: // ,
        values += 1
        break
      default:
        if (opened) values += 1
    }
    const byte = json[at]
    opened = byte === 0x5b || byte === 0x7b // [ {
    if (opened) level += 1
    else if (byte === QUOTE) at = endOfString(json, at + 1)
    if (values > MOST_VALUES || level > MOST_LEVELS) return true
  }
  return false
}

/** The index of the quotation mark that ends the string beginning at `from`; at least the length when there is none. */
const endOfString = (json: Buffer, from: number): number => {
  let at = from
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1
  return at
}
