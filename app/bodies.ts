import { isUtf8 } from 'node:buffer'
import formbody from '@fastify/formbody'
import type { FastifyRequest, onRouteHookHandler, preParsingHookHandler } from 'fastify'
import { DomainError } from '../core/index.js'
import { HttpError } from './errors.js'
import { type Form, parseForm } from './forms.js'
import type { Http, HttpPlugin } from './http.js'

/** Routes whose request bodies are JSON; any other body is refused. */
export const jsonRoutes =
  (routes: (http: Http) => void): HttpPlugin =>
  (http, _options, done) => {
    http.addHook('onRoute', guardBody)
    const parse = http.getDefaultJsonParser('error', 'error')
    http.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, parsed) => {
      // A DELETE may say that it is JSON and have no body. Where a schema asks for one, nothing fails it.
      if (body.length === 0) return parsed(null)
      if (!isUtf8(body)) return parsed(new DomainError('invalid_input', 'the body is not valid UTF-8'))
      const text = body.toString()
      parse(request, text, (error, value) => {
        if (error) return parsed(new DomainError('invalid_input', 'the body is not valid JSON'))
        // Without an escape nothing below can come out of text that is UTF-8.
        if (text.includes('\\u') && !isStorable(value)) {
          return parsed(new DomainError('invalid_input', 'the body holds a NUL character or half of a surrogate pair'))
        }
        parsed(null, value)
      })
    })
    routes(http)
    done()
  }

/** Routes whose request bodies are forms; any other body is refused. */
export const formRoutes =
  (routes: (http: Http) => void): HttpPlugin =>
  (http, _options, done) => {
    http.addHook('onRoute', guardBody)
    http.register(formbody, { parser: text => ({ form: parseForm(text) }) })
    routes(http)
    done()
  }

/** The form that a request of {@link formRoutes} brought. Throws `invalid_request` when it brought none. */
export const formOf = ({ body }: FastifyRequest): Form => {
  if (typeof body === 'object' && body !== null && 'form' in body && body.form instanceof Map) return body.form
  throw new DomainError('invalid_request', 'the request has no form')
}

const UNSTORABLE = /\0|\p{Surrogate}/u

// A list of what is still to be seen and no recursion: ten megabytes of brackets are deeper than any stack.
const isStorable = (json: unknown): boolean => {
  const pending = [json]
  while (pending.length > 0) {
    const value = pending.pop()
    if (typeof value === 'string' && UNSTORABLE.test(value)) return false
    if (Array.isArray(value)) {
      for (const item of value) pending.push(item)
    } else if (typeof value === 'object' && value !== null) {
      for (const entry of Object.entries(value)) pending.push(...entry)
    }
  }
  return true
}

const guardBody: onRouteHookHandler = route => {
  if (route.method !== 'GET' && route.method !== 'HEAD')
    route.preParsing = [route.preParsing ?? [], refuseCoding].flat()
}

const refuseCoding: preParsingHookHandler = (request, _reply, _payload, done) => {
  const coding = request.headers['content-encoding']
  if (coding === undefined || coding.toLowerCase() === 'identity') return done()
  done(new HttpError(415, 'the body has a content coding'))
}
