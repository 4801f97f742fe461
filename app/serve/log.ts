import { hostname } from 'node:os'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type DestinationStream, type Logger, pino } from 'pino'
import type { Log } from '../http/http.js'
import { createOutput } from './output.js'

/** A log with pino's levels and pino's format of lines. */
export const createLog = (
  level: string,
  output: DestinationStream = standardOutput()
): Log & { readonly logger: Logger } => {
  const logger = pino({ level, serializers: { err: withoutSecrets } }, output)
  return { logger, followRequest: logger.isLevelEnabled('info') ? requestLines(output) : undefined }
}

/** What pino writes in every line. */
const origin = `"pid":${process.pid},"hostname":${JSON.stringify(hostname())}`

// A write must never wait for whoever reads standard output. Node makes a pipe or socket non-blocking when
// `process.stdout` is first read, which is here at the latest.
const standardOutput = (): DestinationStream => {
  const output = createOutput(process.stdout.fd, describeDropped)
  process.on('exit', output.end)
  return output
}

/** A line of its own, and not the logger's, whose level may hide warnings. */
const describeDropped = (lines: number): string =>
  `{"level":40,"time":${Date.now()},${origin},"dropped":${lines},"msg":"the log was not read, and lines were dropped"}\n`

// The line is built by hand in pino's format: with pino's own line the service keeps half of its rate, with this one
// 0.7 of it. The line has no headers, bodies or query string, since they may hold a code, a token or a password. The
// absolute target of a request to a proxy is left out as well, since it may hold a query string and a password.
const requestLines =
  (output: DestinationStream) =>
  (request: FastifyRequest, reply: FastifyReply): void => {
    const startedAt = performance.now()
    const { raw } = reply
    // On `close`, not on `finish`: a response whose client has left never emits `finish`.
    raw.on('close', () => {
      const path = JSON.stringify(/^\/[^?#]*/.exec(request.url)?.[0] ?? '')
      // 499 is nginx's status for a client that left before its answer.
      const status = raw.writableEnded ? raw.statusCode : 499
      const milliseconds = Math.round((performance.now() - startedAt) * 100) / 100
      output.write(
        `{"level":30,"time":${Date.now()},${origin},"reqId":"${request.id}","method":"${request.method}","path":${path},"status":${status},"ms":${milliseconds}}\n`
      )
    })
  }

interface LoggedError {
  readonly type: string
  readonly code?: string
  readonly stack: string | undefined
  readonly cause?: unknown
}

// Database drivers attach the statement and its parameters to their errors, and pino's serializer would write them all.
const withoutSecrets = (error: unknown): LoggedError | string => {
  if (!(error instanceof Error)) return typeof error
  return {
    type: error.name,
    ...('code' in error && { code: String(error.code) }),
    stack: error.stack,
    ...(error.cause !== undefined && { cause: withoutSecrets(error.cause) })
  }
}
