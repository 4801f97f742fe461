// The entry `heroes/testing`: for tests of programs that call the service, and of stores for other databases.

import { createCrypto } from '../adapters/crypto/crypto.js'
import { createMemoryStores } from '../adapters/memory/stores.js'
import { buildServer, type Http, type ServerOptions } from '../app/http/server.js'
import { createUseCases, type UseCases } from '../core/index.js'

export { type CreateStores, empty, type Stores, storeContract, type TestFunction } from './contract/stores.js'

/** How the test service differs from the service with its default settings. */
export interface TestServiceOptions extends Omit<ServerOptions, 'useCases' | 'publicUrl'> {
  /** Whether it listens on a free port of 127.0.0.1; false by default. */
  readonly listen?: boolean | undefined
  /** The scopes that the client may ask for, and that the token has. By default those of `readScope` and `writeScope`. */
  readonly scopes?: readonly string[] | undefined
}

/** The whole service in memory, with a client, a user and a token. Its hashes are the cheapest that argon2id makes. */
export interface TestService {
  /** Where it listens. Without `listen` it is what the service takes for its address. */
  readonly url: string
  /** The Fastify server: `http.inject` sends a request without a port. */
  readonly http: Http
  readonly useCases: UseCases
  /** A confidential client, with `http://127.0.0.1/callback` on whatever port as its redirect URI. */
  readonly client: { readonly id: string; readonly secret: string }
  readonly user: { readonly id: number; readonly username: string; readonly password: string }
  /** An access token of the user, and a refresh token. */
  readonly token: string
  readonly refreshToken: string
  /** What a request needs to be the user's: `authorization` with the token. */
  readonly headers: { readonly authorization: string }
  /** Lets so many seconds pass for the service: tokens expire, and limits on guessing end. */
  advance(seconds: number): void
  /** Ends the connections and the server. */
  close(): Promise<void>
}

const CHEAPEST = { memoryCost: 8, timeCost: 1, parallelism: 1 }

/** Starts a service for tests. Any number of them may run in a process; they share nothing. */
export const createTestService = async ({
  listen = false,
  policy = {},
  scopes,
  ...options
}: TestServiceOptions = {}): Promise<TestService> => {
  let ahead = 0
  const clock = { now: () => new Date(Date.now() + ahead) }
  const crypto = createCrypto({ parameters: CHEAPEST, queue: 10_000 })
  const useCases = createUseCases({ ...createMemoryStores(), ...crypto, clock }, policy)

  let url = 'http://localhost'
  const http = buildServer({ ...options, useCases, policy, publicUrl: () => url })
  if (listen) url = await http.listen({ host: '127.0.0.1', port: 0 })

  const client = { id: 'test-client', secret: 'a secret of 24 characters or more' }
  const user = { username: 'test-user', password: 'correct horse battery staple' }
  const allowedScopes = scopes ?? [options.readScope, options.writeScope].filter(scope => scope !== undefined)
  const redirectUris = ['http://127.0.0.1/callback']
  const { client: registered } = await useCases.addClient({ ...client, redirectUris, allowedScopes })
  const { id } = await useCases.registerUser(user)
  const { accessToken, refreshToken = '' } = await useCases.issueToken(registered, {
    ...user,
    grantType: 'password',
    scope: allowedScopes.join(' '),
    address: '127.0.0.1'
  })
  return {
    url,
    http,
    useCases,
    client,
    user: { id, ...user },
    token: accessToken,
    refreshToken,
    headers: { authorization: `Bearer ${accessToken}` },
    advance(seconds) {
      ahead += seconds * 1000
    },
    close: () => http.close()
  }
}
