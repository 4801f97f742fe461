import type { FastifyReply, FastifyRequest, FastifySchemaValidationError } from 'fastify'
import { DomainError, type ErrorCode, type Fault } from '../../core/index.js'
import { bearerChallenge } from './bearer.js'
import { traceIdOf } from './client-address.js'
import { type Headers, UNCACHED } from './headers.js'
import { type ErrorForm, errorFormAt, isPage, methodsAt, type PageForm } from './paths.js'

/** The status of each error of the core, and its code of OAuth 2.0 where that is another (RFC 6749 sections 4.1.2.1, 5.2). */
const STATUSES: Readonly<Record<ErrorCode, readonly [status: number, oauthCode?: string]>> = {
  invalid_input: [400, 'invalid_request'],
  not_found: [404, 'invalid_request'],
  conflict: [409, 'invalid_request'],
  token_required: [401, 'invalid_request'],
  invalid_token: [401],
  insufficient_scope: [403],
  invalid_request: [400],
  invalid_client: [401],
  invalid_grant: [400],
  invalid_scope: [400],
  unauthorized_client: [400],
  unsupported_grant_type: [400],
  unsupported_response_type: [400],
  access_denied: [403],
  too_many_attempts: [429, 'temporarily_unavailable'],
  overloaded: [503, 'temporarily_unavailable'],
  unavailable: [503, 'temporarily_unavailable']
}

export const statusOf = (code: ErrorCode): number => STATUSES[code][0]

/** A refusal for a reason of HTTP itself. Its message goes to the client and keeps the rules of {@link DomainError}. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly status: number
  readonly headers: Headers

  constructor(status: number, message: string, headers: Headers = {}) {
    super(message)
    this.status = status
    this.headers = headers
  }
}

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

/** A failure that a page tells a person of. */
export interface PageFailure {
  readonly status: number
  /** In English, for those who write applications. */
  readonly message: string
  readonly fault?: Fault | undefined
}

/** Whom an answer is for. */
export type Asker = Pick<FastifyRequest, 'id' | 'headers'>

/** Makes the page that tells a person about an error. The `headers` include its content type. */
export type ErrorPage = (failure: PageFailure, asker: Asker, form: PageForm) => Omit<Answer, 'status'>

/** Makes the answer to a request that failed. */
export type AnswerFor = (error: unknown, form: ErrorForm, asker: Asker) => Answer

const JSON_HEADERS: Headers = { 'content-type': 'application/json; charset=utf-8' }
const OAUTH_HEADERS: Headers = { ...JSON_HEADERS, ...UNCACHED }

/**
 * `bodyLimit` is in bytes: what a body that is refused for its length is told to keep to. `publicUrl` is where those who lack a
 * token are told to look for what gives one.
 */
export const createAnswerFor =
  (errorPage: ErrorPage, bodyLimit: number, publicUrl: () => string): AnswerFor =>
  (error, form, asker) => {
    const failure = failureOf(error, bodyLimit, publicUrl)
    const { status, code, message, headers } = failure
    if (isPage(form)) {
      const page = errorPage(failure, asker, form)
      return { status, headers: { ...page.headers, ...headers }, body: page.body }
    }
    const body = form === 'json' ? { error: message } : { error: code, error_description: message }
    const common = form === 'json' ? JSON_HEADERS : OAUTH_HEADERS
    return { status, headers: { ...common, ...headers }, body: JSON.stringify(body) }
  }

/** Gets the error and the ids of the request and of the caller's trace. */
export type LogFailure = (error: unknown, reqId: string, traceId?: string) => void

/** Answers a request that failed, and calls `log` when the status is 500 or more. */
export const createErrorHandler =
  (answerFor: AnswerFor, log: LogFailure) =>
  (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    // When there is no route, Fastify still reads the body first, and its error may be about the body.
    const failure = request.is404 && !(error instanceof HttpError) ? noRoute(request) : error
    const answer = answerFor(failure, errorFormOf(request), request)
    if (answer.status >= 500) log(failure, request.id, traceIdOf(request))
    // Fastify closes the connection when it refuses a body. A client that is still sending would then be reset before
    // it reads the refusal. While the connection stays open, Node discards the rest of the body. The drain sets its
    // `connection: close` on the raw response, where it stays. That of a client that asked for it is Node's own.
    if (reply.raw.shouldKeepAlive && !reply.raw.hasHeader('connection') && reply.hasHeader('connection')) {
      reply.removeHeader('connection')
      // Without this Node would say nothing of the connection, for which HTTP/1.0 has to be told.
      reply.raw.setHeader('connection', 'keep-alive')
    }
    reply.code(answer.status).headers(answer.headers).send(answer.body)
  }

const errorFormOf = ({ is404, routeOptions, server, url }: FastifyRequest): ErrorForm =>
  is404 ? errorFormAt(server.server, url) : (routeOptions.config.errorForm ?? 'json')

export const noSuchPath = (): HttpError =>
  new HttpError(404, 'there is nothing at this path: /openapi.json lists the paths')

const noRoute = (request: FastifyRequest): HttpError => {
  const allowed = methodsAt(request)
  // Only browsers find anything at `/`, so that it is no path with methods.
  if (allowed.length === 0 || /^\/(?:\?|$)/.test(request.url)) return noSuchPath()
  const allow = allowed.join(', ')
  return new HttpError(405, `this path does not have that method: use one of ${allow}`, { allow })
}

/** Says which value does not match its schema, and why. The message names keys of the schema, but no sent value. */
export const describeInvalid = (errors: readonly FastifySchemaValidationError[]): DomainError =>
  new DomainError('invalid_input', errors.map(describe).join(', '))

const describe = (error: FastifySchemaValidationError): string => {
  const { keyword, instancePath, params, message } = error
  const value = instancePath === '' ? 'the body' : instancePath.slice(1).replaceAll('/', '.')
  switch (keyword) {
    case 'required':
      return `${value} has no ${params.missingProperty}: add it`
    case 'additionalProperties':
      return `${value} has a key that is unknown: it may have ${keysOf(error)}`
    case 'type':
      return `${value} must be ${params.type === 'object' ? 'a JSON object' : `of type ${params.type}`}`
    default:
      return `${value} ${message}`
  }
}

/** The keys of the schema that an object does not match. With its option `verbose` ajv tells that schema. */
const keysOf = (error: FastifySchemaValidationError): string =>
  Object.keys(Object(Object(error).parentSchema.properties)).join(', ')

interface Failure extends PageFailure {
  /** The code of OAuth 2.0. */
  readonly code: string
  readonly headers: Headers
}

const failureOf = (error: unknown, bodyLimit: number, publicUrl: () => string): Failure => {
  if (error instanceof DomainError) {
    const { code, message, fault } = error
    const [status, oauthCode = code] = STATUSES[code]
    return { status, code: oauthCode, message, headers: headersOf(error, publicUrl), fault }
  }
  if (error instanceof HttpError) {
    const { status, message, headers } = error
    return { status, code: 'invalid_request', message, headers }
  }
  // What Fastify itself finds in a request has a status. Everything else is a bug.
  const { statusCode } = Object(error)
  if (!(statusCode >= 400 && statusCode < 500)) {
    return { status: 500, code: 'server_error', message: 'the service failed', headers: {} }
  }
  return { status: statusCode, code: 'invalid_request', message: describeFault(statusCode, bodyLimit), headers: {} }
}

/** What is said of a request that breaks the grammar of HTTP. */
export const MALFORMED = 'the request is malformed: send HTTP as RFC 9112 has it'

const describeFault = (status: number, bodyLimit: number): string => {
  if (status === 413) return `the body is too large: send at most ${bodyLimit} bytes`
  if (status === 415) return 'the content type is not one that is read here: send application/json'
  return MALFORMED
}

const headersOf = ({ code, retryAfterSeconds, requiredScope }: DomainError, publicUrl: () => string): Headers => {
  if (retryAfterSeconds !== undefined) return { 'retry-after': String(retryAfterSeconds) }
  switch (code) {
    case 'token_required':
      return { 'www-authenticate': bearerChallenge(publicUrl()) }
    case 'invalid_token':
      return { 'www-authenticate': `${bearerChallenge(publicUrl())}, error="invalid_token"` }
    case 'insufficient_scope':
      return {
        'www-authenticate': `Bearer realm="heroes", error="insufficient_scope"${requiredScope === undefined ? '' : `, scope="${requiredScope}"`}`
      }
    case 'invalid_client':
      return { 'www-authenticate': 'Basic realm="heroes"' }
    default:
      return {}
  }
}
