import { AggregatorRegistry } from 'prom-client'
import type { Figures } from '../http/server.js'
import type { Sample } from './metrics.js'

/** The figures of one process. */
export interface Member {
  /** Takes the figures that the process has told. */
  told(samples: readonly Sample[]): void
  /** The process has ended. */
  left(): void
}

/** The figures of all workers together. */
export interface CrewFigures {
  /** `ask` makes the process tell its figures, soon and once. */
  join(ask: () => void): Member
  /** Asks every process, and waits for each a second at most. */
  read(): Promise<Figures>
}

const PATIENCE_MILLISECONDS = 1000

interface Known {
  readonly ask: () => void
  samples: readonly Sample[]
  /** Each is called once, when the process has told its figures or has ended. */
  readonly heard: Set<() => void>
}

/** Types of which no value ever falls. */
const CUMULATIVE = new Set(['counter', 'histogram'])

const cumulative = (samples: readonly Sample[]): readonly Sample[] =>
  samples.filter(({ type }) => CUMULATIVE.has(String(type)))

/**
 * Adds the figures of several processes up. What a process has counted stays counted after its end, as far as it was
 * told. Of a process that does not answer in time, what it has counted is as it was told last, and the rest is left out.
 */
export const createCrewFigures = (): CrewFigures => {
  const members = new Set<Known>()
  /** What processes that have ended had counted. */
  let past: Promise<readonly Sample[]> = Promise.resolve([])

  const hear = ({ heard }: Known): void => {
    for (const call of heard) call()
  }

  /** Whether the process answers, or ends, in time. */
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
        told(samples) {
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
