import { hostname } from 'node:os'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type DestinationStream, type Logger, pino } from 'pino'
import { DomainError, type Events, type Origin, type SecurityEvent, type UseCases } from '../../core/index.js'
import type { Finding } from '../doctor/advice.js'
import { addressOf, traceIdOf } from '../http/client-address.js'
import type { Log } from '../http/http.js'
import { CLIENT_LEFT, hasLeft, whenOver } from '../http/protocol/connections.js'
import type { OnUnparsed } from '../http/protocol/parser-errors.js'
import { createFailures } from './failures.js'
import { createLimit } from './limit.js'
import { createOutput } from './output.js'

/** What never became a request: the status of its refusal, and the address that it came from. */
export type UnparsedRequest = Parameters<OnUnparsed>[0]

export interface ProcessLog extends Log {
  readonly logger: Logger
  /** Logs what the parser of HTTP has refused, ten a second at most, and the number of the rest. */
  requestUnparsed(refusal: UnparsedRequest): void
  /** Emits each event to `others`, and shows its client, user and grant in the line of its request. */
  naming(others: Events): Events
  /** The same use cases; in the line of a request it shows the client or the user that they have found. */
  namingIn(useCases: UseCases): UseCases
  /** How many lines nobody has read in time, so that they were dropped. */
  linesDropped(): number
  /** Logs what has been counted and not logged yet. Failures that follow are logged as if they were the first. */
  readonly end: () => void
}

/** In a second. */
const UNPARSED_LINES = 10

/** A log with pino's levels and pino's format of lines. Each has the number of the worker whose log it is, if there is one. */
export const createLog = (level: string, given?: DestinationStream, worker?: number): ProcessLog => {
  const writer = { pid: process.pid, hostname: hostname(), ...(worker !== undefined && { worker }) }
  const writtenBy = JSON.stringify(writer).slice(1, -1)
  const output =
    given === undefined ? standardOutput(writtenBy) : { write: (line: string) => given.write(line), dropped: () => 0 }
  const logger = pino({ level, base: writer, serializers: { err: describeError } }, output)
  const failures = createFailures(logger)
  const unparsed = createLimit(UNPARSED_LINES, 1, rest => {
    logger.info({ unparsed: rest, seconds: 1 }, 'more requests could not be read')
  })
  const callers: Callers = new Map()
  return {
    logger,
    requestFailed: failures.log,
    followRequest: logger.isLevelEnabled('info') ? requestLines(output, writtenBy, callers) : undefined,
    naming: others => ({
      emit(event) {
        // At the account page a person ends logins of any client: its client and grant are not those of the request.
        const endsAnyLogin = event.event === 'grant.revoked' && event.reason === 'account'
        note(callers, endsAnyLogin ? { requestId: event.requestId, user: event.user } : event)
        others.emit(event)
      }
    }),
    namingIn(useCases) {
      return {
        ...useCases,
        async authenticateClient(candidates, origin) {
          const client = await useCases.authenticateClient(candidates, origin)
          note(callers, { ...origin, client: client.id })
          return client
        },
        async resolveRedirect(request) {
          const resolved = await useCases.resolveRedirect(request)
          note(callers, { requestId: request.requestId, client: resolved.client.id })
          return resolved
        },
        async whoAmI(token, origin) {
          const user = await useCases.whoAmI(token, origin)
          note(callers, { ...origin, user: user.id })
          return user
        },
        async manageAccount(attempt, changes) {
          const account = await useCases.manageAccount(attempt, changes)
          note(callers, { requestId: attempt.requestId, user: account.userId })
          return account
        }
      }
    },
    linesDropped: output.dropped,
    requestUnparsed({ status, address }) {
      if (unparsed.pass()) logger.info({ address, status }, 'a request could not be read')
    },
    end() {
      failures.end()
      unparsed.end()
    }
  }
}

// A write must never wait for whoever reads standard output. Node makes a pipe or socket non-blocking when
// `process.stdout` is first read, which is here at the latest.
const standardOutput = (writtenBy: string) => {
  const output = createOutput(process.stdout.fd, lines => describeDropped(lines, writtenBy))
  process.on('exit', output.end)
  return output
}

/** A line of its own, and not the logger's, whose level may hide warnings. */
const describeDropped = (lines: number, writtenBy: string): string =>
  `{"level":40,"time":${Date.now()},${writtenBy},"dropped":${lines},"msg":"the log was not read, and lines were dropped"}\n`

/**
 * Calls `tell` once, when the response is sent or its client has left. The status is {@link CLIENT_LEFT} where the client
 * has left before.
 */
export const whenAnswered = (
  request: FastifyRequest,
  reply: FastifyReply,
  tell: (status: number, milliseconds: number) => void
): void => {
  const startedAt = performance.now()
  const { raw } = reply
  whenOver(reply, () => tell(hasLeft(raw, request) ? CLIENT_LEFT : raw.statusCode, performance.now() - startedAt))
}

/** Of requests under way, by their ids: who they come from, as far as that is known. */
type Callers = Map<string, Caller>

interface Caller {
  client?: string
  user?: number
  grant?: string
}

/** What an event, or a use case, may say of a request. */
interface Named extends Pick<Origin, 'requestId'> {
  readonly client?: string
  readonly user?: number | undefined
  readonly grant?: string | undefined
}

const note = (callers: Callers, { requestId, client, user, grant }: Named): void => {
  const caller = callers.get(String(requestId))
  if (caller === undefined) return
  if (client !== undefined) caller.client = client
  if (user !== undefined) caller.user = user
  if (grant !== undefined) caller.grant = grant
}

// The line is built by hand in pino's format: with pino's own line the service keeps half of its rate, with this one
// 0.7 of it. The line has no headers, bodies or query string, since they may hold a code, a token or a password.
const requestLines =
  (output: DestinationStream, writtenBy: string, callers: Callers) =>
  (request: FastifyRequest, reply: FastifyReply): void => {
    const caller: Caller = {}
    callers.set(request.id, caller)
    const { address } = addressOf(request.ip)
    whenAnswered(request, reply, (status, milliseconds) => {
      callers.delete(request.id)
      const path = JSON.stringify(request.url.replace(/[?#].*/, ''))
      const traceId = traceIdOf(request)
      const trace = traceId === undefined ? '' : `"traceId":"${traceId}",`
      const ms = Math.round(milliseconds * 100) / 100
      const from = JSON.stringify({ address, grant: request.accessToken?.grantId, ...caller }).slice(1, -1)
      output.write(
        `{"level":30,"time":${Date.now()},${writtenBy},"reqId":"${request.id}",${trace}${from},"method":"${request.method}","path":${path},"status":${status},"ms":${ms}}\n`
      )
    })
  }

/** Events that an operator should look at. */
const WARNINGS = new Set<SecurityEvent['event']>(['login.throttled', 'grant.stolen'])

/** In a minute. Whoever sends any bearer token causes them, and they need no password. */
const BEARER_LINES = 100

/** The events as lines of the log. */
export interface SecurityLog extends Events {
  /** Logs what has been counted and not logged yet. */
  end(): void
}

/** Writes one line for each event, of refused bearer tokens for a hundred a minute, and the number of the rest. */
export const createSecurityLog = (logger: Pick<Logger, 'info' | 'warn'>): SecurityLog => {
  const bearers = createLimit(BEARER_LINES, 60, rest => {
    logger.info({ refused: rest, seconds: 60 }, 'more bearer tokens were refused')
  })
  return {
    emit({ requestId, ...event }) {
      if (event.event === 'bearer.refused' && !bearers.pass()) return
      logger[WARNINGS.has(event.event) ? 'warn' : 'info']({ ...event, reqId: requestId })
    },
    end: bearers.end
  }
}

/** Logs what is risky in a line. */
export const createWarn =
  (logger: Pick<Logger, 'warn'>) =>
  ({ check, message, advice }: Finding): void =>
    logger.warn({ check, advice }, `${check}: ${message}`)

/** The stack shows where a bug is. The code and the messages of a {@link DomainError} and of its causes say enough. */
const describeError = (error: unknown): object | string => withoutSecrets(error, !(error instanceof DomainError))

// Database drivers attach the statement and its parameters to their errors, and pino's serializer would write them all.
const withoutSecrets = (error: unknown, withStack: boolean): object | string => {
  if (!(error instanceof Error)) return typeof error
  return {
    type: error.name,
    ...('code' in error && error.code !== undefined && { code: String(error.code) }),
    message: error.message,
    ...(withStack && { stack: error.stack }),
    ...(error.cause !== undefined && { cause: withoutSecrets(error.cause, withStack) })
  }
}
