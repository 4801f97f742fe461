import type { FastifyReply } from 'fastify'
import { connectionOf } from './connections.js'
import { DEADLINE_CHECK } from './limits.js'

/** Limits how long the service may take for each answer. */
export interface Deadlines {
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
  /** When the time of each reply is over, on the clock of `performance.now()`. */
  const deadlines = new Map<FastifyReply, number>()
  let checking: NodeJS.Timeout | undefined
  let checkedAt = 0

  const check = (): void => {
    const now = performance.now()
    for (const [reply, at] of deadlines) {
      const { raw } = reply.request
      if (raw.socket.destroyed) {
        deadlines.delete(reply)
      } else if (raw.complete === false && connectionOf(raw.socket).reading === reply) {
        deadlines.set(reply, at + now - checkedAt)
      } else if (at <= now) {
        deadlines.delete(reply)
        expire(reply)
      }
    }
    checking = undefined
    if (deadlines.size > 0) scheduleCheck()
  }

  const scheduleCheck = (): void => {
    checkedAt = performance.now()
    checking = setTimeout(check, milliseconds * DEADLINE_CHECK).unref()
  }

  return {
    begin(reply) {
      const now = performance.now()
      // A request that no connection has brought arrives as it begins.
      const { arrivedAt = now } = connectionOf(reply.request.raw.socket)
      const at = arrivedAt + milliseconds
      if (at <= now) return false
      deadlines.set(reply, at)
      if (checking === undefined) scheduleCheck()
      return true
    },
    end(reply) {
      deadlines.delete(reply)
    }
  }
}
