import { setImmediate } from 'node:timers/promises'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError, type Hero, type HeroQuery, type UseCases } from '../../../core/index.js'
import { type BearerCheck, checkedTogether, createBearerCheck } from '../bearer.js'
import { formPairs, queryString } from '../bodies/forms.js'
import { jsonRoutes } from '../bodies/json.js'
import { DOCUMENTED } from '../documented.js'
import type { Http } from '../http.js'
import { createSemaphore } from '../semaphore.js'

/** The properties of a hero beside its id. */
const fields = {
  name: Type.String({
    description: 'The name, which no other hero has, as it was sent.',
    examples: ['Starling'],
    [DOCUMENTED]: { minLength: 1, maxLength: 255 }
  })
}
export const HeroOutput = Type.Object(
  { id: Type.Integer({ description: 'Given out once and never again.', examples: [1] }), ...fields },
  { title: 'Hero' }
)
/** A client may send an `id` of any kind; it is discarded. */
const HeroInput = Type.Object(
  { id: Type.Optional(Type.Unknown({ description: 'Ignored, whatever it is.' })), ...fields },
  { title: 'NewHero', additionalProperties: false }
)
/** The keys that a client may send. */
export const HERO_KEYS = Object.keys(HeroInput.properties)
/** Heroes in a list show the same keys as a single hero. */
const SHOWN_KEYS = Object.keys(HeroOutput.properties)

/** The parameters in the path. They have no schema, because every text in the path would match it. */
interface HeroPath {
  readonly Params: { readonly id: string }
}

export interface HeroRouteOptions {
  readonly protect: boolean
  readonly readScope: string | undefined
  readonly writeScope: string | undefined
  readonly publicUrl: () => string
}

type HeroUseCases = Pick<
  UseCases,
  'heroPage' | 'allHeroes' | 'findHero' | 'createHero' | 'replaceHero' | 'removeHero' | 'verifyBearer'
>

export const heroRoutes = (http: Http, useCases: HeroUseCases, options: HeroRouteOptions): void => {
  const check: BearerCheck = options.protect ? createBearerCheck(useCases) : async () => {}
  const mayRead = (request: FastifyRequest): Promise<unknown> => check(request, options.readScope)
  const mayWrite = (request: FastifyRequest): Promise<unknown> => check(request, options.writeScope)

  const place = createSemaphore(
    LONG_LISTS,
    WAITING_LISTS,
    () => new DomainError('overloaded', `too many long lists are being sent: ${ADVICE}`, { retryAfterSeconds: 1 })
  )

  http.get('/heroes', { onRequest: mayRead, config: { whenLate: ADVICE } }, async (request, reply) => {
    const { limit, ...query } = heroQuery(request.url)
    const { heroes, nextAfter } = await useCases.heroPage({ ...query, limit: limit ?? MAX_LIMIT })
    // What is not an object bypasses Fastify's serializer, which takes three times as long as JSON.stringify.
    reply.type('application/json; charset=utf-8')
    if (nextAfter === undefined) return `[${jsonItems(heroes)}]`
    if (limit === undefined) {
      await place(reply)
      return longList(reply, heroes, useCases.allHeroes({ ...query, after: nextAfter }))
    }
    reply.header('link', nextLink(options.publicUrl(), { ...query, limit }, nextAfter))
    return `[${jsonItems(heroes)}]`
  })

  // A malformed id is a rejection, so that the check refuses first. An `async` function would take a turn more.
  const findHero = (text: string): Promise<Hero> => {
    const id = integer(text)
    return id === undefined ? Promise.reject(noInteger('id')) : useCases.findHero(id)
  }
  http.get<HeroPath>('/heroes/:id', { schema: { response: { 200: HeroOutput } } }, request =>
    checkedTogether(mayRead(request), findHero(request.params.id))
  )

  http.register(
    jsonRoutes(http => {
      http.post(
        '/heroes',
        { onRequest: mayWrite, schema: { body: HeroInput, response: { 200: HeroOutput } } },
        request => {
          const { id: _discarded, ...hero } = request.body
          return useCases.createHero(hero)
        }
      )

      http.put<HeroPath & { Body: Static<typeof HeroInput> }>(
        '/heroes/:id',
        { onRequest: mayWrite, schema: { body: HeroInput, response: { 200: HeroOutput } } },
        async ({ params, body: { id: _discarded, ...hero } }) => useCases.replaceHero(heroId(params.id), hero)
      )

      http.delete<HeroPath>('/heroes/:id', { onRequest: mayWrite }, async (request, reply) => {
        await useCases.removeHero(heroId(request.params.id))
        return reply.code(204).send()
      })
    })
  )
}

/** Reads an integer of any length. Beyond the safe integers it is the nearest safe integer, which is no hero's id. */
const integer = (text: string): number | undefined =>
  /^-?[0-9]+$/.test(text)
    ? Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(text)))
    : undefined

const heroId = (text: string): number => {
  const id = integer(text)
  if (id === undefined) throw noInteger('id')
  return id
}

const noInteger = (name: string): DomainError => new DomainError('invalid_input', `${name} must be an integer`)

const MAX_LIMIT = 1000
/** The advice to those whose list is too long. */
const ADVICE = `ask for a part of the list, with a limit of up to ${MAX_LIMIT}`
/** How many lists of more than {@link MAX_LIMIT} heroes are made or sent at a time. 100,000 long names take 100 MB. */
const LONG_LISTS = 2
const WAITING_LISTS = 8

const QUERY_KEYS: ReadonlySet<string> = new Set(['name', 'limit', 'after'])

/** Ignores unknown keys. Throws `invalid_input` and `invalid_request`. */
const heroQuery = (url: string): HeroQuery => {
  const known = formPairs(queryString(url), QUERY_KEYS)
  const values = new Map(known)
  if (values.size < known.length)
    throw new DomainError('invalid_input', 'a query parameter is repeated: send each one once')
  return { nameContains: values.get('name'), after: optionalInteger(values, 'after'), limit: pageLimit(values) }
}

const optionalInteger = (values: ReadonlyMap<string, string>, key: string): number | undefined => {
  const text = values.get(key)
  if (text === undefined) return undefined
  const value = integer(text)
  if (value === undefined) throw noInteger(key)
  return value
}

const pageLimit = (values: ReadonlyMap<string, string>): number | undefined => {
  const limit = optionalInteger(values, 'limit')
  if (limit !== undefined && (limit < 1 || limit > MAX_LIMIT)) {
    throw new DomainError('invalid_input', `limit must be from 1 to ${MAX_LIMIT}`)
  }
  return limit
}

/** The `Link` header to the next page (RFC 8288). */
const nextLink = (publicUrl: string, { nameContains, limit }: HeroQuery, nextAfter: number): string => {
  const query = new URLSearchParams({
    ...(nameContains !== undefined && { name: nameContains }),
    limit: String(limit),
    after: String(nextAfter)
  })
  return `<${publicUrl}/heroes?${query}>; rel="next"`
}

/** The heroes as JSON, without the brackets of the list. */
const jsonItems = (heroes: readonly Hero[]): string => JSON.stringify(heroes, SHOWN_KEYS).slice(1, -1)

/**
 * One JSON list of the first heroes and those of all pieces. Other requests get a turn of the event loop between two
 * pieces. The list is kept as bytes, which are not on the heap that V8 bounds.
 */
const longList = async (
  reply: FastifyReply,
  first: readonly Hero[],
  pieces: AsyncIterable<readonly Hero[]>
): Promise<Buffer> => {
  const bytes = [Buffer.from(`[${jsonItems(first)}`)]
  for await (const piece of pieces) {
    await setImmediate()
    // A list that nobody waits for any more would go on to take memory without having a place.
    if (reply.raw.closed) break
    if (piece.length > 0) bytes.push(Buffer.from(`,${jsonItems(piece)}`))
  }
  bytes.push(Buffer.from(']'))
  return Buffer.concat(bytes)
}
