import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { DomainError } from '../../core/index.js'
import { type Composition, compose, prepareSchema } from '../compose.js'
import type { Http } from '../http/http.js'
import { buildServer } from '../http/server.js'
import { type Settings, UnusableSettingError } from '../settings.js'
import { type Finding, keptSecret, startWarnings } from '../settings-advice.js'
import { type Chores, startChores } from './chores.js'
import { createDrain } from './drain.js'
import { registerFirstClient } from './first-client.js'
import { createLog } from './log.js'
import { createSecurityLog } from './security-log.js'

/** The request to end the process, which a signal makes. */
interface Stop {
  readonly signalled: Promise<unknown>
  asked(): boolean
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/** Where the first client's secret is shown. */
type Output = NodeJS.WritableStream & { readonly isTTY?: boolean }

/** Serves until SIGTERM or SIGINT, then resolves to the exit code. Rejects when the service cannot start. */
export const serve = async (settings: Settings, stdout: Output): Promise<number> => {
  const controller = new AbortController()
  const { signal } = controller
  const abort = (): void => controller.abort()
  // `on`, not `once`: Ctrl-C in a terminal reaches both npm and the service, and npm passes its signal on to the
  // service. With no listener left, that second signal would kill the process.
  for (const name of SIGNALS) process.on(name, abort)
  try {
    await serveUntil({ signalled: once(signal, 'abort'), asked: () => signal.aborted }, settings, stdout)
    return 0
  } finally {
    for (const name of SIGNALS) process.off(name, abort)
  }
}

const serveUntil = async (stop: Stop, settings: Settings, stdout: Output): Promise<void> => {
  const composition = await compose(settings)
  try {
    // The schema may have to wait minutes for another instance's migration. A signal ends the wait.
    await Promise.race([prepareSchema(composition, settings), stop.signalled])
    if (!stop.asked()) await runServer(composition, stop, settings, stdout)
  } finally {
    await composition.database.close()
  }
}

const runServer = async (
  { database, createUseCases }: Composition,
  stop: Stop,
  settings: Settings,
  stdout: Output
): Promise<void> => {
  const log = createLog(settings.logLevel)
  const useCases = createUseCases(createSecurityLog(log.logger))
  let port = settings.port
  const publicUrl = (): string => settings.publicUrl ?? `http://localhost:${port}`
  const ready = async (): Promise<void> => {
    if (stop.asked()) throw new DomainError('unavailable', 'the service is shutting down', { retryAfterSeconds: 1 })
    await database.check()
  }
  // The first client and the page at its redirect URI are for trials, which need no database server.
  const forTrials = settings.database.kind !== 'server'
  const http = buildServer({ ...settings, useCases, log, publicUrl, ready, callbackPage: forTrials })
  const drain = createDrain(http)
  let chores: Chores | undefined
  try {
    const url = await listen(http, settings)
    if (port === 0) port = Number(new URL(url).port)
    log.logger.info({ host: settings.host, port, publicUrl: publicUrl() }, 'listening')
    const warn = ({ check, message, advice }: Finding): void =>
      log.logger.warn({ check, advice }, `${check}: ${message}`)
    startWarnings(settings).forEach(warn)
    chores = startChores(useCases, database, log.logger)
    if (forTrials) {
      const scopes = [settings.readScope, settings.writeScope].filter(scope => scope !== undefined)
      const instructions = await registerFirstClient(useCases, port, publicUrl(), scopes)
      if (instructions !== undefined) {
        // Whoever reads standard output may have left, which must not end the service.
        stdout.on('error', () => {}).write(instructions)
        if (stdout.isTTY !== true) warn(keptSecret)
      }
    }
    await stop.signalled
    log.logger.info('shutting down')
  } finally {
    await Promise.all([drain(), chores?.stop()])
    log.end()
  }
}

/** Resolves to the server's URL. Rejects with an {@link UnusableSettingError} that names `HOST` or `PORT`. */
const listen = async (http: Http, { host, port }: Settings): Promise<string> => {
  // An address, not a name: for `localhost` Fastify makes two listeners, and the second one lacks the parser error
  // handler and the timeouts of the first.
  const { address } = await lookup(host, { order: 'ipv4first' }).catch((error: unknown) => {
    throw new UnusableSettingError('HOST', Object(error).message)
  })
  return http.listen({ host: address, port }).catch((error: unknown) => {
    const { code, message } = Object(error)
    throw new UnusableSettingError(/^E(?:ADDRINUSE|ACCES)$/.test(code) ? 'PORT' : 'HOST', message)
  })
}
