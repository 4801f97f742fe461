import type { FastifyReply } from 'fastify'
import { whenOver } from './protocol/connections.js'

/** Does the work when it is the reply's turn, and settles as it does. Rejects with what `refusal` makes when too many wait. */
type Semaphore = <T>(reply: FastifyReply, work: () => Promise<T>, refusal: () => Error) => Promise<T>

/**
 * Bounds for how many replies of one kind work is done at a time, to `permits`, and how many wait for that, to `waiting`. Their
 * turns come in the order of the calls. A reply has its permit until it has been sent or its client has left, and its work has
 * ended: a statement goes on when nobody waits for its answer. Where a reply is over before its turn, the promise never
 * settles.
 */
export const createSemaphore = (permits: number, waiting: number): Semaphore => {
  let free = permits
  const queue = new Set<() => void>()

  const leave = (): void => {
    const [next] = queue
    if (next === undefined) {
      free += 1
      return
    }
    queue.delete(next)
    next()
  }

  return async (reply, work, refusal) => {
    if (free === 0 && queue.size === waiting) throw refusal()
    const over = new Promise<void>(resolve => whenOver(reply, () => resolve()))
    if (free > 0) free -= 1
    else {
      await new Promise<void>(begin => {
        queue.add(begin)
        over.then(() => queue.delete(begin))
      })
    }
    const working = work()
    Promise.allSettled([over, working]).then(leave)
    return working
  }
}
