import type { FastifyReply } from 'fastify'

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
  const endsAt = new Map<FastifyReply, number>()
  let ticking = false

  const tick = (): void => {
    const now = performance.now()
    for (const [reply, end] of endsAt) {
      if (end > now) continue
      endsAt.delete(reply)
      expire(reply)
    }
    ticking = false
    if (endsAt.size > 0) wake()
  }

  const wake = (): void => {
    ticking = true
    setTimeout(tick, milliseconds * TICK).unref()
  }

  const add = (reply: FastifyReply, left: number): void => {
    endsAt.set(reply, performance.now() + left)
    if (!ticking) wake()
  }

  return {
    begin: reply => add(reply, milliseconds),
    end: reply => {
      endsAt.delete(reply)
    },
    pause(reply) {
      const left = Number(endsAt.get(reply)) - performance.now()
      endsAt.delete(reply)
      return () => {
        if (!reply.sent) add(reply, left)
      }
    }
  }
}
