import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createCrypto, systemClock } from '../../adapters/crypto/crypto.js'
import { createMemoryStores } from '../../adapters/memory/stores.js'
import { createUseCases, defaultPolicy, type Origin } from '../../core/index.js'
import { ADA } from '../support/world.js'

/** Of each flood: longer than a login waits for its turn. With FLOOD_SECONDS=300 the two of them last for ten minutes. */
const SECONDS = Number(process.env.FLOOD_SECONDS ?? 6)
const CONNECTIONS = 80

t.setTimeout((2 * SECONDS + 60) * 1000)

// Without limits on logins, nothing but the turns of the queue keeps the flood down.
for (const loginAttempts of [defaultPolicy.loginAttempts, 0]) {
  const limits = loginAttempts === 0 ? 'without limits on logins' : 'with the usual limits on logins'
  t.test(`a flood from 256 networks of one subscriber fails no login from elsewhere, ${limits}`, async t => {
    const ports = { ...createMemoryStores(), ...createCrypto({ concurrency: 1 }), clock: systemClock }
    const useCases = createUseCases(ports, { ...defaultPolicy, loginAttempts })
    await useCases.registerUser(ADA)
    const end = performance.now() + SECONDS * 1000

    /** Logs in again and again with such a pause, and counts what comes of it. */
    const logIn = async (pause: number, next: () => typeof ADA & Origin): Promise<Record<string, number>> => {
      const outcomes: Record<string, number> = {}
      while (performance.now() < end) {
        const outcome = await useCases.manageAccount(next()).then(
          () => 'served',
          (error: unknown) => String(Object(error).code)
        )
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
        await sleep(pause)
      }
      return outcomes
    }

    let count = 0
    const guess = (): typeof ADA & Origin => {
      count += 1
      const address = `2001:db8:1:${(count % 256).toString(16)}::/64`
      return { username: `nobody ${count}`, password: 'a guess', address, network: '2001:db8:1::/48' }
    }
    // Each comes from an address of its own: from one that is known it would have the first turn.
    const fromIPv4 = () => ({ ...ADA, address: `198.51.${(count >> 8) % 256}.${count++ % 256}` })
    const fromIPv6 = () => {
      const address = `2001:db8:2:${(count++ % 65_536).toString(16)}::/64`
      return { ...ADA, address, network: '2001:db8:2::/48' }
    }
    const flood = Promise.all(Array.from({ length: CONNECTIONS }, () => logIn(2, guess)))
    const honest = await Promise.all([fromIPv4, fromIPv6, fromIPv4, fromIPv6].map(next => logIn(50, next)))
    await flood
    const served = honest.reduce((sum, { served = 0 }) => sum + served, 0)
    const all = honest.flatMap(outcomes => Object.values(outcomes)).reduce((sum, number) => sum + number, 0)
    t.ok(
      served > 0 && served >= 0.95 * all,
      `${served} of ${all} logins are served beside ${count} guesses: ${JSON.stringify(honest)}`
    )
  })
}
