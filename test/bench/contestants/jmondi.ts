import { randomBytes } from 'node:crypto'
import formbody from '@fastify/formbody'
import {
  AuthorizationServer,
  DateInterval,
  JwtService,
  type OAuthClient,
  type OAuthToken,
  type OAuthTokenRepository
} from '@jmondi/oauth2-server'
import { handleFastifyError, handleFastifyReply, requestFromFastify } from '@jmondi/oauth2-server/fastify'
import { fastify } from 'fastify'
import { BASIC, CHAINS_FILE, CLIENT, heroName, PASSWORD, TOKENS_FILE, username } from '../data.js'
import { exitOnSignal, readSettings, writeSecrets } from './settings.js'

/** @jmondi/oauth2-server under Fastify, put together as its documentation shows, over Maps. Its access tokens are JWTs. */
const { port, folder, heroes: heroCount, tokens: tokenCount, chains } = readSettings()

/** A token takes two signatures to make, and the number of tokens does not change the rates. */
const MOST_TOKENS = 1000

const client: OAuthClient = {
  ...CLIENT,
  name: CLIENT.id,
  redirectUris: [],
  allowedGrants: ['password', 'refresh_token'],
  scopes: []
}
const byAccess = new Map<string, OAuthToken>()
const byRefresh = new Map<string, OAuthToken>()

const known = (token: OAuthToken | undefined): OAuthToken => {
  if (token === undefined) throw new Error('no such token')
  return token
}

const tokens: OAuthTokenRepository = {
  issueToken: async (client, scopes, user = null) => ({
    accessToken: randomBytes(32).toString('hex'),
    accessTokenExpiresAt: new DateInterval('1d').getEndDate(),
    client,
    user,
    scopes
  }),
  issueRefreshToken: async token => {
    token.refreshToken = randomBytes(32).toString('hex')
    token.refreshTokenExpiresAt = new DateInterval('30d').getEndDate()
    byRefresh.set(token.refreshToken, token)
    return token
  },
  persist: async token => {
    byAccess.set(token.accessToken, token)
  },
  revoke: async token => {
    token.accessTokenExpiresAt = new Date(0)
    token.refreshTokenExpiresAt = new Date(0)
  },
  isRefreshTokenRevoked: async token => Date.now() > (token.refreshTokenExpiresAt?.getTime() ?? 0),
  getByRefreshToken: async id => known(byRefresh.get(id))
}

const jwt = new JwtService('a secret of the bench that signs its tokens')
const server = new AuthorizationServer(
  {
    getByIdentifier: async () => client,
    isClientValid: async (_grant, client, secret) => client.secret === secret
  },
  tokens,
  { getAllByIdentifiers: async () => [], finalize: async scopes => scopes },
  jwt
)
server.enableGrantTypes(
  {
    grant: 'password',
    userRepository: {
      getUserByCredentials: async (id, password) => (password === PASSWORD ? { id } : undefined)
    }
  },
  'refresh_token'
)

const heroes = new Map<number, { id: number; name: string }>()
for (let id = 1; id <= heroCount; id++) heroes.set(id, { id, name: heroName(id) })

const app = fastify()
app.register(formbody)

app.post('/auth/token', async (request, reply) => {
  try {
    handleFastifyReply(reply, await server.respondToAccessTokenRequest(requestFromFastify(request)))
  } catch (error) {
    handleFastifyError(error, reply)
  }
  return reply
})

app.get<{ Params: { id: string } }>('/heroes/:id', async (request, reply) => {
  try {
    await jwt.verify(request.headers.authorization?.slice('Bearer '.length) ?? '')
  } catch {
    return reply.code(401).send({ error: 'refused' })
  }
  const hero = heroes.get(Number(request.params.id))
  return hero ?? reply.code(404).send({ error: 'not found' })
})

const login = async (number: number): Promise<{ access_token: string; refresh_token: string }> => {
  const response = await app.inject({
    method: 'POST',
    url: '/auth/token',
    headers: { authorization: BASIC, 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({ grant_type: 'password', username: username(number), password: PASSWORD }).toString()
  })
  return response.json()
}

const made = []
for (let number = 1; number <= Math.max(Math.min(tokenCount, MOST_TOKENS), chains); number++)
  made.push(await login(number))
writeSecrets(
  folder,
  TOKENS_FILE,
  made.map(({ access_token }) => access_token)
)
writeSecrets(
  folder,
  CHAINS_FILE,
  made.map(({ refresh_token }) => refresh_token)
)

await app.listen({ host: '127.0.0.1', port })
exitOnSignal()
