import { createCrypto, systemClock } from '../../../adapters/crypto/crypto.js'
import { createMemoryStores } from '../../../adapters/memory/stores.js'
import { createUseCases, defaultPolicy } from '../../../core/index.js'
import { CHEAPEST, CLIENT, PASSWORD } from '../data.js'

const seconds = Number(process.argv[2])

/** Registers a user, logs in, checks the token and creates a hero, again and again and `lanes` times at once. Returns how often a second. */
const measure = async (lanes: number): Promise<number> => {
  const crypto = createCrypto({
    parameters: CHEAPEST,
    concurrency: 3,
    queue: 1000
  })
  const useCases = createUseCases({ ...createMemoryStores(), ...crypto, clock: systemClock }, defaultPolicy)
  const { client } = await useCases.addClient({
    ...CLIENT,
    allowedScopes: [],
    name: undefined,
    requirePkce: false
  })
  let rounds = 0
  const absent = { refreshToken: undefined, code: undefined, redirectUri: undefined, codeVerifier: undefined }
  const lane = async (until: number): Promise<void> => {
    while (performance.now() < until) {
      const username = `user ${rounds++}`
      await useCases.registerUser({ username, password: PASSWORD })
      const { accessToken } = await useCases.issueToken(client, {
        ...absent,
        grantType: 'password',
        username,
        password: PASSWORD,
        scope: undefined,
        address: '127.0.0.1'
      })
      await useCases.verifyBearer(accessToken, undefined)
      await useCases.createHero({ name: `hero of ${username}` })
    }
  }
  const run = async (forSeconds: number): Promise<number> => {
    const before = rounds
    const started = performance.now()
    await Promise.all(Array.from({ length: lanes }, () => lane(started + forSeconds * 1000)))
    return ((rounds - before) * 1000) / (performance.now() - started)
  }
  await run(1)
  return run(seconds)
}

console.log(JSON.stringify({ alone: await measure(1), together: await measure(16) }))
