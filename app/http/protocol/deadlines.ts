import type { FastifyReply } from 'fastify'
import { type Connection, connectionOf } from './connections.js'
import { DEADLINE_CHECK } from './limits.js'

/** Limits how long the service may take for each answer. */
interface Deadlines {
  /** Starts the time of a request, which began when it arrived. False when it is over already. */
  begin(reply: FastifyReply): boolean
  /** Removes the deadline of a request whose answer is being sent. */
  end(reply: FastifyReply): void
}

/**
 * Calls `expire` for a reply that is not being sent when its `milliseconds` are over, or at most a fiftieth of them
 * later. The time stands still while the body is read and has not arrived. One timer serves all replies: a timer and a
 * signal for each request, as Fastify's `handlerTimeout` makes them, cost a seventh of the rate of reads.
 */
export const createDeadlines = (milliseconds: number, expire: (reply: FastifyReply) => void): Deadlines => {
  // A map of replies would keep the latest of them through each garbage collection, as V8 chains the tables of a map that grows
  // and shrinks.
  /** The connections with deadlines, and those that have had one since the last check. */
  const watched = new Set<Connection>()
  let checking: NodeJS.Timeout | undefined
  let checkedAt = 0

  const check = (): void => {
    const now = performance.now()
    for (const connection of watched) {
      for (const deadline of [...connection.deadlines]) {
        const { reply } = deadline
        const { raw } = reply.request
        if (raw.socket.destroyed) {
          end(reply)
        } else if (raw.complete === false && connection.reading === reply) {
          deadline.at += now - checkedAt
        } else if (deadline.at <= now) {
          end(reply)
          expire(reply)
        }
      }
      if (connection.deadlines.length === 0) watched.delete(connection)
    }
    checking = undefined
    if (watched.size > 0) scheduleCheck()
  }

  const scheduleCheck = (): void => {
    checkedAt = performance.now()
    checking = setTimeout(check, milliseconds * DEADLINE_CHECK).unref()
  }

  const end = (reply: FastifyReply): void => {
    const { deadlines } = connectionOf(reply.request.raw.socket)
    const index = deadlines.findIndex(each => each.reply === reply)
    if (index >= 0) deadlines.splice(index, 1)
  }

  return {
    begin(reply) {
      const now = performance.now()
      const connection = connectionOf(reply.request.raw.socket)
      // A request that no connection has brought arrives as it begins.
      const at = (connection.arrivedAt ?? now) + milliseconds
      if (at <= now) return false
      connection.deadlines.push({ reply, at })
      watched.add(connection)
      if (checking === undefined) scheduleCheck()
      return true
    },
    end
  }
}
