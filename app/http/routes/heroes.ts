import { setImmediate } from 'node:timers/promises'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { DomainError, type Hero, type HeroQuery, type UseCases } from '../../../core/index.js'
import { type BearerCheck, checkedTogether, createBearerCheck } from '../bearer.js'
import { jsonRoutes } from '../bodies.js'
import { formPairs, queryString } from '../forms.js'
import type { Http } from '../http.js'

/** What a hero has beside its id. */
const fields = { name: Type.String() }
const HeroOutput = Type.Object({ id: Type.Integer(), ...fields })
/** `id` is discarded, whatever its value. */
const HeroInput = Type.Object({ id: Type.Optional(Type.Unknown()), ...fields }, { additionalProperties: false })
/** A list holds nothing of a hero but what the single one shows. */
const SHOWN = Object.keys(HeroOutput.properties)

/** The router's own: a schema would be a check that nothing fails. */
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

  http.get('/heroes', { onRequest: mayRead, config: LIST }, async (request, reply) => {
    const { limit, ...query } = heroQuery(request.url)
    // Text, which goes past the serializer: that takes three times as long as JSON.stringify.
    reply.type('application/json; charset=utf-8')
    if (limit === undefined) return jsonList(useCases.allHeroes(query))
    const { heroes, nextAfter } = await useCases.heroPage({ ...query, limit })
    if (nextAfter !== undefined) reply.header('link', nextLink(options.publicUrl(), { ...query, limit }, nextAfter))
    return jsonList([heroes])
  })

  // Awaited for the reason that checkedTogether gives.
  const findHero = async (id: string): Promise<Hero> => await useCases.findHero(heroId(id))
  http.get<HeroPath>('/heroes/:id', { schema: { response: { 200: HeroOutput } } }, request =>
    checkedTogether(mayRead(request), findHero(request.params.id))
  )

  http.register(
    jsonRoutes(http => {
      http.post(
        '/heroes',
        { onRequest: mayWrite, schema: { body: HeroInput, response: { 200: HeroOutput } } },
        ({ body: { id: _discarded, ...hero } }) => useCases.createHero(hero)
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

/** An integer of any size; one that no number holds exactly stands for the nearest that one does, which no hero has. */
const integer = (text: string): number | undefined =>
  /^-?[0-9]+$/.test(text)
    ? Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(text)))
    : undefined

const heroId = (text: string): number => {
  const id = integer(text)
  if (id === undefined) throw new DomainError('invalid_input', 'id must be an integer')
  return id
}

const MAX_LIMIT = 1000
/** What is said when the list cannot be made in time. */
const LIST = { whenLate: `ask for a part of the list, with a limit of up to ${MAX_LIMIT}` }

/** Unknown keys are ignored. */
const heroQuery = (url: string): HeroQuery => {
  const known = formPairs(queryString(url)).filter(([key]) => key === 'name' || key === 'limit' || key === 'after')
  const values = new Map(known)
  if (values.size < known.length) throw new DomainError('invalid_input', 'a query parameter is repeated')
  return { nameContains: values.get('name'), after: optionalInteger(values, 'after'), limit: pageLimit(values) }
}

const optionalInteger = (values: ReadonlyMap<string, string>, key: string): number | undefined => {
  const text = values.get(key)
  if (text === undefined) return undefined
  const value = integer(text)
  if (value === undefined) throw new DomainError('invalid_input', `${key} must be an integer`)
  return value
}

const pageLimit = (values: ReadonlyMap<string, string>): number | undefined => {
  const limit = optionalInteger(values, 'limit')
  if (limit !== undefined && (limit < 1 || limit > MAX_LIMIT)) {
    throw new DomainError('invalid_input', `limit must be from 1 to ${MAX_LIMIT}`)
  }
  return limit
}

/** RFC 8288. */
const nextLink = (publicUrl: string, { nameContains, limit }: HeroQuery, nextAfter: number): string => {
  const query = new URLSearchParams({
    ...(nameContains !== undefined && { name: nameContains }),
    limit: String(limit),
    after: String(nextAfter)
  })
  return `<${publicUrl}/heroes?${query}>; rel="next"`
}

/** One JSON list of all pieces, made piece by piece with a turn of the event loop between two. */
const jsonList = async (pieces: AsyncIterable<readonly Hero[]> | Iterable<readonly Hero[]>): Promise<string> => {
  const texts: string[] = []
  for await (const piece of pieces) {
    if (texts.length > 0) await setImmediate()
    if (piece.length > 0) texts.push(JSON.stringify(piece, SHOWN).slice(1, -1))
  }
  return `[${texts.join()}]`
}
