import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Static, TSchema } from '@sinclair/typebox'
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyPluginCallback,
  type FastifyPluginOptions,
  type FastifyServerOptions,
  type FastifyTypeProvider,
  fastify
} from 'fastify'
import { compress } from './compression.js'
import {
  createAnswerFor,
  createErrorHandler,
  describeInvalid,
  type ErrorPage,
  HttpError,
  noSuchPath
} from './errors.js'
import { constantHeaders } from './headers.js'
import type { Log } from './log.js'
import { createParserErrorHandler } from './parser-errors.js'

/** Routes' types come from their TypeBox schemas. */
export interface TypeBox extends FastifyTypeProvider {
  readonly validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown
  readonly serializer: this['schema'] extends TSchema ? Static<this['schema']> : unknown
}

export type Http = FastifyInstance<Server, IncomingMessage, ServerResponse, FastifyBaseLogger, TypeBox>
export type HttpPlugin = FastifyPluginCallback<FastifyPluginOptions, Server, TypeBox>

export interface HttpOptions {
  /** The package's. */
  readonly version: string
  /** Bytes. */
  readonly bodyLimit: number
  readonly trustProxy: NonNullable<FastifyServerOptions['trustProxy']>
  readonly log: Log
  readonly errorPage: ErrorPage
}

const TRAILING_SLASH = /^[^?#]+\/(?:[?#]|$)/

/** A server with all that every endpoint has in common, and no endpoint. It does not listen. */
export const createHttp = ({ version, bodyLimit, trustProxy, log, errorPage }: HttpOptions): Http => {
  const headers = constantHeaders(version)
  const answerFor = createAnswerFor(errorPage)
  const handleError = createErrorHandler(answerFor, log)

  const http = fastify({
    bodyLimit,
    trustProxy,
    // No logger: Fastify's own lines carry the query string, and a child logger is made for every request.
    logger: false,
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false } },
    schemaErrorFormatter: describeInvalid,
    routerOptions: {
      // Node bounds a target's length; an id of any length is the routes' to judge.
      maxParamLength: Number.MAX_SAFE_INTEGER,
      // A path with a broken escape is a text like any other: 404, 405, 401 and 400 come in their order, from the routes.
      onBadUrl: (target, request, response) => {
        request.url = target.replace(/^\/?([^?#]*)/, (_, path) => `/${path.replaceAll('%', '%25')}`)
        http.routing(request, response)
      }
    },
    // While the service drains it still answers what arrives.
    return503OnClosing: false,
    // The body limit's 10 MB come in 2 minutes at 0.7 Mbit/s.
    requestTimeout: 120_000,
    connectionTimeout: 120_000,
    http: {
      headersTimeout: 20_000,
      connectionsCheckingInterval: 1000,
      // A `state` of 4 kB is 12 kB when percent-encoded, and Node's own limit is 16.
      maxHeaderSize: 32_768,
      // Checked below: Node's own refusal has none of our headers.
      requireHostHeader: false
    },
    clientErrorHandler: createParserErrorHandler(answerFor, headers)
  }).withTypeProvider<TypeBox>()

  // No route reads a body unless it says which kind: see bodies.ts.
  http.removeAllContentTypeParsers()
  http.setErrorHandler(handleError)
  http.setNotFoundHandler((request, reply) => handleError(undefined, request, reply))

  http.addHook('onRequest', (request, reply, done) => {
    log.followRequest?.(request, reply)
    reply.headers(headers)
    // To the router, `/heroes/` is `/heroes/:id` with an empty id.
    if (TRAILING_SLASH.test(request.url)) return done(noSuchPath())
    // RFC 9112 section 3.2.
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      return done(new HttpError(400, 'the request has no Host header'))
    }
    done()
  })

  let closing = false
  http.addHook('preClose', done => {
    closing = true
    done()
  })
  // One hook for both, as each is a part of what a read costs.
  http.addHook('onSend', (request, reply, payload, done) => {
    // Fastify says so to requests that arrive from then on, but not to those under way, whose connections would stay open.
    if (closing) reply.raw.setHeader('connection', 'close')
    compress.call(http, request, reply, payload, done)
  })

  // RFC 9110 section 10.1.1: an expectation that nobody knows is ignored; Node's own 417 has none of our headers.
  http.server.on('checkExpectation', http.routing)

  return http
}
