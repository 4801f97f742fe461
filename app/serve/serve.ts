import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { DomainError, type Events } from '../../core/index.js'
import { type Composition, compose } from '../compose.js'
import type { NameIndexLack } from '../database.js'
import { keptSecret, lacksNameIndex, startWarnings } from '../doctor/advice.js'
import type { LogFailure } from '../http/errors.js'
import type { buildServer } from '../http/server.js'
import type { Settings } from '../settings/settings.js'
import { type Chores, startChores } from './chores.js'
import { takeCommands } from './commands.js'
import { createDrain } from './drain.js'
import { isForTrials, registerFirstClient } from './first-client.js'
import { listen } from './listen.js'
import { createLog, type ProcessLog } from './log.js'
import type { Metrics } from './metrics.js'
import { serveMetrics } from './metrics-server.js'
import { prepare, prepareLater } from './prepare.js'
import { createSecurityLog } from './security-log.js'
import type { Stop } from './stop.js'
import { createWarn } from './warn.js'
import type { CrewMember } from './workers.js'

/** Where the first client's secret is shown. */
type Output = NodeJS.WritableStream & { readonly isTTY?: boolean }

/** Serves until it is asked to stop, then resolves to the exit code. Rejects when the service cannot start. */
export const serve = async (settings: Settings, stdout: Output, stop: Stop): Promise<number> => {
  if (stop.asked()) return 0
  const { workers, database } = settings
  if (workers > 1 && database.kind === 'server') {
    // Imported when it is wanted: a single process has nothing of it.
    const { isWorker, serveAsWorker, superviseWorkers } = await import('./workers.js')
    if (!isWorker()) return superviseWorkers(settings, database, stop)
    return serveAsWorker(stop, (ordered, member) => serveUntil(ordered, settings, stdout, member))
  }
  await serveUntil(stop, settings, stdout)
  return 0
}

/** What a process serves with. */
interface Parts {
  readonly settings: Settings
  readonly composition: Composition
  readonly metrics: Metrics | undefined
  /** What the process is among the workers, if there are several. */
  readonly member: CrewMember | undefined
  readonly stdout: Output
  readonly stop: Stop
}

const serveUntil = async (stop: Stop, settings: Settings, stdout: Output, member?: CrewMember): Promise<void> => {
  // Imported when it is wanted: it takes memory and a part of the start.
  const metrics = settings.metricsPort === undefined ? undefined : (await import('./metrics.js')).createMetrics()
  // The embedded engine compiles in threads of its own, and the modules of the server load meanwhile.
  const [composition, { buildServer }] = await Promise.all([compose(settings, metrics), import('../http/server.js')])
  try {
    // The schema may have to wait minutes for another instance's migration. A signal ends the wait.
    const preparing = prepare(composition, settings, member !== undefined)
    await Promise.race([preparing, stop.signalled])
    const parts = { settings, composition, metrics, member, stdout, stop }
    if (!stop.asked()) await runServer(parts, buildServer, await preparing)
  } finally {
    await composition.database.close()
  }
}

/** `lacks`: what the database lacks; undefined when it is yet to be prepared. */
const runServer = async (
  parts: Parts,
  build: typeof buildServer,
  lacks: readonly NameIndexLack[] | undefined
): Promise<void> => {
  const { settings, composition, metrics, member, stdout, stop } = parts
  const log = createLog(settings.logLevel, undefined, { worker: member?.number })
  const securityLog = createSecurityLog(log.lines)
  const events = metrics?.counting(securityLog) ?? securityLog
  const { useCases, http, publicUrl, begin } = createService(parts, build, events, log)
  const drain = createDrain(http)
  const warn = createWarn(log.logger)
  // One worker does for all what is to be done once.
  const isFirst = member === undefined || member.number === 1
  const tellLacks = (found: readonly NameIndexLack[] | undefined): void => {
    if (isFirst) found?.map(lacksNameIndex).forEach(warn)
  }
  let stopMetrics: (() => Promise<void>) | undefined
  let stopCommands: (() => Promise<void>) | undefined
  let chores: Chores | undefined
  try {
    const port = await begin()
    metrics?.watch(composition)
    if (metrics !== undefined) {
      stopMetrics = member?.share(metrics.collect) ?? (await serveMetrics(metrics.read, settings, log))
    }
    const scopes = [settings.readScope, settings.writeScope].filter(scope => scope !== undefined)
    const instructions = isForTrials(settings)
      ? await registerFirstClient(useCases, port, publicUrl(), scopes, settings)
      : undefined
    stopCommands = await takeCommands(settings.database, composition.createUseCases, events, log.logger)
    log.logger.info({ host: settings.host, port, publicUrl: publicUrl() }, 'listening')
    if (member === undefined) startWarnings(settings).forEach(warn)
    if (isFirst) chores = startChores(useCases, composition.database, log.logger)
    tellLacks(lacks)
    member?.listening()
    if (instructions !== undefined) {
      // Whoever reads standard output may have left, which must not end the service.
      stdout.on('error', () => {}).write(instructions)
      if (stdout.isTTY !== true) warn(keptSecret(settings))
    }
    if (lacks === undefined) {
      await Promise.race([prepareLater(composition, settings, stop, log.logger).then(tellLacks), stop.signalled])
    }
    await stop.signalled
    await delayDrain(stop, settings, log.logger)
    log.logger.info('shutting down')
  } finally {
    await Promise.all([drain(), chores?.stop(), stopCommands?.()])
    // The last of all, so that the drain can be watched.
    await stopMetrics?.()
    log.end()
  }
}

/** The service with its server, which listens once `begin` is called. That resolves to the port. */
const createService = (
  { settings, composition, metrics, stop }: Parts,
  build: typeof buildServer,
  events: Events,
  log: ProcessLog
) => {
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
  const http = build({ ...settings, useCases, log: measured, publicUrl, ready, callbackPage })
  const begin = async (): Promise<number> => {
    const url = await listen(http, settings.host, { name: 'PORT', port })
    if (port === 0) port = Number(new URL(url).port)
    return port
  }
  return { useCases, http, publicUrl, begin }
}

/** Gives balancers the time to notice that the service is not ready, unless a second signal comes. */
const delayDrain = async (
  { again }: Stop,
  { drainDelaySeconds }: Settings,
  log: Pick<Logger, 'info'>
): Promise<void> => {
  if (drainDelaySeconds === 0) return
  log.info({ seconds: drainDelaySeconds }, 'not ready, and listening until DRAIN_DELAY is over')
  await sleep(drainDelaySeconds * 1000, undefined, { signal: again }).catch(() => {})
}
