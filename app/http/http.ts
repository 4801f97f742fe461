import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Static, TSchema } from '@sinclair/typebox'
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyPluginCallback,
  type FastifyPluginOptions,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  type FastifyTypeProvider,
  fastify,
  type preParsingHookHandler
} from 'fastify'
import { DomainError } from '../../core/index.js'
import { createCompression } from './compression.js'
import { arrived, endConnectionGently, endConnectionIfLast, readingBegins, readingEnds } from './connections.js'
import { createDeadlines } from './deadlines.js'
import {
  createAnswerFor,
  createErrorHandler,
  describeInvalid,
  type ErrorPage,
  HttpError,
  noSuchPath
} from './errors.js'
import { constantHeaders } from './headers.js'
import { createParserErrors } from './parser-errors.js'

/** Routes' types come from their TypeBox schemas. */
export interface TypeBox extends FastifyTypeProvider {
  readonly validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown
  readonly serializer: this['schema'] extends TSchema ? Serializable<Static<this['schema']>> : unknown
}

/** An optional key may be there and undefined as well: the serializer leaves it out. */
type Serializable<T> = { [Key in keyof T]: object extends Pick<T, Key> ? T[Key] | undefined : T[Key] }

export type Http = FastifyInstance<Server, IncomingMessage, ServerResponse, FastifyBaseLogger, TypeBox>
export type HttpPlugin = FastifyPluginCallback<FastifyPluginOptions, Server, TypeBox>

/** Where the service writes what happens. */
export interface Log {
  readonly logger: Pick<FastifyBaseLogger, 'error'>
  /** Writes a request's line once its response is out, or its client gone. Undefined where the level hides it. */
  readonly followRequest: ((request: FastifyRequest, reply: FastifyReply) => void) | undefined
}

export interface HttpOptions {
  /** The package's. */
  readonly version: string
  /** Bytes. */
  readonly bodyLimit: number
  readonly trustProxy: NonNullable<FastifyServerOptions['trustProxy']>
  readonly log: Log
  readonly errorPage: ErrorPage
  /** How long the service may take for an answer once the request has arrived; {@link ANSWER_MILLISECONDS} by default. */
  readonly answerMilliseconds?: number | undefined
}

/** Safely below the five seconds that callers are promised: a tick of the timer and a busy event loop come on top. */
const ANSWER_MILLISECONDS = 4700

const TRAILING_SLASH = /^[^?#]+\/(?:[?#]|$)/

/** A server with all that every endpoint has in common, and no endpoint. It does not listen. */
export const createHttp = ({
  version,
  bodyLimit,
  trustProxy,
  log,
  errorPage,
  answerMilliseconds = ANSWER_MILLISECONDS
}: HttpOptions): Http => {
  const headers = constantHeaders(version)
  const answerFor = createAnswerFor(errorPage)
  const handleError = createErrorHandler(answerFor, log.logger)
  const parserErrors = createParserErrors(answerFor, headers)
  const deadlines = createDeadlines(answerMilliseconds, reply => {
    // What the handler says afterwards finds its reply sent, and is dropped.
    if (!reply.request.raw.socket.destroyed) reply.send(tooLate(reply))
  })

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
    clientErrorHandler: parserErrors.refuse
  }).withTypeProvider<TypeBox>()

  // No route reads a body unless it says which kind: see bodies.ts.
  http.removeAllContentTypeParsers()
  http.setErrorHandler(handleError)
  http.setNotFoundHandler((request, reply) => handleError(undefined, request, reply))

  const compress = createCompression(http)

  let closing = false
  http.addHook('preClose', done => {
    closing = true
    done()
  })

  http.addHook('onRequest', (request, reply, done) => {
    if (!arrived(reply)) {
      reply.hijack()
      return
    }
    deadlines.begin(reply)
    // Node takes what follows in the packet for the other protocol's, which nobody speaks here, and drops it.
    if (request.headers.upgrade !== undefined) endConnectionGently(reply)
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

  const beforeBody: preParsingHookHandler = (request, reply, _payload, done) => {
    if (!hasBody(request)) return done()
    const refusal = readingBegins(reply)
    if (refusal !== undefined) return done(refusal)
    const goOn = deadlines.pause(reply)
    request.raw.once('end', () => {
      readingEnds(reply)
      goOn()
    })
    done()
  }
  // On the routes that can have a body and not for all of them: a hook costs, and most requests are reads.
  http.addHook('onRoute', route => {
    if (route.method !== 'GET' && route.method !== 'HEAD') route.preParsing = beforeBody
  })

  // One hook for all, as each is a part of what a read costs.
  http.addHook('onSend', (request, reply, payload, done) => {
    deadlines.end(reply)
    // Fastify says so to requests that arrive from then on, but not to those under way, whose connections would stay open.
    if (closing) endConnectionIfLast(reply)
    compress.call(http, request, reply, payload, done)
  })

  // RFC 9110 section 10.1.1: an expectation that nobody knows is ignored; Node's own 417 has none of our headers.
  http.server.on('checkExpectation', http.routing)
  http.server.on('connect', parserErrors.refuseTunnel)

  return http
}

/** RFC 9112 section 6.3. */
const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

const tooLate = ({ request }: FastifyReply): DomainError => {
  const { config } = request.routeOptions
  const advice = 'whenLate' in config ? `: ${config.whenLate}` : ''
  return new DomainError('unavailable', `the answer took too long${advice}`, { retryAfterSeconds: 1 })
}
