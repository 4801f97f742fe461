import { DomainError, type Events } from '../../core/index.js'
import { type Composition, compose } from '../compose.js'
import type { LogFailure } from '../http/errors.js'
import { buildServer } from '../http/server.js'
import type { Settings } from '../settings/settings.js'
import { isForTrials } from './first-client.js'
import { listen } from './listen.js'
import { createLog, createSecurityLog, type ProcessLog } from './log.js'
import type { Metrics } from './metrics.js'
import type { Stop } from './stop.js'

/** What a service is made of. */
export interface Parts {
  readonly settings: Settings
  readonly composition: Composition
  readonly metrics: Metrics | undefined
  readonly stop: Pick<Stop, 'asked'>
}

/** The service with its server, which listens once `begin` is called. That resolves to the port. */
export const createService = ({ settings, composition, metrics, stop }: Parts, events: Events, log: ProcessLog) => {
  let port = settings.port
  const publicUrl = (): string => settings.publicUrl ?? `http://localhost:${port}`
  const ending = new DomainError('unavailable', 'the service is shutting down', { retryAfterSeconds: 1 })
  const ready = async (): Promise<void> => {
    if (stop.asked()) throw ending
    await composition.database.check()
  }
  const useCases = composition.createUseCases(events)
  // A balancer that is told of the end has met no failure.
  const requestFailed: LogFailure = (error, ...ids) => {
    if (error !== ending) log.requestFailed(error, ...ids)
  }
  const served = { ...log, requestFailed }
  const measured = metrics?.measuring(served) ?? served
  const callbackPage = isForTrials(settings)
  const http = buildServer({ ...settings, useCases, log: measured, publicUrl, ready, callbackPage })
  const begin = async (): Promise<number> => {
    const url = await listen(http, settings.host, { name: 'PORT', port })
    if (port === 0) port = Number(new URL(url).port)
    return port
  }
  return { useCases, http, publicUrl, begin }
}

/** The OpenAPI document of a service with these settings, as JSON. No database is opened. */
export const openApi = async (settings: Settings): Promise<string> => {
  const log = createLog('silent', process.stderr)
  const composition = await compose({ ...settings, database: { kind: 'memory' } })
  const parts = { settings, composition, metrics: undefined, stop: { asked: () => false } }
  const { http } = createService(parts, createSecurityLog(log.lines), log)
  const { payload } = await http.inject('/openapi.json')
  await http.close()
  return payload
}
