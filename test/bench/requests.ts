import { basic, bearer, CLIENT, heroName, PASSWORD, secret, USERS, username } from './data.js'

/** What some connections send, again and again. It travels to the process of the load as JSON. */
export type Plan = { readonly connections: number } & (
  | { readonly kind: 'reads'; readonly heroes: number; readonly tokens: number }
  /** Refresh tokens from number `first` on: one for each connection, which goes on with those of its answers. */
  | { readonly kind: 'refreshes'; readonly first: number }
  /** No two runs may have the same `name`. */
  | { readonly kind: 'creates'; readonly name: string; readonly tokens: number }
  /** Pages of `limit` from anywhere, or all heroes where there is no limit. */
  | { readonly kind: 'lists'; readonly heroes: number; readonly tokens: number; readonly limit?: number }
  /** Heroes by a part of the name that few others have. */
  | { readonly kind: 'searches'; readonly heroes: number; readonly tokens: number }
  /** 429 and 503 are answers to a login as well. */
  | { readonly kind: 'logins' }
)

export interface Request {
  readonly text: string
  /** Whether the body is the right answer. */
  isRight(body: string): boolean
}

/** The requests of one connection, one by one. `connection` counts those of the plan from 0. */
export const requestsOf = (plan: Plan, connection: number): (() => Request) => {
  switch (plan.kind) {
    case 'reads':
      return () => {
        const id = random(plan.heroes)
        const expected = JSON.stringify({ id, name: heroName(id) })
        return get(`/heroes/${id}`, plan.tokens, body => body === expected)
      }
    case 'lists':
      return () => {
        const { heroes, limit } = plan
        const after = limit === undefined ? 0 : random(heroes - limit)
        const [first, last] = [after + 1, after + (limit ?? heroes)]
        const path = limit === undefined ? '/heroes' : `/heroes?limit=${limit}&after=${after}`
        const [begin, end] = [first, last].map(id => JSON.stringify({ id, name: heroName(id) }))
        return get(path, plan.tokens, body => body.startsWith(`[${begin},`) && body.endsWith(`,${end}]`))
      }
    case 'searches':
      return () => {
        // Of a power of ten, names of the upper half are part of no other name.
        const id = plan.heroes / 2 + random(plan.heroes / 2)
        const expected = JSON.stringify([{ id, name: heroName(id) }])
        return get(`/heroes?name=ero+${id}`, plan.tokens, body => body === expected)
      }
    case 'creates': {
      let number = 0
      return () => {
        const name = `${plan.name} ${connection} ${number++}`
        const authorization = bearer(secret('access', random(plan.tokens)))
        return post('/heroes', authorization, 'application/json', JSON.stringify({ name }), body => {
          const hero = JSON.parse(body)
          return hero.name === name && hero.id > 0
        })
      }
    }
    case 'refreshes': {
      let token = secret('refresh', plan.first + connection)
      return () =>
        askForToken(`grant_type=refresh_token&refresh_token=${token}`, body => {
          const answer = JSON.parse(body)
          const isNew = answer.refresh_token?.length === 32 && answer.refresh_token !== token
          token = answer.refresh_token
          return isNew && answer.access_token?.length === 32
        })
    }
    case 'logins':
      return () => {
        const form = { grant_type: 'password', username: username(random(USERS)), password: PASSWORD }
        return askForToken(String(new URLSearchParams(form)), body => JSON.parse(body).access_token?.length === 32)
      }
  }
}

const random = (most: number): number => 1 + Math.floor(Math.random() * most)

const get = (path: string, tokens: number, isRight: Request['isRight']): Request => ({
  text: `GET ${path} HTTP/1.1\r\nHost: bench\r\nAuthorization: ${bearer(secret('access', random(tokens)))}\r\n\r\n`,
  isRight
})

const BASIC = basic(CLIENT.secret)

const askForToken = (form: string, isRight: Request['isRight']): Request =>
  post('/auth/token', BASIC, 'application/x-www-form-urlencoded', form, isRight)

/** The body is ASCII. */
const post = (
  path: string,
  authorization: string,
  type: string,
  body: string,
  isRight: Request['isRight']
): Request => ({
  text:
    `POST ${path} HTTP/1.1\r\nHost: bench\r\nAuthorization: ${authorization}\r\n` +
    `Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  isRight
})
