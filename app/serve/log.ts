import { hostname } from 'node:os'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type DestinationStream, type Logger, pino } from 'pino'
import { DomainError, type Events, type SecurityEvent } from '../../core/index.js'
import type { Finding } from '../doctor/advice.js'
import type { Log } from '../http/http.js'
import { CLIENT_LEFT, hasLeft, whenOver } from '../http/protocol/connections.js'
import { traceIdOf } from '../http/trace.js'
import { createFailures } from './failures.js'
import { createOutput } from './output.js'

export interface ProcessLog extends Log {
  readonly logger: Logger
  readonly lines: Lines
  /** Logs the failures that have been counted and not logged yet. */
  readonly end: () => void
}

/**
 * Writes lines of fields alone, without a message. There is at least one field, and all of them are plain values. A
 * method is absent when its level is not logged, so that nobody makes the fields of a line in vain.
 */
export interface Lines {
  /** At pino's level 30. */
  info?(fields: object): void
  /** At pino's level 40. */
  warn?(fields: object): void
}

/** What every line tells of the process that wrote it. */
interface Writer {
  readonly pid: number
  readonly hostname: string
  readonly worker?: number
}

/** Whose log it is. */
export interface LogOptions {
  /** The number of the worker whose log it is. */
  readonly worker?: number | undefined
}

/** A log with pino's levels and pino's format of lines. */
export const createLog = (level: string, given?: DestinationStream, { worker }: LogOptions = {}): ProcessLog => {
  const writer: Writer = { pid: process.pid, hostname: hostname(), ...(worker !== undefined && { worker }) }
  const origin = JSON.stringify(writer).slice(1, -1)
  const output = given ?? standardOutput(origin)
  const logger = pino({ level, base: writer, serializers: { err: describeError } }, output)
  const failures = createFailures(logger)
  return {
    logger,
    lines: linesOf(logger, output, origin),
    requestFailed: failures.log,
    followRequest: logger.isLevelEnabled('info') ? requestLines(output, origin) : undefined,
    end: failures.end
  }
}

// A write must never wait for whoever reads standard output. Node makes a pipe or socket non-blocking when
// `process.stdout` is first read, which is here at the latest.
const standardOutput = (origin: string): DestinationStream => {
  const output = createOutput(process.stdout.fd, lines => describeDropped(lines, origin))
  process.on('exit', output.end)
  return output
}

/** A line of its own, and not the logger's, whose level may hide warnings. */
const describeDropped = (lines: number, origin: string): string =>
  `{"level":40,"time":${Date.now()},${origin},"dropped":${lines},"msg":"the log was not read, and lines were dropped"}\n`

// The line is built by hand in pino's format: with pino's own line the service keeps half of its rate, with this one
// 0.7 of it. The line has no headers, bodies or query string, since they may hold a code, a token or a password.
const requestLines =
  (output: DestinationStream, origin: string) =>
  (request: FastifyRequest, reply: FastifyReply): void => {
    const startedAt = performance.now()
    const { raw } = reply
    whenOver(reply, () => {
      const path = JSON.stringify(request.url.replace(/[?#].*/, ''))
      const status = hasLeft(raw, request) ? CLIENT_LEFT : raw.statusCode
      const traceId = traceIdOf(request)
      const trace = traceId === undefined ? '' : `"traceId":"${traceId}",`
      const milliseconds = Math.round((performance.now() - startedAt) * 100) / 100
      output.write(
        `{"level":30,"time":${Date.now()},${origin},"reqId":"${request.id}",${trace}"method":"${request.method}","path":${path},"status":${status},"ms":${milliseconds}}\n`
      )
    })
  }

// Built by hand too: pino's own line is a tenth of what a login costs that is throttled.
const linesOf = (logger: Logger, output: DestinationStream, origin: string): Lines => {
  const lines: Lines = {}
  for (const level of ['info', 'warn'] as const) {
    if (!logger.isLevelEnabled(level)) continue
    const number = logger.levels.values[level]
    lines[level] = fields => {
      output.write(`{"level":${number},"time":${Date.now()},${origin},${JSON.stringify(fields).slice(1)}\n`)
    }
  }
  return lines
}

/** Events that an operator should look at. */
const WARNINGS: ReadonlySet<SecurityEvent['event']> = new Set<SecurityEvent['event']>([
  'login.throttled',
  'grant.stolen'
])

/** Writes one line for each event. A logger of pino will do. */
export const createSecurityLog = (lines: Lines): Events => ({
  emit(event) {
    if (WARNINGS.has(event.event)) lines.warn?.(lineOf(event))
    else lines.info?.(lineOf(event))
  }
})

const lineOf = ({ requestId, ...event }: SecurityEvent): object => ({ ...event, reqId: requestId })

/** Logs what is risky in a line. */
export const createWarn =
  (logger: Pick<Logger, 'warn'>) =>
  ({ check, message, advice }: Finding): void =>
    logger.warn({ check, advice }, `${check}: ${message}`)

interface LoggedError {
  readonly type: string
  readonly code?: string
  readonly message: string
  readonly stack?: string | undefined
  readonly cause?: unknown
}

/** The stack shows where a bug is. The code and the messages of a {@link DomainError} and of its causes say enough. */
const describeError = (error: unknown): LoggedError | string => withoutSecrets(error, !(error instanceof DomainError))

// Database drivers attach the statement and its parameters to their errors, and pino's serializer would write them all.
const withoutSecrets = (error: unknown, withStack: boolean): LoggedError | string => {
  if (!(error instanceof Error)) return typeof error
  return {
    type: error.name,
    ...('code' in error && error.code !== undefined && { code: String(error.code) }),
    message: error.message,
    ...(withStack && { stack: error.stack }),
    ...(error.cause !== undefined && { cause: withoutSecrets(error.cause, withStack) })
  }
}
