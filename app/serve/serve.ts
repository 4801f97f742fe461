import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { DomainError } from '../../core/index.js'
import {
  type Composition,
  compose,
  lacksWrites,
  mayPrepareLater,
  type NameIndexLack,
  prepareSchema
} from '../compose.js'
import type { buildServer } from '../http/server.js'
import type { Settings } from '../settings.js'
import { keptSecret, lacksNameIndex, startWarnings } from '../settings-advice.js'
import { type Chores, startChores } from './chores.js'
import { takeCommands } from './commands.js'
import { createDrain } from './drain.js'
import { registerFirstClient } from './first-client.js'
import { listen } from './listen.js'
import { createLog } from './log.js'
import type { Metrics } from './metrics.js'
import { serveMetrics } from './metrics-server.js'
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

/** `member`: what the process is among the workers, if there are several. */
const serveUntil = async (stop: Stop, settings: Settings, stdout: Output, member?: CrewMember): Promise<void> => {
  // Imported when it is wanted: it takes memory and a part of the start.
  const metrics = settings.metricsPort === undefined ? undefined : (await import('./metrics.js')).createMetrics()
  // The embedded engine compiles in threads of its own, and the modules of the server load meanwhile.
  const [composition, { buildServer }] = await Promise.all([compose(settings, metrics), import('../http/server.js')])
  try {
    // The schema may have to wait minutes for another instance's migration. A signal ends the wait.
    const preparing = prepare(composition, settings)
    await Promise.race([preparing, stop.signalled])
    if (!stop.asked())
      await runServer(buildServer, composition, metrics, stop, settings, stdout, await preparing, member)
  } finally {
    await composition.database.close()
  }
}

/** What the database lacks. Undefined when it answers and takes no writes, so that nothing is prepared. */
const prepare = async (composition: Composition, settings: Settings): Promise<readonly NameIndexLack[] | undefined> => {
  try {
    return await prepareSchema(composition, settings)
  } catch (error) {
    if (lacksWrites(error)) return undefined
    throw error
  }
}

const RETRY_MILLISECONDS = 1000

/**
 * Prepares the schema once the database takes writes. Resolves with what the database lacks, undefined after a signal.
 * Rejects when it turns out to be unfit.
 */
const prepareLater = async (
  composition: Composition,
  stop: Stop,
  settings: Settings,
  log: Pick<Logger, 'info' | 'warn'>
): Promise<readonly NameIndexLack[] | undefined> => {
  log.warn('the database takes no writes; until it does, requests that need it are answered with 503')
  let lacks: readonly NameIndexLack[] | undefined
  while (lacks === undefined && !stop.asked()) {
    await sleep(RETRY_MILLISECONDS, undefined, { ref: false })
    try {
      lacks = await prepareSchema(composition, settings)
      log.info('the database takes writes')
    } catch (error) {
      if (!mayPrepareLater(error)) throw error
    }
  }
  return lacks
}

const runServer = async (
  build: typeof buildServer,
  composition: Composition,
  metrics: Metrics | undefined,
  stop: Stop,
  settings: Settings,
  stdout: Output,
  lacks: readonly NameIndexLack[] | undefined,
  member: CrewMember | undefined
): Promise<void> => {
  const log = createLog(settings.logLevel, undefined, { worker: member?.number })
  const { database, createUseCases } = composition
  const securityLog = createSecurityLog(log.lines)
  const events = metrics?.counting(securityLog) ?? securityLog
  const useCases = createUseCases(events)
  let port = settings.port
  const publicUrl = (): string => settings.publicUrl ?? `http://localhost:${port}`
  const ready = async (): Promise<void> => {
    if (stop.asked()) throw new DomainError('unavailable', 'the service is shutting down', { retryAfterSeconds: 1 })
    await database.check()
  }
  // The first client and the page at its redirect URI are for trials, which need no database server.
  const forTrials = settings.database.kind !== 'server'
  const measuredLog = metrics?.measuring(log) ?? log
  const http = build({ ...settings, useCases, log: measuredLog, publicUrl, ready, callbackPage: forTrials })
  const drain = createDrain(http)
  let stopMetrics: (() => Promise<void>) | undefined
  let stopCommands: (() => Promise<void>) | undefined
  let chores: Chores | undefined
  try {
    const url = await listen(http, settings.host, { name: 'PORT', port })
    if (port === 0) port = Number(new URL(url).port)
    metrics?.watch(composition)
    if (metrics !== undefined) {
      stopMetrics = member?.share(metrics.collect) ?? (await serveMetrics(metrics.read, settings, log))
    }
    const scopes = [settings.readScope, settings.writeScope].filter(scope => scope !== undefined)
    const instructions = forTrials ? await registerFirstClient(useCases, port, publicUrl(), scopes) : undefined
    stopCommands = await takeCommands(settings.database, createUseCases, events, log.logger)
    log.logger.info({ host: settings.host, port, publicUrl: publicUrl() }, 'listening')
    const warn = createWarn(log.logger)
    if (member === undefined) startWarnings(settings).forEach(warn)
    // One worker does for all what is to be done once.
    const isFirst = member === undefined || member.number === 1
    if (isFirst) chores = startChores(useCases, database, log.logger)
    const tellLacks = (found: readonly NameIndexLack[] | undefined): void => {
      if (isFirst) found?.map(lacksNameIndex).forEach(warn)
    }
    tellLacks(lacks)
    member?.listening()
    if (instructions !== undefined) {
      // Whoever reads standard output may have left, which must not end the service.
      stdout.on('error', () => {}).write(instructions)
      if (stdout.isTTY !== true) warn(keptSecret)
    }
    const later =
      lacks === undefined ? prepareLater(composition, stop, settings, log.logger).then(tellLacks) : undefined
    await Promise.race([stop.signalled, later?.then(() => stop.signalled) ?? stop.signalled])
    await delayDrain(stop, settings, log.logger)
    log.logger.info('shutting down')
  } finally {
    await Promise.all([drain(), chores?.stop(), stopCommands?.()])
    // The last of all, so that the drain can be watched.
    await stopMetrics?.()
    log.end()
  }
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
