import type { FastifyReply } from 'fastify'
import { whenOver } from './protocol/connections.js'

/**
 * Bounds how many replies of one kind are made or sent at a time, to `places`, and how many wait for that, to `waiting`.
 * Returns a function that resolves when it is a reply's turn, in the order of the calls. It throws what `refusal` makes
 * when too many wait. A reply has its place until it has been sent or its client has left. When that comes first, the
 * promise never settles.
 */
export const createSemaphore = (
  places: number,
  waiting: number,
  refusal: () => Error
): ((reply: FastifyReply) => Promise<void>) => {
  let free = places
  const queue = new Set<() => void>()

  const leave = (): void => {
    const [next] = queue
    if (next === undefined) free += 1
    else next()
  }

  return reply => {
    if (free === 0 && queue.size === waiting) throw refusal()
    return new Promise(resolve => {
      const enter = (): void => {
        queue.delete(enter)
        resolve()
      }
      queue.add(enter)
      whenOver(reply, () => {
        if (!queue.delete(enter)) leave()
      })
      if (free === 0 || !queue.has(enter)) return
      free -= 1
      enter()
    })
  }
}
