import { type Static, Type } from '@sinclair/typebox'
import { type Hero, type HeroUseCases, refusals, type UseCases } from '../../../core/index.js'
import { bearerRefusals, checkedTogether, createBearerCheck } from '../bearer.js'
import { jsonRoutes } from '../bodies/json.js'
import type { Http } from '../http.js'
import { schemaRefusals } from '../openapi/answers.js'
import { jsonRefusals, type Refusals, storeRefusals } from '../refusals.js'
import { type HeroAccess, HeroInput, HeroOutput, integer, noInteger } from './hero.js'
import { type HeroListOptions, heroListRoute } from './hero-list.js'

/** The parameters in the path. They have no schema, because every text in the path would match it. */
interface HeroPath {
  readonly Params: { readonly id: string }
}

interface HeroAccessOptions {
  /** Whether the routes ask for a bearer token. */
  readonly protect: boolean
  /** The scopes that reading and writing need, if any. */
  readonly readScope: string | undefined
  readonly writeScope: string | undefined
}

export const heroRoutes = (
  http: Http,
  useCases: HeroUseCases & Pick<UseCases, 'verifyBearer'>,
  options: HeroAccessOptions & HeroListOptions
): void => {
  const { reading, writing } = createHeroAccess(useCases, options)

  heroListRoute(http, useCases, reading, options)

  // Asynchronous, so that the check refuses before a malformed id does.
  const findHero = async (id: string): Promise<Hero> => useCases.findHero(integer(id, 'id'))
  http.get<HeroPath>(
    '/heroes/:id',
    {
      schema: { response: { 200: HeroOutput } },
      config: reading.config({
        operationId: 'getHero',
        summary: 'Fetch a hero',
        description: 'The hero with this id.',
        path,
        answers: { 200: { description: 'The hero.', examples: starling } },
        refusals: ofOneHero
      })
    },
    request => checkedTogether(request, reading.check(request), () => findHero(request.params.id))
  )

  const withBody = { schema: { body: HeroInput, response: { 200: HeroOutput } }, onRequest: writing.check }
  const routes = (http: Http): void => {
    http.post(
      '/heroes',
      {
        ...withBody,
        config: writing.config({
          operationId: 'createHero',
          summary: 'Create a hero',
          description: 'Stores a hero under a new id. An `id` in the body is ignored.',
          bodyExamples: { 'A name is all that a hero needs': { name: 'Starling' } },
          answers: { 200: { description: 'The hero with its id.', examples: starling } },
          refusals: { ...ofHeroBodies, ...storeRefusals }
        })
      },
      ({ body: { id: _discarded, ...hero } }) => useCases.createHero(hero)
    )

    http.put<HeroPath & { Body: Static<typeof HeroInput> }>(
      '/heroes/:id',
      {
        ...withBody,
        config: writing.config({
          operationId: 'replaceHero',
          summary: 'Rename a hero',
          description: 'Replaces what is stored of the hero, on the same terms as creating one. The id stays.',
          path,
          bodyExamples: { 'The new name': { name: 'Night Starling' } },
          answers: {
            200: {
              description: 'The hero as it is stored now.',
              examples: { 'The renamed hero': { id: 1, name: 'Night Starling' } }
            }
          },
          refusals: { ...ofHeroBodies, ...ofOneHero }
        })
      },
      async ({ params, body: { id: _discarded, ...hero } }) => useCases.replaceHero(integer(params.id, 'id'), hero)
    )

    http.delete<HeroPath>(
      '/heroes/:id',
      {
        onRequest: writing.check,
        config: writing.config({
          operationId: 'removeHero',
          summary: 'Remove a hero',
          description: 'Removes the hero. Its id is never given out again. A body is read and ignored.',
          path,
          answers: { 204: { description: 'The hero is gone.' } },
          refusals: { ...jsonRefusals, ...ofOneHero }
        })
      },
      async (request, reply) => {
        await useCases.removeHero(integer(request.params.id, 'id'))
        return reply.code(204).send()
      }
    )
  }
  http.register(jsonRoutes(routes))
}

const createHeroAccess = (
  useCases: Pick<UseCases, 'verifyBearer'>,
  { protect, readScope, writeScope }: HeroAccessOptions
): { readonly reading: HeroAccess; readonly writing: HeroAccess } => {
  const accessWith = (scope: string | undefined): HeroAccess => {
    const scopes = scope === undefined ? [] : [scope]
    const tokenRefusals = {
      ...bearerRefusals,
      ...(scope !== undefined && { insufficientScope: () => refusals.insufficientScope(scope) })
    }
    return {
      check: protect ? createBearerCheck(useCases, scope) : async () => {},
      config: operation => ({
        cors: true,
        cacheControl: 'private',
        operation: {
          ...operation,
          tag: 'Heroes',
          security: protect ? [{ oauth2: scopes }, { bearer: scopes }] : [],
          refusals: { ...(protect && tokenRefusals), ...operation.refusals }
        }
      })
    }
  }
  return { reading: accessWith(readScope), writing: accessWith(writeScope) }
}

const path = Type.Object({
  id: Type.Integer({
    description: 'The id of the hero. An integer of any size that no hero has is 404.',
    examples: [1]
  })
})
const starling = { 'A hero': { id: 1, name: 'Starling' } }

const ofOneHero: Refusals = {
  noInteger: () => noInteger('id'),
  noSuchHero: refusals.noSuchHero,
  ...storeRefusals
}
const ofHeroBodies: Refusals = {
  ...jsonRefusals,
  ...schemaRefusals(HeroInput),
  nameTaken: refusals.nameTaken
}
