import type { Argon2Parameters } from '../../../adapters/crypto/argon2.js'
import { createCrypto, systemClock } from '../../../adapters/crypto/crypto.js'
import { buildServer } from '../../../app/http/server.js'
import { startChores } from '../../../app/serve/chores.js'
import { createLog } from '../../../app/serve/log.js'
import { readSettings } from '../../../app/settings.js'
import { createUseCases, type Stores, type UseCases } from '../../../core/index.js'
import { exitOnSignal } from './settings.js'

export type Crypto = ReturnType<typeof createCrypto>

export interface Assembly {
  readonly useCases: UseCases
  readonly crypto: Crypto
  /** Resolves once it takes connections. */
  listen(): Promise<void>
}

/** Puts this service together as `heroes serve` does it, on stores of one's own. */
export const assemble = (port: number, stores: Stores, parameters?: Argon2Parameters): Assembly => {
  const settings = readSettings({ ...process.env, PORT: String(port), DATABASE_URL: 'memory:' })
  const { hashConcurrency: concurrency, hashQueue: queue } = settings
  const crypto = createCrypto({ concurrency, queue, parameters })
  const useCases = createUseCases({ ...stores, ...crypto, clock: systemClock }, settings.policy)
  const log = createLog(settings.logLevel)
  const http = buildServer({
    ...settings,
    useCases,
    log,
    publicUrl: () => `http://localhost:${port}`,
    ready: async () => {}
  })
  return {
    useCases,
    crypto,
    async listen() {
      await http.listen({ host: '127.0.0.1', port })
      startChores(useCases, { now: async () => new Date() }, log.logger)
      exitOnSignal()
    }
  }
}
