import OAuth2Server from '@node-oauth/oauth2-server'
import express from 'express'
import { CLIENT, heroName, PREFIX, secret } from '../data.js'
import { exitOnSignal, readSettings } from './settings.js'

/** @node-oauth/oauth2-server under Express 5, put together as its documentation shows, over Maps. */
const { port, heroes: heroCount, tokens, chains } = readSettings()

const client: OAuth2Server.Client = { id: CLIENT.id, grants: ['password', 'refresh_token'] }
const later = new Date(Date.now() + 86_400_000)
const byAccess = new Map<string, OAuth2Server.Token>()
const byRefresh = new Map<string, OAuth2Server.RefreshToken>()

const store = (token: OAuth2Server.Token): OAuth2Server.Token => {
  byAccess.set(token.accessToken, token)
  const { refreshToken } = token
  if (refreshToken !== undefined) byRefresh.set(refreshToken, { ...token, refreshToken })
  return token
}

const add = (accessToken: string, refreshToken: string, user: number): void => {
  const user_ = { id: user }
  store({ accessToken, refreshToken, accessTokenExpiresAt: later, refreshTokenExpiresAt: later, client, user: user_ })
}
for (let number = 1; number <= tokens; number++) {
  add(secret(PREFIX.access, number), secret(PREFIX.refresh, number), number % 1000)
}
for (let number = 1; number <= chains; number++) {
  add(secret('benchfirst', number), secret(PREFIX.chain, number), number % 1000)
}

const model: OAuth2Server.RefreshTokenModel = {
  getClient: async (id, clientSecret) =>
    id === CLIENT.id && (clientSecret === CLIENT.secret || clientSecret === null) ? client : false,
  getAccessToken: async accessToken => byAccess.get(accessToken) ?? false,
  getRefreshToken: async refreshToken => byRefresh.get(refreshToken) ?? false,
  saveToken: async (token, client, user) => store({ ...token, client, user }),
  revokeToken: async token => byRefresh.delete(token.refreshToken)
}
const oauth = new OAuth2Server({ model })

const heroes = new Map<number, { id: number; name: string }>()
for (let id = 1; id <= heroCount; id++) heroes.set(id, { id, name: heroName(id) })

const app = express()

const statusOf = (error: unknown): number =>
  error instanceof Error && 'code' in error && typeof error.code === 'number' ? error.code : 500

app.get('/heroes/:id', async (request, response) => {
  try {
    await oauth.authenticate(new OAuth2Server.Request(request), new OAuth2Server.Response(response))
  } catch (error) {
    response.status(statusOf(error)).json({ error: 'refused' })
    return
  }
  const hero = heroes.get(Number(request.params.id))
  if (hero === undefined) response.status(404).json({ error: 'not found' })
  else response.json(hero)
})

app.post('/auth/token', express.urlencoded({ extended: false }), async (request, response) => {
  const answer = new OAuth2Server.Response(response)
  try {
    await oauth.token(new OAuth2Server.Request(request), answer)
  } catch (error) {
    response.status(statusOf(error)).json({ error: 'refused' })
    return
  }
  response.set(answer.headers ?? {}).json(answer.body)
})

app.listen(port, '127.0.0.1')
exitOnSignal()
