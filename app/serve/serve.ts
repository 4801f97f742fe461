import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Events } from '../../core/index.js'
import { type Composition, compose, prepareSchema } from '../compose.js'
import { listenForCommands, type Reached } from '../control/service.js'
import type { NameIndexLack } from '../database.js'
import { keptSecret, lacksNameIndex, startWarnings } from '../doctor/advice.js'
import { connectionsFor, fewConnections } from '../doctor/open-files.js'
import type { Settings } from '../settings/settings.js'
import { startBackgroundJobs } from './background-jobs.js'
import { createDrain } from './drain.js'
import { ENDING } from './failures.js'
import { isForTrials, registerFirstClient } from './first-client.js'
import { listen, serveMetrics } from './listen.js'
import { createLog, createSecurityLog, createWarn, type UnparsedRequest } from './log.js'
import type { Metrics } from './metrics.js'
import { createOutageWatch } from './outages.js'
import { type Prepared, prepareLater, tryToPrepare } from './preparing.js'
import { createServer, publicUrlOf } from './service.js'
import type { Stop } from './stop.js'
import type { WorkerItself } from './workers.js'

/** Where the first client's secret is shown. */
type Stdout = NodeJS.WritableStream & { readonly isTTY?: boolean }

/** Serves until it is asked to stop, then resolves to the exit code. Rejects when the service cannot start. */
export const serve = async (settings: Settings, stdout: Stdout, stop: Stop): Promise<number> => {
  if (stop.asked()) return 0
  const { workers, database } = settings
  if (workers > 1 && database.kind === 'server') {
    // Imported here because a single process never uses it.
    const { isWorker, serveAsWorker, superviseWorkers } = await import('./workers.js')
    if (!isWorker()) return superviseWorkers(settings, database, stop)
    return serveAsWorker(stop, (ordered, worker) => serveUntil(ordered, settings, stdout, worker))
  }
  await serveUntil(stop, settings, stdout)
  return 0
}

interface Parts {
  readonly settings: Settings
  readonly composition: Composition
  readonly metrics: Metrics | undefined
  readonly stop: Stop
  readonly prepare: () => Promise<Prepared<readonly NameIndexLack[]>>
  readonly maxConnections: number
  /** This process as a worker; undefined where it is the only one. */
  readonly worker: WorkerItself | undefined
  readonly stdout: Stdout
}

const serveUntil = async (stop: Stop, settings: Settings, stdout: Stdout, worker?: WorkerItself): Promise<void> => {
  // Before there is a connection: Node's report looks up the names of both ends of each (nodejs/node#46060).
  const maxConnections = connectionsFor(settings)
  // Imported when it is wanted: it takes memory and a part of the start.
  const metrics = settings.metricsPort === undefined ? undefined : (await import('./metrics.js')).createMetrics()
  const composition = await compose(settings, metrics)
  try {
    // A worker is patient with a server that refuses the service, as it may take the place of another long after the start.
    // At the start the first process judges that.
    const prepare = () => tryToPrepare(() => prepareSchema(composition, settings), worker !== undefined)
    const preparing = prepare()
    // Another instance's migration may take minutes. A signal ends the wait for it.
    await Promise.race([preparing, stop.signalled])
    const parts: Parts = { settings, composition, metrics, worker, stdout, stop, prepare, maxConnections }
    if (!stop.asked()) await runServer(parts, await preparing)
  } finally {
    await composition.database.close()
  }
}

/** From the listener's begin to the end of the drain. `prepared`: what the database lacks, or why it is yet to be prepared. */
const runServer = async (parts: Parts, prepared: Prepared<readonly NameIndexLack[]>): Promise<void> => {
  const { settings, composition, metrics, worker, stdout, stop, prepare, maxConnections } = parts
  const { database, createUseCases } = composition
  const log = createLog(settings.logLevel, undefined, worker?.number)
  const warn = createWarn(log.logger)
  const securityLog = createSecurityLog(log.logger)
  const logged = log.naming(securityLog)
  const events = metrics?.counting(logged) ?? logged
  const useCases = log.namingIn(createUseCases(events))
  const ready = (): Promise<void> => (stop.asked() ? Promise.reject(ENDING) : database.check())
  let { port } = settings
  const publicUrl = (): string => publicUrlOf(settings, port)
  const watchOutage = createOutageWatch(database.check, stop, log)
  let isPrepared = false
  const watched: typeof log = {
    ...log,
    requestFailed(error, ...request) {
      if (isPrepared) void watchOutage(error)
      log.requestFailed(error, ...request)
    }
  }
  const onUnparsed = (refusal: UnparsedRequest): void => {
    log.requestUnparsed(refusal)
    metrics?.onUnparsed(refusal)
  }
  const http = createServer(settings, {
    useCases,
    isSlowSearch: database.isSlowSearch,
    log: metrics?.measuring(watched) ?? watched,
    publicUrl,
    ready,
    maxConnections,
    onUnparsed
  })
  const drain = createDrain(http)
  // One worker does for all what is to be done once.
  const isFirst = worker === undefined || worker.number === 1
  /** What ends before the metrics do. */
  const ends: (() => Promise<void>)[] = [drain]
  let stopMetrics: (() => Promise<void>) | undefined
  try {
    port = await listen(http, settings.host, port)
    metrics?.watch({ ...composition, linesDropped: log.linesDropped })
    if (metrics !== undefined) {
      stopMetrics = worker?.share(metrics.collect) ?? (await serveMetrics(metrics.read, settings, log))
    }
    const scopes = [settings.readScope, settings.writeScope].filter(scope => scope !== undefined)
    const instructions =
      isForTrials(settings) && (await registerFirstClient(useCases, port, publicUrl(), scopes, settings))
    ends.push(await takeCommands(settings.database, { createUseCases, backup: database.backup }, events, log.logger))
    log.logger.info({ host: settings.host, port, publicUrl: publicUrl() }, 'listening')
    if (worker === undefined) startWarnings(settings).forEach(warn)
    if (isFirst) fewConnections(maxConnections).forEach(warn)
    if (instructions) {
      // Whoever reads standard output may have left, which must not end the service.
      stdout.on('error', () => {}).write(instructions)
      if (stdout.isTTY !== true) warn(keptSecret(settings))
    }
    const begin = async (): Promise<void> => {
      const lacks = await prepareLater(prepared, prepare, stop, isFirst ? log.logger : undefined)
      if (lacks === undefined || stop.asked()) return
      isPrepared = true
      if (!isFirst) return
      ends.push(startBackgroundJobs(useCases, database, log.logger, watchOutage))
      lacks.map(lacksNameIndex).forEach(warn)
    }
    await Promise.race([begin(), stop.signalled])
    await stop.signalled
    await delayDrain(stop, settings, log.logger)
    log.logger.info('shutting down')
  } finally {
    await Promise.all(ends.map(end => end()))
    // The last of all, so that the drain can be watched.
    await stopMetrics?.()
    securityLog.end()
    log.end()
  }
}

/** Lets commands reach the embedded database, which this process has for itself. Resolves to what ends that. */
export const takeCommands = async (
  database: Settings['database'],
  reached: Reached,
  events: Events,
  log: Pick<Logger, 'warn'>
): Promise<() => Promise<void>> => {
  const nothingToEnd = async (): Promise<void> => {}
  if (database.kind !== 'embedded') return nothingToEnd
  return listenForCommands(database.folder, reached, events).catch((error: unknown) => {
    log.warn(`commands need this service stopped, because they cannot reach it: ${Object(error).message}`)
    return nothingToEnd
  })
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
