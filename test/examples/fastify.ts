// The whole service below a path of a Fastify server that has routes of its own.
import { type FastifyInstance, fastify } from 'fastify'
import { createCrypto, systemClock } from 'heroes/adapters/crypto'
import { createMemoryStores } from 'heroes/adapters/memory'
import { createLog, createSecurityLog, heroesPlugin } from 'heroes/app'
import { createUseCases } from 'heroes/core'

/** Lines of the log are written to `write`. */
export const createHost = (write: (line: string) => void): FastifyInstance => {
  const log = createLog('info', { write })
  const events = createSecurityLog(log.logger)
  const useCases = createUseCases({ ...createMemoryStores(), ...createCrypto(), clock: systemClock, events })
  const host = fastify()
  host.get('/', async () => ({ welcome: true }))
  host.register(heroesPlugin, { prefix: '/identity', useCases, log })
  return host
}
