import { heroName, PREFIX, secret } from '../data.js'
import { bearerOf, digestOf, heroIdOf, refuse, send, serve } from './hand.js'
import { readSettings } from './settings.js'

/** node:http over two Maps, which is as fast as a service in Node can be. It stores the digests of tokens and not the tokens. */
const { tokens: tokenCount, heroes: heroCount } = readSettings()

interface Token {
  readonly expiresAt: number
  readonly revoked: boolean
}

const tokens = new Map<string, Token>()
const add = (token: string, expiresAt: number, revoked = false): void => {
  tokens.set(digestOf(token).toString('base64url'), { expiresAt, revoked })
}
const later = Date.now() + 86_400_000
for (let number = 1; number <= tokenCount; number++) add(secret(PREFIX.access, number), later)
add(secret(PREFIX.expired, 1), Date.now() - 60_000)
add(secret(PREFIX.revoked, 1), later, true)
add(secret(PREFIX.ended, 1), later, true)

const heroes = new Map<number, { id: number; name: string }>()
for (let id = 1; id <= heroCount; id++) heroes.set(id, { id, name: heroName(id) })

serve((request, response) => {
  const id = heroIdOf(request)
  if (id === undefined) return refuse(response, 404)
  const bearer = bearerOf(request)
  const token = bearer === undefined ? undefined : tokens.get(digestOf(bearer).toString('base64url'))
  if (token === undefined || token.revoked || token.expiresAt <= Date.now()) return refuse(response, 401)
  const hero = heroes.get(id)
  if (hero === undefined) return refuse(response, 404)
  send(response, 200, JSON.stringify(hero))
})
