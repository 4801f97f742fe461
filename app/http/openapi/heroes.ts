import { Type } from '@sinclair/typebox'
import { HeroOutput } from '../routes/heroes.js'
import type { Operation, Operations, Security, Setup } from './operation.js'
import { OF_BODIES, OF_EVERY_REQUEST, OF_JSON, type RefusalName } from './refusals.js'

const path = Type.Object({
  id: Type.Integer({
    description: 'The id of the hero. An integer of any size that no hero has is 404.',
    examples: [1]
  })
})

const query = Type.Object({
  name: Type.Optional(
    Type.String({
      description:
        'Only heroes whose name contains this text, whatever the case. `%`, `_` and `\\` are plain characters.',
      examples: ['star']
    })
  ),
  limit: Type.Optional(
    Type.Integer({
      description: 'At most so many heroes. While there are more, `Link` names the next page.',
      minimum: 1,
      maximum: 1000,
      examples: [100]
    })
  ),
  after: Type.Optional(
    Type.Integer({ description: 'Only heroes with a greater id. `Link` sets it for the next page.', examples: [100] })
  )
})

const starling = { summary: 'A hero', value: { id: 1, name: 'Starling' } }
const bodyExamples = { starling: { summary: 'A name is all that a hero needs', value: { name: 'Starling' } } }

const OF_HERO_BODIES: readonly RefusalName[] = [
  ...OF_JSON,
  'noObject',
  'heroWithoutName',
  'heroWithMore',
  'nameOfOtherType',
  'nameOfOtherLength'
]

export const heroes = ({ protectHeroes, readScope, writeScope }: Setup): Operations => {
  /** How a route is protected, in the document, and which refusals come of that. */
  const protection = (scope: string | undefined): { security: Security; refusals: readonly RefusalName[] } => {
    if (!protectHeroes) return { security: [], refusals: [] }
    const scopes = scope === undefined ? [] : [scope]
    const refusals: RefusalName[] = ['tokenRequired', 'malformedToken', 'invalidToken']
    if (scope !== undefined) refusals.push('insufficientScope')
    return { security: [{ oauth2: scopes }, { bearer: scopes }], refusals }
  }

  const operation = (
    scope: string | undefined,
    { refusals, ...described }: Omit<Operation, 'tag' | 'security'>
  ): Operation => {
    const protectedBy = protection(scope)
    return {
      ...described,
      tag: 'Heroes',
      security: protectedBy.security,
      refusals: [...OF_EVERY_REQUEST, ...protectedBy.refusals, ...refusals, 'failed', 'databaseAway']
    }
  }

  return {
    'GET /heroes': operation(readScope, {
      operationId: 'listHeroes',
      summary: 'List heroes',
      description:
        'Every hero, by ascending id, or those that the query asks for. With `limit`, `Link` leads from page to page: ' +
        'follow it until it is absent. Without `limit` a list of more than 1,000 heroes may have to wait for others. ' +
        'Unknown parameters are ignored.',
      query,
      answers: {
        200: {
          description: 'The heroes. The list is empty when there are none.',
          schema: Type.Array(HeroOutput),
          headers: ['Link'],
          examples: {
            heroes: {
              summary: 'Two heroes',
              value: [
                { id: 1, name: 'Starling' },
                { id: 2, name: 'Night Starling' }
              ]
            },
            none: { summary: 'No hero', value: [] }
          }
        }
      },
      refusals: [
        'queryRepeated',
        'limitNoInteger',
        'limitOutside',
        'afterNoInteger',
        'queryNotEncoded',
        'tooManyParameters',
        'parameterNoUtf8',
        'parameterWithNul',
        'brokenEscape',
        'listTooLate',
        'tooManyLists'
      ]
    }),

    'POST /heroes': operation(writeScope, {
      operationId: 'createHero',
      summary: 'Create a hero',
      description: 'Stores a hero under a new id. An `id` in the body is ignored.',
      bodyExamples,
      answers: { 200: { description: 'The hero with its id.', examples: { starling } } },
      refusals: [...OF_BODIES, ...OF_HERO_BODIES, 'nameTaken', 'tooLate']
    }),

    'GET /heroes/:id': operation(readScope, {
      operationId: 'getHero',
      summary: 'Fetch a hero',
      description: 'The hero with this id.',
      path,
      answers: { 200: { description: 'The hero.', examples: { starling } } },
      refusals: ['noInteger', 'noSuchHero', 'tooLate']
    }),

    'PUT /heroes/:id': operation(writeScope, {
      operationId: 'replaceHero',
      summary: 'Rename a hero',
      description: 'Replaces what is stored of the hero, on the same terms as creating one. The id stays.',
      path,
      bodyExamples: { nightStarling: { summary: 'The new name', value: { name: 'Night Starling' } } },
      answers: {
        200: {
          description: 'The hero as it is stored now.',
          examples: { nightStarling: { summary: 'The renamed hero', value: { id: 1, name: 'Night Starling' } } }
        }
      },
      refusals: [...OF_BODIES, ...OF_HERO_BODIES, 'noInteger', 'noSuchHero', 'nameTaken', 'tooLate']
    }),

    'DELETE /heroes/:id': operation(writeScope, {
      operationId: 'removeHero',
      summary: 'Remove a hero',
      description: 'Removes the hero. Its id is never given out again. A body is read and ignored.',
      path,
      answers: { 204: { description: 'The hero is gone.' } },
      refusals: [...OF_BODIES, ...OF_JSON, 'noInteger', 'noSuchHero', 'tooLate']
    })
  }
}
