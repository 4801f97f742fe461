import { setTimeout as sleep } from 'node:timers/promises'
import { type Aggregator, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { type Events, grantTypes, type SecurityEvent } from '../../core/index.js'
import type { Composition } from '../compose.js'
import type { Database } from '../database.js'
import type { Log } from '../http/http.js'
import type { Exposition } from '../http/server.js'
import { version } from '../version.js'
import { type ProcessLog, type UnparsedRequest, whenAnswered } from './log.js'

/** The metrics of this process, in the words of Prometheus. */
export type Metrics = ReturnType<typeof createMetrics>

/** A metric with its values, as prom-client's registries exchange them. */
export interface Sample {
  readonly name: string
  readonly type: unknown
  /** How the values of several processes become one. */
  readonly aggregator: string
  readonly values: readonly { readonly value: number }[]
}

interface Watched extends Pick<Composition, 'hashesWaiting'>, Pick<ProcessLog, 'linesDropped'> {
  readonly database: Pick<Database, 'connections' | 'clock' | 'check'>
}

/** Less than the second within which a worker answers. */
const CHECK_MILLISECONDS = 800

const isUp = (check: () => Promise<void>): Promise<boolean> =>
  Promise.race([check().then(() => true), sleep(CHECK_MILLISECONDS, false, { ref: false })]).catch(() => false)

/** Methods that routes have. Any other one is `other`, so that callers cannot make new labels. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'])

const LOGINS: Partial<Record<SecurityEvent['event'], string>> = {
  'login.succeeded': 'succeeded',
  'login.failed': 'failed',
  'login.throttled': 'throttled'
}

const ENDED: Partial<Record<SecurityEvent['event'], string>> = {
  'grant.stolen': 'stolen',
  'grant.revoked': 'revoked'
}

/** Of waits, in seconds. */
const WAITS = [0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 4]

/** Gauges of prom-client that are named like counters. Its gauges without `_total` have the same values, for each type. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']

/** How the values of several workers become one, where prom-client's own way would hide a worker in trouble. */
const AGGREGATORS: Readonly<Record<string, string>> = {
  process_start_time_seconds: 'max',
  process_max_fds: 'min',
  nodejs_eventloop_lag_seconds: 'max',
  nodejs_eventloop_lag_p50_seconds: 'max',
  nodejs_eventloop_lag_p90_seconds: 'max',
  nodejs_eventloop_lag_p99_seconds: 'max'
}

/** Makes the metrics. Those of Node itself are read when `read` asks for them. */
export const createMetrics = () => {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  for (const name of MISNAMED) registry.removeSingleMetric(name)
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Seconds from the head of a request to the end of its answer.',
    labelNames: ['method', 'route', 'status'],
    // A read takes less than a millisecond, and every request is answered within five seconds.
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers
  })
  const counter = <Label extends string>(name: string, help: string, label: Label) =>
    new Counter({ name, help, labelNames: [label], registers })
  const histogram = (name: string, help: string, buckets: number[]) => new Histogram({ name, help, buckets, registers })
  /** `read` is asked whenever the metrics are. */
  const gauge = (name: string, help: string, read: () => number | Promise<number>, aggregator: Aggregator = 'sum') =>
    new Gauge({
      name,
      help,
      aggregator,
      registers,
      async collect() {
        this.set(await read())
      }
    })
  const tokens = counter('heroes_tokens_issued_total', 'Access tokens issued, by grant type.', 'grant_type')
  const logins = counter('heroes_logins_total', 'Logins with a password that had an outcome.', 'outcome')
  const ended = counter(
    'heroes_grants_ended_total',
    'Grants that ended before their time: a client or their user ended them, or a code or refresh token was used again.',
    'reason'
  )
  const unparsed = counter(
    'heroes_requests_unparsed_total',
    'What the parser of HTTP refused, so that it never became a request.',
    'status'
  )
  // A series that begins at 0 shows its first event to rate() and increase().
  for (const outcome of Object.values(LOGINS)) logins.inc({ outcome }, 0)
  for (const reason of Object.values(ENDED)) ended.inc({ reason }, 0)
  for (const grant_type of grantTypes) tokens.inc({ grant_type }, 0)
  for (const status of [400, 408, 431]) unparsed.inc({ status }, 0)
  const hashWait = histogram('heroes_hash_wait_seconds', 'Seconds that a password hash waited for its turn.', WAITS)
  const batches = histogram(
    'heroes_lookup_batch_size',
    'Look-ups that travelled to PostgreSQL together.',
    [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
  )
  const databaseWait = histogram(
    'heroes_database_wait_seconds',
    'Seconds that a call waited for a connection to PostgreSQL.',
    WAITS
  )
  const statements = histogram(
    'heroes_statement_seconds',
    'Seconds from the sending of a statement to its answer.',
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]
  )
  new Gauge({
    name: 'heroes_build_info',
    help: 'Always 1, with the version of the service.',
    labelNames: ['version'],
    aggregator: 'max',
    registers
  }).set({ version }, 1)

  const collect = async (): Promise<readonly Sample[]> => {
    const samples: Sample[] = await registry.getMetricsAsJSON()
    return samples.map(sample => ({ ...sample, aggregator: AGGREGATORS[sample.name] ?? sample.aggregator }))
  }

  return {
    onHash: (seconds: number) => hashWait.observe(seconds),
    onLookups: (count: number) => batches.observe(count),
    onWait: (seconds: number) => databaseWait.observe(seconds),
    onStatement: (seconds: number) => statements.observe(seconds),
    onUnparsed: ({ status }: UnparsedRequest) => unparsed.inc({ status }),

    /** Counts logins, tokens and ended grants, and emits each event to `others`. */
    counting: (others: Events): Events => ({
      emit(event) {
        const outcome = LOGINS[event.event]
        if (outcome !== undefined) logins.inc({ outcome })
        const reason = ENDED[event.event]
        if (reason !== undefined) ended.inc({ reason })
        if (event.event === 'token.issued') tokens.inc({ grant_type: event.reason })
        if (event.event === 'token.refreshed') tokens.inc({ grant_type: 'refresh_token' })
        others.emit(event)
      }
    }),

    /** Measures each request until its response is sent or its client has left, beside what the log does. */
    measuring: <T extends Log>(log: T): T => ({
      ...log,
      followRequest(request, reply) {
        whenAnswered(request, reply, (status, milliseconds) => {
          const method = METHODS.has(request.method) ? request.method : 'other'
          durations.observe({ method, route: request.routeOptions.url ?? 'none', status }, milliseconds / 1000)
        })
        log.followRequest?.(request, reply)
      }
    }),

    /** Adds the metrics that are read from the hasher, the log and the database. */
    watch({ hashesWaiting, linesDropped, database }: Watched): void {
      gauge('heroes_hash_queue_length', 'Password hashes that wait for their turn.', hashesWaiting)
      gauge(
        'heroes_database_up',
        'Whether the database can be used, as /health/ready judges it: 1, or 0.',
        async () => Number(await isUp(database.check)),
        'min'
      )
      new Counter({
        name: 'heroes_log_lines_dropped_total',
        help: 'Lines of the log that nobody read in time.',
        registers,
        collect() {
          this.reset()
          this.inc(linesDropped())
        }
      })
      new Gauge({
        name: 'heroes_database_connections',
        help: 'Open connections to PostgreSQL: busy and idle ones of the pool, and those for look-ups.',
        labelNames: ['state'],
        registers,
        collect() {
          for (const [state, count] of Object.entries(database.connections() ?? {})) this.set({ state }, count)
        }
      })
      gauge(
        'heroes_clock_offset_seconds',
        "Seconds by which the database's clock is ahead of this machine's.",
        () => database.clock?.offsetSeconds() ?? 0,
        'average'
      )
    },

    /** The metrics as values, to be added to those of other processes. */
    collect,
    read: async (): Promise<Exposition> => ({ contentType: registry.contentType, text: await registry.metrics() })
  }
}
