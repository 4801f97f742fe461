import { AggregatorRegistry } from 'prom-client'
import type { Figures } from '../http/server.js'
import type { Sample } from './metrics.js'

/** The metrics of one worker. */
export interface Member {
  /** Takes the metrics that the worker has sent. */
  receive(samples: readonly Sample[]): void
  /** The worker has ended. */
  left(): void
}

/** The metrics of all workers together. */
export interface WorkerMetrics {
  /** `ask` makes the worker send its metrics, soon and once. */
  join(ask: () => void): Member
  /** Asks every worker, and waits for each a second at most. */
  read(): Promise<Figures>
}

const PATIENCE_MILLISECONDS = 1000

interface Known {
  readonly ask: () => void
  samples: readonly Sample[]
  /** Each is called once, when the worker has sent its metrics or has ended. */
  readonly heard: Set<() => void>
}

/** Types of which no value ever falls. */
const CUMULATIVE = new Set(['counter', 'histogram'])

const cumulative = (samples: readonly Sample[]): readonly Sample[] =>
  samples.filter(({ type }) => CUMULATIVE.has(String(type)))

/**
 * Adds the metrics of several workers up. What a worker has counted stays counted after its end, as far as it was sent.
 * Of a worker that does not answer in time, what it has counted is as it was sent last, and the rest is left out.
 * By hand around prom-client's `aggregate`: its `clusterMetrics` fails when one worker hangs, and forgets those that ended.
 */
export const createWorkerMetrics = (): WorkerMetrics => {
  const members = new Set<Known>()
  /** What workers that have ended had counted. */
  let past: Promise<readonly Sample[]> = Promise.resolve([])

  const hear = ({ heard }: Known): void => {
    for (const call of heard) call()
  }

  /** Whether the worker answers, or ends, in time. */
  const ask = (member: Known): Promise<boolean> =>
    new Promise(resolve => {
      const settle = (inTime: boolean): void => {
        clearTimeout(late)
        member.heard.delete(heard)
        resolve(inTime)
      }
      const heard = (): void => settle(true)
      const late = setTimeout(settle, PATIENCE_MILLISECONDS, false)
      member.heard.add(heard)
      member.ask()
    })

  return {
    join(askIt) {
      const member: Known = { ask: askIt, samples: [], heard: new Set() }
      members.add(member)
      return {
        receive(samples) {
          member.samples = samples
          hear(member)
        },
        left() {
          members.delete(member)
          const counted = cumulative(member.samples)
          past = past.then(async before => AggregatorRegistry.aggregate([[...before], [...counted]]).getMetricsAsJSON())
          hear(member)
        }
      }
    },

    async read() {
      const asked = [...members]
      const answered = await Promise.all(asked.map(ask))
      const samples = [...members].map(member => {
        const late = answered[asked.indexOf(member)] === false
        return late ? cumulative(member.samples) : member.samples
      })
      const registry = AggregatorRegistry.aggregate([[...(await past)], ...samples.map(list => [...list])])
      return { contentType: registry.contentType, text: await registry.metrics() }
    }
  }
}
