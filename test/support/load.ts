import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, ask, keptConnection, type Question } from './process.js'

export interface Timed extends Answer {
  readonly url: string
  readonly question: Question
  /** By performance.now(). */
  readonly askedAt: number
  readonly milliseconds: number
}

export interface Load {
  /** What was answered since the last call. */
  take(): Timed[]
  /** Lets what is under way come to its end. */
  stop(): Promise<void>
}

/**
 * Asks again and again on `connections` that are kept, each answer at once followed by the next request. `next` says what to
 * ask on a connection after its last answer; it does so `pause` milliseconds later.
 */
export const load = (
  connections: number,
  next: (last: Timed | undefined, connection: number) => readonly [url: string, question: Question],
  pause = 0
): Load => {
  let stopping = false
  let answers: Timed[] = []
  const work = async (connection: number): Promise<void> => {
    const agent = keptConnection()
    let last: Timed | undefined
    while (!stopping) {
      const [url, question] = next(last, connection)
      const askedAt = performance.now()
      const answer = await ask(url, { ...question, agent })
      last = { ...answer, url, question, askedAt, milliseconds: performance.now() - askedAt }
      answers.push(last)
      if (pause > 0) await sleep(pause)
    }
    agent.destroy()
  }
  const workers = Promise.all(Array.from({ length: connections }, (_, connection) => work(connection)))
  return {
    take() {
      const taken = answers
      answers = []
      return taken
    },
    async stop() {
      stopping = true
      await workers
    }
  }
}

/** The quantile `q`, from 0 to 1, of how long the answers took, in milliseconds. */
export const quantile = (answers: readonly Timed[], q: number): number => {
  const sorted = answers.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0
}

/** How many answers there were of each status. */
export const statuses = (answers: readonly Timed[]): Record<number, number> => {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
