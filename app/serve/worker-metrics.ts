import { EventEmitter, once } from 'node:events'
import { AggregatorRegistry } from 'prom-client'
import type { Exposition } from '../http/server.js'
import type { Sample } from './metrics.js'

const PATIENCE_MILLISECONDS = 1000

interface Member {
  readonly ask: () => void
  samples: readonly Sample[]
  /** Emits `heard` when the worker has sent its metrics, and when it has ended. */
  readonly heard: EventEmitter
}

/** The types whose values never fall. */
const cumulative = (samples: readonly Sample[]): readonly Sample[] =>
  samples.filter(({ type }) => type === 'counter' || type === 'histogram')

/**
 * Adds the metrics of several workers up. What a worker has counted stays counted after its end, as far as it was sent.
 * Of a worker that does not answer in time, what it has counted is as it was sent last, and the rest is left out.
 * By hand around prom-client's `aggregate`: its `clusterMetrics` fails when one worker hangs, and forgets those that ended.
 */
export const createWorkerMetrics = () => {
  const members = new Set<Member>()
  /** What workers that have ended had counted. */
  let past: Promise<readonly Sample[]> = Promise.resolve([])

  /** Whether the worker answers, or ends, in time. */
  const hears = (member: Member): Promise<boolean> => {
    const heard = once(member.heard, 'heard', { signal: AbortSignal.timeout(PATIENCE_MILLISECONDS) })
    member.ask()
    return heard.then(
      () => true,
      () => false
    )
  }

  return {
    /** `ask` makes the worker send its metrics, soon and once. */
    join(ask: () => void) {
      const member: Member = { ask, samples: [], heard: new EventEmitter() }
      members.add(member)
      return {
        /** Takes the metrics that the worker has sent. */
        receive(samples: readonly Sample[]): void {
          member.samples = samples
          member.heard.emit('heard')
        },
        /** The worker has ended. */
        left(): void {
          members.delete(member)
          const counted = cumulative(member.samples)
          member.samples = []
          past = past.then(before => AggregatorRegistry.aggregate([before, counted]).getMetricsAsJSON())
          member.heard.emit('heard')
        }
      }
    },

    /** Asks every worker, and waits for each a second at most. */
    async read(): Promise<Exposition> {
      const asked = [...members]
      const answered = await Promise.all(asked.map(hears))
      const samples = asked.map((member, index) => (answered[index] ? member.samples : cumulative(member.samples)))
      const registry = AggregatorRegistry.aggregate([await past, ...samples])
      return { contentType: registry.contentType, text: await registry.metrics() }
    }
  }
}

/** The metrics of all workers together. */
export type WorkerMetrics = ReturnType<typeof createWorkerMetrics>
