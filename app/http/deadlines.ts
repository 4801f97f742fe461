import type { FastifyReply } from 'fastify'
import { type Connection, connectionOf } from './connections.js'

/** How long the service may take for each of its answers. */
export interface Deadlines {
  /** The time of a request begins. */
  begin(reply: FastifyReply): void
  /** The answer is being made: nothing is late any more. */
  end(reply: FastifyReply): void
  /** The time stands still while the body arrives, as that is the client's. What comes back lets it go on. */
  pause(reply: FastifyReply): () => void
}

/** What a tick of the shared timer is of the whole time. */
const TICK = 1 / 50

/**
 * Calls `expire` for a reply that is not being made after so many milliseconds of the service's own, a fiftieth later at most.
 * All by one timer: one for each request, with the signal that Fastify's `handlerTimeout` makes, costs a seventh of the rate of reads.
 */
export const createDeadlines = (milliseconds: number, expire: (reply: FastifyReply) => void): Deadlines => {
  /** The connections that had a reply with a deadline at the last tick or since. */
  let watched: Connection[] = []

  const tick = (): void => {
    const now = performance.now()
    const late = watched.flatMap(({ due }) => due.filter(({ at }) => at <= now))
    for (const connection of watched) connection.watched = connection.due.length > 0
    watched = watched.filter(connection => connection.watched)
    if (watched.length > 0) wake()
    for (const { reply } of late) {
      end(reply)
      expire(reply)
    }
  }

  const wake = (): void => {
    setTimeout(tick, milliseconds * TICK).unref()
  }

  const add = (reply: FastifyReply, left: number): void => {
    const connection = connectionOf(reply.request.raw.socket)
    connection.due.push({ reply, at: performance.now() + left })
    if (connection.watched) return
    connection.watched = true
    if (watched.push(connection) === 1) wake()
  }

  const end = (reply: FastifyReply): void => {
    const { due } = connectionOf(reply.request.raw.socket)
    // Most connections have one request at a time.
    if (due[0]?.reply === reply) due.shift()
    else due.splice(0, due.length, ...due.filter(each => each.reply !== reply))
  }

  return {
    begin: reply => add(reply, milliseconds),
    end,
    pause(reply) {
      const { due } = connectionOf(reply.request.raw.socket)
      const left = Number(due.find(each => each.reply === reply)?.at) - performance.now()
      end(reply)
      return () => {
        if (!reply.sent) add(reply, left)
      }
    }
  }
}
