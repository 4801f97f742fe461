import cluster, { type Worker as ClusterWorker } from 'node:cluster'
import { prepareForWorkers } from '../compose.js'
import { startWarnings } from '../doctor/advice.js'
import type { ServerSettings, Settings } from '../settings/settings.js'
import { pickPort, serveMetrics } from './listen.js'
import { createLog, createWarn } from './log.js'
import type { Sample } from './metrics.js'
import { prepareLater, tryToPrepare } from './preparing.js'
import { createStop, type Stop } from './stop.js'
import { type Reports, supervise, type Worker } from './supervisor.js'
import type { WorkerMetrics } from './worker-metrics.js'

/** A worker as it is to itself. */
export interface WorkerItself {
  /** From 1. A worker that takes another's place has its number. */
  readonly number: number
  /** Lets the first process read the metrics. Returns what sends them a last time. */
  share(read: () => Promise<readonly Sample[]>): () => Promise<void>
}

/** What a worker tells the first process. */
interface Report {
  /** The worker hears orders. This is the first report of each. */
  readonly hears?: true
  /** Why the worker is about to end. */
  readonly failed?: string
  readonly metrics?: readonly Sample[] | undefined
}

const NUMBER = 'HEROES_WORKER'

/**
 * How long a worker waits before it ends by a signal of its own. A signal that all processes get reaches the first one as well,
 * which asks the workers sooner.
 */
const OWN_SIGNAL_MILLISECONDS = 1000

export const isWorker = (): boolean => cluster.isWorker

/**
 * Serves as one worker until the first process, or a signal to this one alone, asks it to end. Resolves to the exit
 * code. Why it fails is told to the first process, so that it is printed once for all workers. `own` is asked by signals
 * to this process.
 */
export const serveAsWorker = async (
  own: Stop,
  work: (stop: Stop, itself: WorkerItself) => Promise<void>
): Promise<number> => {
  const stop = createStop()
  let read: (() => Promise<readonly Sample[]>) | undefined
  const sendMetrics = async (): Promise<void> => report({ metrics: await read?.() })
  process.on('message', order => {
    if (order === 'stop') stop.ask()
    else void sendMetrics()
  })
  void report({ hears: true })
  const askOnce = (): void => {
    if (!stop.asked()) stop.ask()
  }
  void own.signalled.then(() => setTimeout(askOnce, OWN_SIGNAL_MILLISECONDS))
  try {
    await work(stop, {
      number: Number(process.env[NUMBER]),
      share(readMetrics) {
        read = readMetrics
        return sendMetrics
      }
    })
    return 0
  } catch (error) {
    await report({ failed: String(Object(error).message) })
    return 1
  }
}

const report = (told: Report): Promise<void> =>
  new Promise(resolve => {
    process.send?.(told, undefined, undefined, () => resolve())
  })

/**
 * Prepares the database, then runs the workers until it is asked to stop. Resolves to the exit code. Rejects when the
 * service cannot start, also when that turns out only after the workers had to wait for the database.
 */
export const superviseWorkers = async (settings: Settings, server: ServerSettings, stop: Stop): Promise<number> => {
  const prepare = () => tryToPrepare(() => prepareForWorkers(settings, server, stop.signalled), false)
  const prepared = await prepare()
  if (stop.asked()) return 0
  // The kernel gives a connection to whichever worker is free to take it.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  const log = createLog(settings.logLevel)
  // Imported when it is wanted: it takes memory and a part of the start.
  const metrics =
    settings.metricsPort === undefined ? undefined : (await import('./worker-metrics.js')).createWorkerMetrics()
  const stopMetrics = metrics && (await serveMetrics(metrics.read, settings, log))
  try {
    // Chosen here: workers that start when no other listens would get another port.
    const port = settings.port === 0 ? await pickPort(settings.host) : settings.port
    const env = { PORT: String(port), WORKERS: String(settings.workers) }
    return await new Promise<number>((ended, failed) => {
      const supervision = supervise(settings.workers, settings.drainDelaySeconds, {
        fork: (number, reports) => fork({ ...env, [NUMBER]: String(number) }, reports, metrics),
        log: log.logger,
        listening: () => startWarnings(settings).forEach(createWarn(log.logger)),
        ended,
        failed
      })
      void stop.signalled.then(supervision.stop)
      stop.again.addEventListener('abort', supervision.stop)
      // Each worker waits by itself, and the first of them logs it.
      prepareLater(prepared, prepare, stop, undefined).catch(supervision.fail)
    })
  } finally {
    // The last of all, so that the drain can be watched.
    await stopMetrics?.()
    log.end()
  }
}

/** A process that cannot be started, for want of memory or of process ids, is reported as one that has ended. */
const fork = (env: Readonly<Record<string, string>>, reports: Reports, metrics: WorkerMetrics | undefined): Worker => {
  const neverRan = (error: unknown): void => {
    const reason = `a worker cannot be started: ${Object(error).message}`
    reports.ended({ code: null, signal: null, reason })
  }
  try {
    const child = cluster.fork(env)
    if (child.process.pid !== undefined) return watch(child, reports, metrics)
    child.once('error', neverRan)
  } catch (error) {
    setImmediate(neverRan, error)
  }
  return { stop: ignore, kill: ignore }
}

const watch = (child: ClusterWorker, reports: Reports, metrics: WorkerMetrics | undefined): Worker => {
  // Node drops what is sent to a worker that does not hear yet, so orders wait for its first report.
  const hears = new Promise(resolve => child.once('message', resolve))
  const send = (order: 'stop' | 'metrics'): void => {
    void hears.then(() => child.process.send(order, ignore))
  }
  const member = metrics?.join(() => send('metrics'))
  let reason: string | undefined
  child.once('listening', reports.listening)
  child.on('message', ({ failed, metrics: samples }: Report) => {
    reason ??= failed
    if (samples !== undefined) member?.receive(samples)
  })
  // A message to a worker that has just ended emits `error`. Its `exit` event tells enough.
  child.on('error', ignore)
  const disconnected = new Promise<void>(resolve => child.once('disconnect', resolve))
  child.once('exit', (code, signal) => {
    // What the worker told before its end arrives before the channel is closed, and maybe after the process has ended.
    void disconnected.then(() => {
      member?.left()
      reports.ended({ code, signal, reason })
    })
  })
  return {
    stop: () => send('stop'),
    kill: child.process.kill.bind(child.process, 'SIGKILL')
  }
}

const ignore = (): void => {}
