import type { FastifyBaseLogger, FastifyReply, FastifyRequest, FastifySchemaValidationError } from 'fastify'
import { DomainError, type ErrorCode } from '../../core/index.js'
import { type Headers, UNCACHED } from './headers.js'

const STATUSES = {
  invalid_input: 400,
  not_found: 404,
  conflict: 409,
  token_required: 401,
  invalid_token: 401,
  insufficient_scope: 403,
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  invalid_scope: 400,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  unsupported_response_type: 400,
  access_denied: 403,
  too_many_attempts: 429,
  overloaded: 503,
  unavailable: 503
} satisfies Record<ErrorCode, number>

/** What OAuth 2.0 calls those errors for which it has another word (RFC 6749 sections 4.1.2.1 and 5.2). */
const OAUTH_CODES: Partial<Record<ErrorCode, string>> = {
  invalid_input: 'invalid_request',
  not_found: 'invalid_request',
  conflict: 'invalid_request',
  token_required: 'invalid_request',
  too_many_attempts: 'temporarily_unavailable',
  overloaded: 'temporarily_unavailable',
  unavailable: 'temporarily_unavailable'
}

/** A refusal that is HTTP's own. The message is for the caller, on the terms of {@link DomainError}. */
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

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

/** Draws the page that tells a person of an error; `headers` has its content type. */
export type ErrorPage = (status: number, message: string) => Omit<Answer, 'status'>

/**
 * How errors are told: `json` as `{"error": text}`, `oauth` as RFC 6749 section 5.2 has it, `page` to a person.
 * A group of routes declares its form as `errorForm` in the `config` of its routes; without one it is `json`.
 */
export type ErrorForm = 'json' | 'oauth' | 'page'

/** What a request is answered when it fails. */
export type AnswerFor = (error: unknown, form: ErrorForm) => Answer

export const createAnswerFor =
  (errorPage: ErrorPage): AnswerFor =>
  (error, form) => {
    const { status, code, message, headers } = failureOf(error, form)
    if (form === 'page') {
      const page = errorPage(status, message)
      return { status, headers: { ...page.headers, ...headers }, body: page.body }
    }
    const type = { 'content-type': 'application/json; charset=utf-8' }
    if (form === 'json') {
      return { status, headers: { ...type, ...headers }, body: JSON.stringify({ error: message }) }
    }
    const body = JSON.stringify({ error: code, error_description: message })
    return { status, headers: { ...type, ...UNCACHED, ...headers }, body }
  }

/** Answers a request that failed, and logs what is the service's own fault. */
export const createErrorHandler =
  (answerFor: AnswerFor, logger: Pick<FastifyBaseLogger, 'error'>) =>
  (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    // Fastify reads the body before it says that there is no route, and may refuse that first.
    const failure = request.is404 && !(error instanceof HttpError) ? noRoute(request) : error
    const answer = answerFor(failure, errorFormOf(request))
    if (answer.status >= 500) logger.error({ reqId: request.id, err: failure }, 'a request failed')
    // Fastify closes the connection when a body is refused, and a client that is still sending is reset before it reads
    // why. Kept open, Node discards the rest. The drain's own `connection: close` is a header of the raw response.
    if (!reply.raw.hasHeader('connection')) reply.removeHeader('connection')
    reply.code(answer.status).headers(answer.headers).send(answer.body)
  }

const errorFormOf = ({ is404, url, routeOptions: { config } }: FastifyRequest): ErrorForm => {
  if (is404) return errorFormAt(url)
  const declared = 'errorForm' in config ? config.errorForm : undefined
  return declared === 'oauth' || declared === 'page' ? declared : 'json'
}

/** For a path that matches no route, or whose routes lack the method: nobody has declared a form. */
const errorFormAt = (target: string): ErrorForm => {
  if (/^\/auth\/code(?:\?|$)/.test(target)) return 'page'
  return target.startsWith('/auth/') ? 'oauth' : 'json'
}

export const noSuchPath = (): HttpError => new HttpError(404, 'there is nothing at this path')

const noRoute = ({ server, url }: FastifyRequest): HttpError => {
  const allowed = server.supportedMethods.filter(method => server.findRoute({ method, url }) !== null)
  if (allowed.length === 0) return noSuchPath()
  return new HttpError(405, 'this path does not have that method', { allow: allowed.join(', ') })
}

/** Says which value of a request broke its schema and how: keys of the schema at most, nothing that was sent. */
export const describeInvalid = (errors: readonly FastifySchemaValidationError[], part: string): DomainError =>
  new DomainError('invalid_input', errors.map(error => describe(error, part)).join(', '))

const describe = ({ keyword, instancePath, params, message }: FastifySchemaValidationError, part: string): string => {
  const value = instancePath === '' ? `the ${part}` : instancePath.slice(1).replaceAll('/', '.')
  if (keyword === 'required') return `${value} has no ${params.missingProperty}`
  if (keyword === 'additionalProperties') return `${value} has a key that is unknown`
  return `${value} ${message}`
}

interface Failure {
  readonly status: number
  /** OAuth 2.0's. */
  readonly code: string
  readonly message: string
  readonly headers: Headers
}

const failureOf = (error: unknown, form: ErrorForm): Failure => {
  if (error instanceof DomainError) {
    const { code, message } = error
    return { status: STATUSES[code], code: OAUTH_CODES[code] ?? code, message, headers: headersOf(error) }
  }
  if (error instanceof HttpError) {
    const { status, message, headers } = error
    return { status, code: 'invalid_request', message, headers }
  }
  const status = clientFault(error)
  if (status === undefined) return { status: 500, code: 'server_error', message: 'the service failed', headers: {} }
  return {
    // RFC 6749 section 5.2: a token request that is malformed in whatever way is a 400.
    status: status === 415 && form !== 'json' ? 400 : status,
    code: 'invalid_request',
    message: MESSAGES[status] ?? 'the request is malformed',
    headers: {}
  }
}

/** The status of what Fastify itself found wrong with a request. */
const clientFault = (error: unknown): number | undefined => {
  if (!(error instanceof Error) || !('statusCode' in error) || typeof error.statusCode !== 'number') return undefined
  return error.statusCode >= 400 && error.statusCode < 500 ? error.statusCode : undefined
}

const MESSAGES: Readonly<Record<number, string>> = {
  413: 'the body is too large',
  415: 'the content type is not one that is read here'
}

const headersOf = ({ code, retryAfterSeconds, requiredScope }: DomainError): Headers => {
  if (retryAfterSeconds !== undefined) return { 'retry-after': String(retryAfterSeconds) }
  switch (code) {
    case 'token_required':
      return { 'www-authenticate': 'Bearer realm="heroes"' }
    case 'invalid_token':
      return { 'www-authenticate': 'Bearer realm="heroes", error="invalid_token"' }
    case 'insufficient_scope':
      return { 'www-authenticate': `Bearer realm="heroes", error="insufficient_scope", scope="${requiredScope}"` }
    case 'invalid_client':
      return { 'www-authenticate': 'Basic realm="heroes"' }
    default:
      return {}
  }
}
