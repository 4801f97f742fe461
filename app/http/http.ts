import { randomBytes } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Static, TSchema } from '@sinclair/typebox'
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyPluginCallback,
  type FastifyPluginOptions,
  type FastifyReply,
  type FastifyRequest,
  type FastifyTypeProvider,
  fastify,
  type preParsingHookHandler
} from 'fastify'
import { createBodyMemory, createDiscard, unreadable } from './bodies/arrival.js'
import { keepAddresses, trustedProxies } from './client-address.js'
import { compressAnswers } from './compression.js'
import {
  createAnswerFor,
  createErrorHandler,
  describeInvalid,
  type ErrorPage,
  type LogFailure,
  noSuchPath
} from './errors.js'
import { constantHeaders } from './headers.js'
import { configAt, errorFormAt, notePaths } from './paths.js'
import {
  boundConnections,
  connectionOf,
  endConnection,
  endConnectionIfLast,
  endGentlyOnceSent
} from './protocol/connections.js'
import { createDeadlines } from './protocol/deadlines.js'
import { CONNECTIONS, HEAD_BYTES, TIME_LIMITS } from './protocol/limits.js'
import { createParserErrors, type OnUnparsed } from './protocol/parser-errors.js'
import { cutOffReaders } from './protocol/readers.js'
import { doubtOfLength, faultInHead, hasBody, originForm } from './protocol/request-head.js'
import { createScheduling } from './protocol/scheduling.js'
import { bodyRefusals, tooLate } from './refusals.js'

/** Takes the types of a route's request and answer from its TypeBox schemas. */
export interface TypeBox extends FastifyTypeProvider {
  readonly validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown
  readonly serializer: this['schema'] extends TSchema ? Serializable<Static<this['schema']>> : unknown
}

/** An optional key may be there and undefined as well: the serializer leaves it out. */
type Serializable<T> = { [Key in keyof T]: object extends Pick<T, Key> ? T[Key] | undefined : T[Key] }

/** The Fastify server, with TypeBox for the types of routes. */
export type Http = FastifyInstance<Server, IncomingMessage, ServerResponse, FastifyBaseLogger, TypeBox>
export type HttpPlugin = FastifyPluginCallback<FastifyPluginOptions, Server, TypeBox>

/** Where the server logs failures and requests. */
export interface Log {
  /** Logs the error of a request whose status is 500 or more, or counts it. */
  readonly requestFailed: LogFailure
  readonly logger: Pick<FastifyBaseLogger, 'warn'>
  /**
   * Writes a line for the request when its response is sent or its client has left. Undefined when the level hides it.
   */
  readonly followRequest: ((request: FastifyRequest, reply: FastifyReply) => void) | undefined
}

export interface HttpOptions {
  /** The version of the package. */
  readonly version: string
  /** In bytes; 10 MB by default. */
  readonly bodyLimit: number
  /** In bytes: what request bodies of more than 64 kB may take, all together; 256 MB by default. */
  readonly bodyMemory: number
  /**
   * Whose `X-Forwarded-For` is believed: everybody's, nobody's, or that of addresses and networks, comma-separated. Nobody's
   * by default. Undefined where no address is looked at.
   */
  readonly trustProxy: boolean | string | undefined
  readonly log: Log
  readonly errorPage: ErrorPage
  /** The base URL that users see. Called when it is needed, as the port may be unknown before the server listens. */
  readonly publicUrl: (http: Pick<Http, 'server'>) => string
  /** The time for an answer, without the time in which the body arrives; 4.7 seconds by default. */
  readonly answerMilliseconds?: number | undefined
  /** In milliseconds: how long a client may take nothing of its answer; 10 seconds by default. */
  readonly readerMilliseconds?: number | undefined
  /** How long a connection may be idle; 72 seconds by default. */
  readonly keepAliveSeconds: number
  /** How many connections may be open; 10,000 by default. One beyond them is closed at once. */
  readonly maxConnections?: number | undefined
  readonly onUnparsed?: OnUnparsed | undefined
}

/** Targets that the router would take for others: `/heroes/` for `/heroes/:id` with an empty id, and `*` for `/`. */
const NO_ROUTE = /^(?:\*|(?!\/docs\/)[^?#]+\/(?:[?#]|$))/

/** Builds a server that has what all endpoints have in common, and no endpoint. It does not listen. */
export const createHttp = ({
  version,
  bodyLimit,
  bodyMemory,
  trustProxy,
  log,
  errorPage,
  publicUrl,
  answerMilliseconds = TIME_LIMITS.answer,
  readerMilliseconds = TIME_LIMITS.reader,
  keepAliveSeconds,
  maxConnections = CONNECTIONS,
  onUnparsed = () => {}
}: HttpOptions): Http => {
  const headers = constantHeaders(version)
  const answerFor = createAnswerFor(errorPage, bodyLimit, () => publicUrl(http))
  const handleError = createErrorHandler(answerFor, log.requestFailed)
  const parserErrors = createParserErrors(answerFor, url => errorFormAt(http.server, url), headers, onUnparsed)
  const largeBody = createBodyMemory(bodyMemory, bodyLimit)
  const discard = createDiscard()
  const deadlines = createDeadlines(answerMilliseconds, reply => {
    // An answer that the route's handler makes later is dropped, because its reply is sent.
    if (!reply.request.raw.socket.destroyed) reply.send(tooLate(reply.request.routeOptions.config.whenLate))
  })

  const http = fastify({
    bodyLimit,
    trustProxy: typeof trustProxy === 'string' ? trustedProxies(trustProxy) : (trustProxy ?? false),
    // Fastify's own lines contain the query string, and with a logger Fastify makes a child logger for every request.
    logger: false,
    genReqId: createRequestIds(),
    // To compile the meta-schema of JSON Schema takes a sixteenth of the start on memory. The tests validate the OpenAPI
    // document, which is made of the routes' schemas.
    ajv: {
      customOptions: { coerceTypes: false, removeAdditional: false, verbose: true, validateSchema: false, meta: false }
    },
    schemaErrorFormatter: describeInvalid,
    routerOptions: {
      // Fastify's default answers an id of more than 100 characters with 414. The routes judge ids of any length
      // instead, and Node limits the length of the whole target.
      maxParamLength: Number.MAX_SAFE_INTEGER,
      // A path with a broken percent-escape is routed as plain text, so that 404, 405, 401 and 400 keep their order.
      onBadUrl: (target, request, response) => {
        request.url = target.replace(/^\/?([^?#]*)/, (_, path) => `/${path.replaceAll('%', '%25')}`)
        http.routing(request, response)
      }
    },
    // Fastify's own HEAD routes would measure the body before it is compressed.
    exposeHeadRoutes: false,
    // Requests that arrive while the service drains are still answered.
    return503OnClosing: false,
    requestTimeout: TIME_LIMITS.request,
    keepAliveTimeout: keepAliveSeconds * 1000,
    http: {
      headersTimeout: TIME_LIMITS.head,
      connectionsCheckingInterval: TIME_LIMITS.requestCheck,
      maxHeaderSize: HEAD_BYTES,
      // The onRequest hook checks it, because Node's own refusal lacks the constant headers.
      requireHostHeader: false
    },
    clientErrorHandler: parserErrors.refuse
  }).withTypeProvider<TypeBox>()

  http.decorateRequest('accessToken', undefined)

  // A route reads a body only when its group says of which kind: see bodies/.
  http.removeAllContentTypeParsers()
  http.setErrorHandler(handleError)
  http.setNotFoundHandler((request, reply) => handleError(undefined, request, reply))

  let warnsOfForwarded = trustProxy === false

  let closing = false
  http.addHook('preClose', done => {
    closing = true
    done()
  })

  http.addHook('onRequest', (request, reply, done) => {
    request.raw.url = originForm(request.url)
    const isInTime = deadlines.begin(reply)
    // After `Upgrade` Node drops the rest of the packet; where the length is in doubt, nobody knows where the next request
    // begins. The connection ends in both cases.
    const doubt = doubtOfLength(request.raw)
    if (request.headers.upgrade !== undefined || doubt !== undefined) {
      endConnection(reply)
      endGentlyOnceSent(request.raw.socket)
    }
    log.followRequest?.(request, reply)
    if (warnsOfForwarded && (request.headers['x-forwarded-for'] ?? request.headers.forwarded) !== undefined) {
      warnsOfForwarded = false
      log.logger.warn('a proxy is in front and TRUST_PROXY does not name it: all of its clients count as one address')
    }
    reply.headers(headers)
    if (doubt !== undefined) return done(doubt)
    if (!isInTime) return done(tooLate(request.routeOptions.config.whenLate))
    const fault = faultInHead(request.raw)
    if (fault !== undefined) return done(fault)
    if (NO_ROUTE.test(request.url)) return done(noSuchPath())
    done()
  })

  const beforeBody: preParsingHookHandler = (request, reply, _payload, done) => {
    const { raw, headers } = request
    if (!hasBody(raw)) {
      // A request without a body is judged neither by its type nor by how it writes the length 0.
      delete headers['content-type']
      delete headers['content-length']
      return done()
    }
    const coding = headers['content-encoding']
    if (coding !== undefined && coding.toLowerCase() !== 'identity') return done(bodyRefusals.coded())
    if (!raw.complete) {
      const connection = connectionOf(raw.socket)
      const { broken } = connection
      // This stream fails when it is read: a refusal for the type of the body comes first.
      if (broken !== undefined)
        return done(
          null,
          unreadable(() => broken)
        )
      connection.reading = reply
    }
    done(null, largeBody(reply))
  }
  http.addHook('onRoute', route => {
    if (route.method === 'GET') route.method = ['GET', 'HEAD']
    // Only on routes that can have a body: every hook costs time, and most requests are reads.
    else route.preParsing = beforeBody
  })
  notePaths(http)

  http.addHook('onSend', (request, reply, _payload, done) => {
    const { raw } = request
    if (!raw.complete && hasBody(raw)) {
      discard(raw)
      endGentlyOnceSent(raw.socket)
    }
    const { cacheControl } = configAt(request)
    if (cacheControl !== undefined && !reply.hasHeader('cache-control')) reply.header('cache-control', cacheControl)
    // Fastify itself ends the connections of requests that arrive during the close, but not of requests under way.
    if (closing) endConnectionIfLast(reply)
    deadlines.end(reply)
    done()
  })
  compressAnswers(http)

  cutOffReaders(http.server, readerMilliseconds)
  boundConnections(http.server, maxConnections, log.logger)
  keepAddresses(http.server)
  // Node drops headers beyond the first 2,000, `Content-Length` too. HEAD_BYTES bounds their number.
  http.server.maxHeadersCount = 0
  const schedule = createScheduling(http.routing)
  http.server.off('request', http.routing).on('request', schedule)
  // An unknown expectation is ignored (RFC 9110 section 10.1.1). Node's own answer, a 417, lacks the constant headers.
  http.server.on('checkExpectation', schedule)
  http.server.on('connect', parserErrors.refuseTunnel)

  return http
}

/** Fastify's own ids begin anew with every process, so that a log of several instances would have each of them often. */
const createRequestIds = (): (() => string) => {
  const prefix = `req-${randomBytes(4).toString('hex')}-`
  let number = 0
  return () => {
    number += 1
    return prefix + number.toString(36)
  }
}
