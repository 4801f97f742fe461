import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { DomainError } from '../../core/index.js'
import { type Composition, compose, prepare } from '../compose.js'
import type { Http } from '../http/http.js'
import { buildServer } from '../http/server.js'
import { type Settings, UnusableSettingError } from '../settings.js'
import { type Chores, startChores } from './chores.js'
import { createDrain } from './drain.js'
import { registerFirstClient } from './first-client.js'
import { createLog } from './log.js'

/** That the process was asked to end. */
interface Stop {
  readonly signalled: Promise<unknown>
  asked(): boolean
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/** Serves until SIGTERM or SIGINT; the process's exit code. Rejects when it cannot start. */
export const serve = async (settings: Settings, stdout: NodeJS.WritableStream): Promise<number> => {
  const controller = new AbortController()
  const { signal } = controller
  const abort = (): void => controller.abort()
  // Each time, not once: a terminal's Ctrl-C reaches npm and the service, npm passes it on, and the second would kill.
  for (const name of SIGNALS) process.on(name, abort)
  try {
    await serveUntil({ signalled: once(signal, 'abort'), asked: () => signal.aborted }, settings, stdout)
    return 0
  } finally {
    for (const name of SIGNALS) process.off(name, abort)
  }
}

const serveUntil = async (stop: Stop, settings: Settings, stdout: NodeJS.WritableStream): Promise<void> => {
  const composition = await compose(settings)
  try {
    // Another instance's migration may take minutes, and this one may be asked to end meanwhile.
    await Promise.race([prepare(composition, settings), stop.signalled])
    if (!stop.asked()) await serveOver(composition, stop, settings, stdout)
  } finally {
    await composition.database.close()
  }
}

const serveOver = async (
  { useCases, database }: Composition,
  stop: Stop,
  settings: Settings,
  stdout: NodeJS.WritableStream
): Promise<void> => {
  const log = createLog(settings.logLevel)
  let port = settings.port
  const publicUrl = (): string => settings.publicUrl ?? `http://localhost:${port}`
  const ready = async (): Promise<void> => {
    if (stop.asked()) throw new DomainError('unavailable', 'the service is shutting down', { retryAfterSeconds: 1 })
    await database.check()
  }
  // Where the first client is registered: see first-client.ts.
  const callbackPage = settings.database.kind !== 'server'
  const http = buildServer({ ...settings, useCases, log, publicUrl, ready, callbackPage })
  const drain = createDrain(http)
  let chores: Chores | undefined
  try {
    const url = await listen(http, settings)
    if (port === 0) port = Number(new URL(url).port)
    log.logger.info({ host: settings.host, port, publicUrl: publicUrl() }, 'listening')
    chores = startChores(useCases, database, log.logger)
    if (callbackPage) {
      const scopes = [settings.readScope, settings.writeScope].filter(scope => scope !== undefined)
      const words = await registerFirstClient(useCases, port, publicUrl(), scopes)
      if (words !== undefined) stdout.write(words)
    }
    await stop.signalled
    log.logger.info('shutting down')
  } finally {
    await Promise.all([drain(), chores?.stop()])
  }
}

/** Where it listens. Rejects with the name of the setting that is to blame. */
const listen = async (http: Http, { host, port }: Settings): Promise<string> => {
  // One address and no name: of `localhost` Fastify would make two listeners, and the second has none of what the first was
  // given (parser errors, timeouts).
  const { address } = await lookup(host, { order: 'ipv4first' }).catch((error: unknown) => {
    throw new UnusableSettingError('HOST', Object(error).message)
  })
  return http.listen({ host: address, port }).catch((error: unknown) => {
    const { code, message } = Object(error)
    throw new UnusableSettingError(/^E(?:ADDRINUSE|ACCES)$/.test(code) ? 'PORT' : 'HOST', message)
  })
}
