// Requests to a service again and again on many connections, with the time that each answer takes.

import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, ask, keptConnection, type Question } from './process.js'

export interface Timed extends Answer {
  readonly url: string
  readonly question: Question
  /** The time of the request, by `performance.now()`. */
  readonly askedAt: number
  readonly milliseconds: number
}

export interface Load {
  /** The answers that have come since the last call. */
  take(): Timed[]
  /** Sends no more requests, and resolves when those under way are answered. */
  stop(): Promise<void>
}

/**
 * Sends requests over so many kept connections. `next` tells the request that follows an answer on a connection, and the
 * request is sent `pause` milliseconds after that answer.
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
export const quantile = (answers: readonly Pick<Timed, 'milliseconds'>[], q: number): number => {
  const sorted = answers.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0
}

/** How many answers there were of each status. */
export const statuses = (answers: readonly Pick<Timed, 'status'>[]): Record<number, number> => {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
