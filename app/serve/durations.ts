/** How long the requests of one route, method and status took. */
interface Series {
  readonly labels: { readonly method: string; readonly route: string; readonly status: number }
  readonly buckets: readonly Bucket[]
  count: number
  sum: number
}

interface Bucket {
  /** In seconds. */
  readonly bound: number
  /** How many requests took so long at most. */
  count: number
}

/** A value as prom-client's registries exchange them. */
export interface Value {
  readonly metricName: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}

export interface Metric {
  readonly name: string
  readonly help: string
  readonly type: 'histogram'
  readonly aggregator: 'sum'
  readonly values: readonly Value[]
}

/** In seconds. A read takes less than a millisecond, and every request is answered within five seconds. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const NAME = 'http_request_duration_seconds'

export interface Durations {
  observe(method: string, route: string, status: number, seconds: number): void
  /** The histogram, as a registry of prom-client gives its metrics. */
  toMetric(): Metric
}

/**
 * A histogram of the durations of requests. prom-client's own takes a microsecond for each value, to build and check the
 * labels and to make one text of them, which is a twentieth of what a read takes.
 */
export const createDurations = (): Durations => {
  const all: Series[] = []
  // Nested, as one key for all three would be a new text for every request.
  const byRoute = new Map<string, Map<string, Map<number, Series>>>()

  const seriesOf = (method: string, route: string, status: number): Series => {
    const known = byRoute.get(route)?.get(method)?.get(status)
    if (known !== undefined) return known
    const buckets = BOUNDS.map(bound => ({ bound, count: 0 }))
    const series = { labels: { method, route, status }, buckets, count: 0, sum: 0 }
    all.push(series)
    const byMethod = byRoute.get(route) ?? new Map<string, Map<number, Series>>()
    const byStatus = byMethod.get(method) ?? new Map<number, Series>()
    byRoute.set(route, byMethod.set(method, byStatus.set(status, series)))
    return series
  }

  const valuesOf = ({ labels, buckets, count, sum }: Series): readonly Value[] => {
    const bucket = (le: number | string, value: number): Value => {
      return { metricName: `${NAME}_bucket`, labels: { le, ...labels }, value }
    }
    return [
      ...buckets.map(({ bound, count }) => bucket(bound, count)),
      bucket('+Inf', count),
      { metricName: `${NAME}_sum`, labels, value: sum },
      { metricName: `${NAME}_count`, labels, value: count }
    ]
  }

  return {
    observe(method, route, status, seconds) {
      const series = seriesOf(method, route, status)
      for (const bucket of series.buckets) if (seconds <= bucket.bound) bucket.count += 1
      series.count += 1
      series.sum += seconds
    },

    toMetric: () => ({
      name: NAME,
      help: 'Seconds from the head of a request to the end of its answer.',
      type: 'histogram',
      aggregator: 'sum',
      values: all.flatMap(valuesOf)
    })
  }
}
