import { constants, isUtf8 } from 'node:buffer'
import { setImmediate as turn } from 'node:timers/promises'
import formbody from '@fastify/formbody'
import type { FastifyRequest, onRouteHookHandler, preParsingHookHandler } from 'fastify'
import { DomainError, isStorable } from '../../core/index.js'
import { SMALL_BODY } from './body-memory.js'
import { type ErrorForm, HttpError } from './errors.js'
import { withinFormBounds } from './form-bounds.js'
import { type Form, parseForm, parseFormInPieces } from './forms.js'
import { hasBody } from './framing.js'
import type { Http, HttpPlugin } from './http.js'
import { isBeyondBounds } from './json-bounds.js'

/** In bytes. A body becomes one string, and V8 has none that is longer. */
export const LONGEST_BODY = constants.MAX_STRING_LENGTH

/** A group of routes whose request bodies are JSON. Any other body is refused. */
export const jsonRoutes =
  (routes: (http: Http) => void): HttpPlugin =>
  (http, _options, done) => {
    http.addHook('onRoute', refuseCodedBodies)
    const parse = http.getDefaultJsonParser('error', 'ignore')
    http.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, parsed) => {
      // A DELETE may have the JSON content type and no body. Where a schema requires a body, null does not match it.
      if (body.length === 0) return parsed(null)
      const parseText = (text: string): void => {
        parse(request, text, (error, value) => {
          const refusal = refusalOf(text, error, value)
          if (refusal !== undefined) parsed(refusal)
          else parsed(null, body.length > SMALL_BODY ? withoutId(value) : value)
        })
      }
      inItsTurn(body, () => {
        const fault = faultInBytes(body)
        if (fault !== undefined) return parsed(new DomainError('invalid_input', fault))
        inItsTurn(body, () => {
          const text = body.toString()
          inItsTurn(body, () => parseText(text))
        })
      })
    })
    routes(http)
    done()
  }

/** A group of routes whose request bodies are forms, and whose errors have `errorForm`. Any other body is refused. */
export const formRoutes =
  (errorForm: ErrorForm, routes: (http: Http) => void): HttpPlugin =>
  (http, _options, done) => {
    http.addHook('onRoute', route => {
      route.config = { ...route.config, errorForm }
    })
    http.addHook('onRoute', refuseCodedBodies)
    http.addHook('onRoute', boundForms)
    // `formOf` parses the text, in its turn.
    http.register(formbody, { parser: text => ({ text }) })
    routes(http)
    done()
  }

/**
 * The form in the body of a request to {@link formRoutes}. Rejects with `invalid_request` when there is no body, and as
 * {@link parseForm} does.
 */
export const formOf = async ({ body }: Pick<FastifyRequest, 'body'>): Promise<Form> => {
  if (typeof body !== 'object' || body === null || !('text' in body) || typeof body.text !== 'string')
    throw new DomainError('invalid_request', 'the request has no form: send one as application/x-www-form-urlencoded')
  const { text } = body
  if (text.length <= LONG_BODY) return parseForm(text)
  await turn()
  return parseFormInPieces(text, turn)
}

/** What is wrong with JSON that is neither decoded nor parsed yet. */
const faultInBytes = (json: Buffer): string | undefined => {
  if (isBeyondBounds(json)) return 'the body has more than 1000 values or 32 levels: send a smaller one'
  return isUtf8(json) ? undefined : 'the body is not valid UTF-8: encode it as UTF-8'
}

/** What is wrong with a text that was parsed as JSON. */
const refusalOf = (text: string, error: Error | null, value: unknown): DomainError | undefined => {
  if (error !== null) {
    return new DomainError('invalid_input', 'the body is not valid JSON: send one JSON object, without a key __proto__')
  }
  // In valid UTF-8 JSON only a `\u` escape can make a NUL or half of a surrogate pair.
  if (!text.includes('\\u') || hasOnlyStorableTexts(value)) return undefined
  return new DomainError('invalid_input', 'the body holds a NUL character or half of a surrogate pair: leave it out')
}

/** In bytes of JSON, and in characters of a form. */
const LONG_BODY = 1_000_000

/**
 * Takes the next step of reading a body, at once or, with a long one, when everything else has had its turn: all steps
 * together would hold the event loop for more than a tenth of a second.
 */
const inItsTurn = (body: Buffer, step: () => void): void => {
  if (body.length > LONG_BODY) setImmediate(step)
  else step()
}

/** Every route discards `id`. A long one would stay in memory for as long as the request is worked on. */
const withoutId = (value: unknown): unknown => {
  if (typeof value === 'object' && value !== null && 'id' in value) value.id = null
  return value
}

// Recursive, and safe: json-bounds.ts limits the levels before the body is parsed.
const hasOnlyStorableTexts = (value: unknown): boolean => {
  if (typeof value === 'string') return isStorable(value)
  return typeof value !== 'object' || value === null || Object.entries(value).flat().every(hasOnlyStorableTexts)
}

/** Has the hook run behind the others on a route that can have a body. */
const beforeParsing =
  (hook: preParsingHookHandler): onRouteHookHandler =>
  route => {
    if (route.method !== 'GET' && route.method !== 'HEAD')
      route.preParsing = [route.preParsing, hook].flat().filter(hook => hook !== undefined)
  }

const refuseCoding: preParsingHookHandler = (request, _reply, _payload, done) => {
  const coding = request.headers['content-encoding']
  if (coding === undefined || !hasBody(request) || coding.toLowerCase() === 'identity') return done()
  done(new HttpError(415, 'the body has a content coding: send it without Content-Encoding'))
}

const refuseCodedBodies = beforeParsing(refuseCoding)

const boundForms = beforeParsing((request, _reply, payload, done) => {
  // A small body is read from the request itself.
  done(null, payload === request.raw ? payload : withinFormBounds(payload))
})
