import type { FastifyReply } from 'fastify'
import { type Connection, connectionOf } from './connections.js'

/** Limits how long the service may take for each answer. */
export interface Deadlines {
  /** Starts the time of a request, which began when it arrived. False when it is over already. */
  begin(reply: FastifyReply): boolean
  /** Removes the deadline of a request whose answer is being sent. */
  end(reply: FastifyReply): void
  /** Stops the time while the client sends the body. Returns a function that lets the time run on. */
  pause(reply: FastifyReply): () => void
}

/** The interval of the shared timer, as a part of the whole time. */
const TICK = 1 / 50

/**
 * Calls `expire` for a reply that is not being sent when its `milliseconds` are over, or at most a fiftieth of them
 * later. One timer serves all replies: a timer and a signal for each request, as Fastify's `handlerTimeout` makes them,
 * cost a seventh of the rate of reads.
 */
export const createDeadlines = (milliseconds: number, expire: (reply: FastifyReply) => void): Deadlines => {
  /** The connections that had a deadline at the last tick, or have got one since. */
  let watched: Connection[] = []

  const tick = (): void => {
    const now = performance.now()
    const late = watched.flatMap(({ deadlines }) => deadlines.filter(({ at }) => at <= now))
    for (const connection of watched) connection.watched = connection.deadlines.length > 0
    watched = watched.filter(connection => connection.watched)
    if (watched.length > 0) scheduleTick()
    for (const { reply } of late) {
      end(reply)
      expire(reply)
    }
  }

  const scheduleTick = (): void => {
    setTimeout(tick, milliseconds * TICK).unref()
  }

  const add = (reply: FastifyReply, at: number): void => {
    const connection = connectionOf(reply.request.raw.socket)
    connection.deadlines.push({ reply, at })
    if (connection.watched) return
    connection.watched = true
    if (watched.push(connection) === 1) scheduleTick()
  }

  const end = (reply: FastifyReply): void => {
    const { deadlines } = connectionOf(reply.request.raw.socket)
    // The first case is the fast one: most connections have one request at a time.
    if (deadlines[0]?.reply === reply) deadlines.shift()
    else deadlines.splice(0, deadlines.length, ...deadlines.filter(each => each.reply !== reply))
  }

  return {
    begin(reply) {
      const now = performance.now()
      // A request that no connection has brought arrives as it begins.
      const { arrivedAt = now } = connectionOf(reply.request.raw.socket)
      const at = arrivedAt + milliseconds
      if (at > now) add(reply, at)
      return at > now
    },
    end,
    pause(reply) {
      const { deadlines } = connectionOf(reply.request.raw.socket)
      const remaining = Number(deadlines.find(each => each.reply === reply)?.at) - performance.now()
      end(reply)
      return () => {
        if (!reply.sent) add(reply, performance.now() + remaining)
      }
    }
  }
}
